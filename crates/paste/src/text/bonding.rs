// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/bonding/*`: how a bond shares its links.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    (first.starts_with("Ethernet Channel Bonding Driver") || first.starts_with("Bonding Mode:"))
        .then_some(())?;
    let found = lines.run(0, |line| {
        (line.contains(':') || line.trim() == "802.3ad info") && line.len() < 160
    });
    let mut slave = String::new();
    let mut values = Vec::new();
    for (_, line) in &found {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if name == "Slave Interface" {
            slave = format!("{value}.");
        }
        values.push((format!("{slave}{name}"), value.to_owned()));
    }
    let interface = hint
        .file()
        .and_then(|file| file.strip_prefix("/proc/net/bonding/"));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "/proc/net/bonding",
        content: vec![Settings::new("/proc/net/bonding", interface, values)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    #[test]
    fn mode_and_slaves() {
        let text = "Ethernet Channel Bonding Driver: v3.7.1\n\nBonding Mode: load balancing (round-robin)\nMII Status: up\n\nSlave Interface: eth1\nSpeed: 1000 Mbps\nLink Failure Count: 3\n";
        let block = block_of(text, read).unwrap();
        let Content::Settings(settings) = &block.content[0] else {
            panic!()
        };
        for (name, value) in [
            ("Bonding Mode", "load balancing (round-robin)"),
            ("eth1.Link Failure Count", "3"),
        ] {
            assert!(
                settings
                    .values
                    .contains(&(name.to_owned(), value.to_owned())),
                "{name}"
            );
        }
    }
}
