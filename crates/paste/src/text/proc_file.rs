// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of /proc or /sys whose content needs its name to be understood: `cat /proc/sys/net/ipv4/tcp_mem`,
//! and several of them with their names: `grep . /sys/class/net/*/carrier_changes`.

use super::boot;
use super::{Block, Content, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    named(lines).or_else(|| shown(lines, hint))
}

/// `/sys/class/net/eth0/carrier_changes:12`.
fn named(lines: Lines<'_>) -> Option<Block> {
    let content = |line: &str| {
        let (path, value) = line.trim().split_once(':')?;
        (path.starts_with("/sys/") || path.starts_with("/proc/irq/")).then_some(())?;
        of_file(path, value)
    };
    content(lines.get(0)?)?;
    let found = lines.run(0, |line| content(line).is_some());
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "files of the kernel",
        content: found.iter().filter_map(|(_, line)| content(line)).collect(),
    })
}

/// The output of `cat` for one file.
fn shown(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    Some(Block {
        lines: 1,
        format: "file of the kernel",
        content: vec![of_file(hint.file()?, lines.get(0)?)?],
    })
}

/// The setting in a file, if the text is plausible.
fn of_file(path: &str, text: &str) -> Option<Content> {
    let line = text.trim();
    if let Some(interface) = interface_of(path, "/carrier_changes") {
        let count = vec![("carrier_changes".to_owned(), line.parse().ok()?)];
        return Some(Counters::new("rtnl_link_stats64", Some(interface), count));
    }
    let (source, interface, name) = setting(path)?;
    let fits = match source.as_str() {
        "/proc/cmdline" => boot::is_words(line),
        "sysctl" => super::sysctl::is_value(line),
        // Names of a board, each followed by a NUL.
        "machine" => line.len() <= 300,
        _ => line.len() <= 64 && !line.contains(' '),
    };
    let words = line.split(|letter: char| letter.is_whitespace() || letter == '\0');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let value = words.join(" ");
    (fits && !line.is_empty()).then(|| Settings::new(&source, interface, vec![(name, value)]))
}

/// Source, interface and name of a file's setting.
fn setting(file: &str) -> Option<(String, Option<&str>, String)> {
    let of_host = |source: &str, name: &str| Some((source.to_owned(), None, name.to_owned()));
    match file {
        "/proc/cmdline" => return of_host("/proc/cmdline", "cmdline"),
        "/proc/device-tree/compatible" => return of_host("machine", "compatible"),
        "/sys/devices/soc0/soc_id" => return of_host("machine", "soc_id"),
        _ => {}
    }
    if let Some(name) = file.strip_prefix("/proc/sys/") {
        return (!name.is_empty() && !name.contains('*'))
            .then(|| ("sysctl".to_owned(), None, name.replace('/', ".")));
    }
    let (folder, name) = file.rsplit_once('/')?;
    let numbered = !folder.contains('*') && file.bytes().any(|byte| byte.is_ascii_digit());
    let of_cpu = folder.starts_with("/sys/devices/system/cpu/cpu")
        && (folder.ends_with("/cpufreq") || folder.contains("/cpuidle/state"));
    if numbered && (of_cpu || folder.starts_with("/proc/irq/")) {
        return of_host(folder, name);
    }
    of_interface(file)
}

fn of_interface(file: &str) -> Option<(String, Option<&str>, String)> {
    let net = file.strip_prefix("/sys/class/net/")?;
    let (interface, name) = net.split_once('/')?;
    let interface = Some(interface).filter(|name| !name.contains('*'));
    let known = |source: &str, name: String| Some((source.to_owned(), interface, name));
    match name {
        "mtu" => return known("ip link", "mtu".to_owned()),
        "tx_queue_len" => return known("ip link", "txqueuelen".to_owned()),
        _ => {}
    }
    if let Some(name) = name.strip_prefix("device/") {
        return known("/sys/class/net/device", name.replace('/', "_"));
    }
    let queue = name.strip_prefix("queues/")?.replace('/', ".");
    known("/sys/class/net/queues", queue)
}

fn interface_of<'a>(path: &'a str, file: &str) -> Option<&'a str> {
    let interface = path.strip_prefix("/sys/class/net/")?.strip_suffix(file)?;
    (!interface.contains(['/', '*'])).then_some(interface)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn known(
        line: &str,
        command: Option<&str>,
    ) -> Option<(String, Option<String>, String, String)> {
        let lines = [line];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        match block.content.into_iter().next()? {
            Content::Settings(Settings {
                source,
                interface,
                mut values,
            }) => {
                let (name, value) = values.remove(0);
                Some((source, interface, name, value))
            }
            Content::Counters(Counters {
                source,
                interface,
                mut values,
            }) => {
                let (name, value) = values.remove(0);
                Some((source, interface, name, value.to_string()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_with_their_names_and_without() {
        for (path, source, interface, name, value) in [
            (
                "/sys/class/net/eth0/device/iommu_group/type",
                "/sys/class/net/device",
                Some("eth0"),
                "iommu_group_type",
                "DMA-FQ",
            ),
            (
                "/sys/class/net/eth0/carrier_changes",
                "rtnl_link_stats64",
                Some("eth0"),
                "carrier_changes",
                "12",
            ),
            (
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "/sys/devices/system/cpu/cpu0/cpufreq",
                None,
                "scaling_governor",
                "powersave",
            ),
            (
                "/sys/devices/system/cpu/cpu0/cpuidle/state2/latency",
                "/sys/devices/system/cpu/cpu0/cpuidle/state2",
                None,
                "latency",
                "300",
            ),
            (
                "/proc/irq/40/smp_affinity_list",
                "/proc/irq/40",
                None,
                "smp_affinity_list",
                "2",
            ),
        ] {
            let expected = Some((
                source.to_owned(),
                interface.map(str::to_owned),
                name.to_owned(),
                value.to_owned(),
            ));
            assert_eq!(known(&format!("{path}:{value}"), None), expected, "{path}");
            assert_eq!(
                known(value, Some(&format!("cat {path}"))),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn what_no_reader_asks_for() {
        assert_eq!(known("/sys/kernel/mm/ksm/run:0", None), None);
        assert_eq!(
            known(
                "a sentence of several words",
                Some("cat /sys/class/net/eth0/mtu")
            ),
            None
        );
        assert_eq!(
            known("many", Some("cat /sys/class/net/eth0/carrier_changes")),
            None
        );
    }
}
