// SPDX-License-Identifier: MIT OR Apache-2.0
use linerate_model::output::{Output, Role};
use linerate_model::setting::Setting;

use super::{Block, blocks};

fn setting(source: &str, interface: Option<&str>, values: &[(&str, &str)]) -> Setting {
    let values = values.iter();
    Setting {
        host: Role::Local,
        source: source.to_owned(),
        interface: interface.map(str::to_owned),
        values: values
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

fn lines(settings: Vec<Setting>) -> Vec<String> {
    let mut output = Output::new("inspect", "0");
    output.settings = settings;
    let lines = |block| match block {
        Block::Lines { lines, .. } => lines,
        _ => Vec::new(),
    };
    let all = blocks(&output).into_iter().flat_map(lines);
    all.map(|line| line.text).collect()
}

#[test]
fn the_kernel_log_has_one_line_for_each_in_its_order() {
    let log = [("line1", "one"), ("line10", "ten"), ("line2", "two ")];
    let shown = lines(vec![setting("dmesg", None, &log)]);
    let at = shown.iter().position(|line| line == "kernel log   one");
    let at = at.unwrap_or_else(|| panic!("{shown:?}"));
    assert_eq!(
        shown[at + 1..at + 3],
        ["             two", "             ten"]
    );
}

#[test]
fn a_link_that_sysfs_cannot_read_is_unknown() {
    let emulated = [("current_link_speed", "Unknown"), ("max_link_width", "255")];
    let shown = lines(vec![setting(
        "/sys/class/net/device",
        Some("eth0"),
        &emulated,
    )]);
    assert!(!shown.iter().any(|line| line.starts_with("PCI link")));
    assert!(shown.iter().any(|line| line.contains("PCI link: ")));
    let real = [
        ("current_link_speed", "2.5 GT/s PCIe"),
        ("current_link_width", "1"),
    ];
    let shown = lines(vec![setting("/sys/class/net/device", Some("eth0"), &real)]);
    let wanted = "PCI link     current_link_speed 2.5 GT/s PCIe, current_link_width 1";
    assert!(shown.iter().any(|line| line == wanted), "{shown:?}");
}
