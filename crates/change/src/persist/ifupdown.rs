// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ifup(8) sets when it brings an interface up, after udev: interfaces(5), and the options that ethtool's scripts in
//! `/etc/network` read.

use std::path::Path;

use super::surroundings::{Config, folder_of, is_there, text};
use crate::parse::{Wanted, parse};

/// Its files, where it is installed.
pub(super) fn read(root: &Path) -> Vec<Config> {
    let is_installed = ["/sbin/ifup", "/usr/sbin/ifup"]
        .iter()
        .any(|path| is_there(root, path));
    let Some(text) = is_installed.then(|| text(root, INTERFACES)).flatten() else {
        return Vec::new();
    };
    let mut all = match text
        .lines()
        .any(|line| line.trim_start().starts_with("source"))
    {
        true => folder_of(root, FURTHER, ""),
        false => Vec::new(),
    };
    let path = INTERFACES.to_owned();
    all.insert(0, Config { path, text });
    all
}

/// A line that sets something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) path: &'a str,
    /// As it is in the file.
    pub(super) text: String,
    pub(super) wanted: Wanted,
}

/// All that these files set, in their order.
pub(super) fn lines(files: &[Config]) -> Vec<Line<'_>> {
    files.iter().flat_map(of_file).collect()
}

fn of_file(file: &Config) -> Vec<Line<'_>> {
    let joined = file.text.replace("\\\n", " ");
    let (mut interface, mut all) = (None, Vec::new());
    for line in joined.lines().map(str::trim) {
        let (key, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim();
        if is_stanza(key) {
            let name = rest.split_whitespace().next();
            interface = name.filter(|_| key == "iface").map(str::to_owned);
            continue;
        }
        let set = interface
            .as_deref()
            .map(|name| set(name, key, rest))
            .unwrap_or_default();
        all.extend(set.into_iter().map(|wanted| Line {
            path: &file.path,
            text: line.to_owned(),
            wanted,
        }));
    }
    all
}

fn is_stanza(key: &str) -> bool {
    STANZAS.contains(&key) || key.starts_with("allow-")
}

/// By an option of the interface, or by a command that is run when it comes up.
fn set(interface: &str, key: &str, rest: &str) -> Vec<Wanted> {
    let option = OPTIONS.iter().find_map(|(prefix, option)| {
        let word = key.strip_prefix(prefix)?;
        Some(format!("ethtool {option} {interface} {word} {rest}"))
    });
    if let Some(command) = option {
        return parse(&command).unwrap_or_default();
    }
    match key {
        "mtu" => parse(&format!("ip link set dev {interface} mtu {rest}")).unwrap_or_default(),
        "pre-up" | "up" | "post-up" => commands(interface, rest),
        _ => Vec::new(),
    }
}

fn commands(interface: &str, text: &str) -> Vec<Wanted> {
    let named = ["${IFACE}", "\"$IFACE\"", "$IFACE"];
    let text = named
        .iter()
        .fold(text.to_owned(), |text, name| text.replace(name, interface));
    let each = text.split([';', '&', '|']).map(str::trim);
    let each = each.filter_map(|command| {
        let (program, words) = command.split_once(' ')?;
        let program = program.rsplit('/').next()?;
        // `-q` of sysctl(8) only says less.
        let words = words.trim_start().trim_start_matches("-q ");
        parse(&format!("{program} {words}"))
    });
    each.flatten().collect()
}

const INTERFACES: &str = "/etc/network/interfaces";
const FURTHER: &str = "/etc/network/interfaces.d";
const STANZAS: [&str; 8] = [
    "iface",
    "auto",
    "mapping",
    "no-auto-down",
    "no-scripts",
    "rename",
    "source",
    "source-directory",
];
const OPTIONS: [(&str, &str); 4] = [
    ("ethernet-pause-", "-A"),
    ("hardware-irq-coalesce-", "-C"),
    ("hardware-dma-ring-", "-G"),
    ("offload-", "-K"),
];
