// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of /proc or /sys that was shown by name and whose text says nothing by itself: `cat /proc/sys/net/ipv4/tcp_mem`.

use super::boot;
use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let file = hint.file()?;
    let line = lines.get(0)?.trim();
    let (source, interface, name) = setting(file)?;
    let fits = match source {
        "/proc/cmdline" => boot::is_words(line),
        "sysctl" => super::sysctl::is_value(line),
        _ => line.len() <= 64 && !line.contains(' '),
    };
    let value = line.split_whitespace().collect::<Vec<_>>().join(" ");
    fits.then(|| Block {
        lines: 1,
        format: source,
        content: vec![Settings::new(source, interface, vec![(name, value)])],
    })
}

/// Source, interface and name of what a file tells.
fn setting(file: &str) -> Option<(&'static str, Option<&str>, String)> {
    if file == "/proc/cmdline" {
        return Some(("/proc/cmdline", None, "cmdline".to_owned()));
    }
    if let Some(name) = file.strip_prefix("/proc/sys/") {
        return (!name.is_empty() && !name.contains('*'))
            .then(|| ("sysctl", None, name.replace('/', ".")));
    }
    let net = file.strip_prefix("/sys/class/net/")?;
    let (interface, name) = net.split_once('/')?;
    if name == "mtu" || name == "tx_queue_len" {
        let name = if name == "mtu" { "mtu" } else { "txqueuelen" };
        return Some(("ip link", Some(interface), name.to_owned()));
    }
    if let Some(name) = name.strip_prefix("device/") {
        return Some(("/sys/class/net/device", Some(interface), name.to_owned()));
    }
    let queue = name.strip_prefix("queues/")?.replace('/', ".");
    Some(("/sys/class/net/queues", Some(interface), queue))
}
