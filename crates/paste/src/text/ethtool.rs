// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool X`: the link as negotiated. Also without its heading, and with its indentation lost.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    let titled = first
        .strip_prefix("Settings for ")
        .and_then(|rest| rest.strip_suffix(':'));
    let asked = hint.interface().filter(|_| hint.is("ethtool", ""));
    if titled.is_none() {
        key(first).filter(|(key, _)| STARTS.contains(key) || asked.is_some())?;
    }
    let mut list = false;
    let found = lines.run(usize::from(titled.is_some()), |line| {
        let known = key(line.trim());
        let continues = list && known.is_none() && is_modes(line);
        list = continues || known.is_some_and(|(key, _)| key.ends_with("link modes"));
        continues || known.is_some()
    });
    let values = values(&found);
    // A lone `Speed: …` may be prose.
    (titled.is_some() || values.len() > 1 || asked.is_some()).then_some(())?;
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: "ethtool",
        content: vec![Settings::new("ethtool", titled.or(asked), values)],
    })
}

fn values(found: &[(usize, &str)]) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    for (_, line) in found {
        match (key(line.trim()), values.last_mut()) {
            (Some((key, value)), _) => values.push((key.to_owned(), value.to_owned())),
            (None, Some((_, modes))) => {
                modes.push(' ');
                modes.push_str(line.trim());
            }
            (None, None) => {}
        }
    }
    values
}

/// `Key: value` with a key that ethtool prints.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    KEYS.contains(&key.trim())
        .then(|| (key.trim(), value.trim()))
}

/// `100baseT/Half 100baseT/Full`.
pub(super) fn is_modes(line: &str) -> bool {
    let mode = |word: &str| {
        word.contains("base") && word.starts_with(|first: char| first.is_ascii_digit())
    };
    let mut words = line.split_whitespace().take(12).peekable();
    words.peek().is_some() && words.all(mode)
}

/// Keys at which output without its beginning may start.
const STARTS: &[&str] = &[
    "Supported ports",
    "Supported link modes",
    "Supported pause frame use",
    "Supports auto-negotiation",
    "Advertised link modes",
    "Advertised pause frame use",
    "Advertised auto-negotiation",
    "Link partner advertised link modes",
    "Link partner advertised pause frame use",
    "Speed",
    "Duplex",
    "Auto-negotiation",
];

const KEYS: &[&str] = &[
    "Supported ports",
    "Supported link modes",
    "Supported pause frame use",
    "Supports auto-negotiation",
    "Supported FEC modes",
    "Advertised link modes",
    "Advertised pause frame use",
    "Advertised auto-negotiation",
    "Advertised FEC modes",
    "Link partner advertised link modes",
    "Link partner advertised pause frame use",
    "Link partner advertised auto-negotiation",
    "Link partner advertised FEC modes",
    "Speed",
    "Lanes",
    "Duplex",
    "Port",
    "PHYAD",
    "Transceiver",
    "Auto-negotiation",
    "MDI-X",
    "master-slave cfg",
    "master-slave status",
    "Supports Wake-on",
    "Wake-on",
    "Current message level",
    "Link detected",
    "Link Down Events",
    "SQI",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn with_lost_indentation_and_without_heading() {
        let body = "Supported ports: [ TP MII ]\nSupported link modes: 10baseT/Half 10baseT/Full\n1000baseT/Half 1000baseT/Full\n\
            Supported pause frame use: No\nAdvertised pause frame use: No\nSpeed: 1000Mb/s\nDuplex: Full\nAuto-negotiation: on\nLink detected: yes\nprose\n";
        for (text, interface) in [
            (format!("Settings for eth0:\n{body}"), Some("eth0")),
            (body.to_owned(), None),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            let looked = Cell::new(0);
            let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
            assert_eq!(block.lines, lines.len() - 1);
            let Content::Settings(settings) = &block.content[0] else {
                panic!()
            };
            assert_eq!(settings.interface.as_deref(), interface);
            let get = |name: &str| {
                settings
                    .values
                    .iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value.as_str())
            };
            assert_eq!(
                get("Supported link modes"),
                Some("10baseT/Half 10baseT/Full 1000baseT/Half 1000baseT/Full")
            );
            assert_eq!(
                (get("Speed"), get("Advertised pause frame use")),
                (Some("1000Mb/s"), Some("No"))
            );
        }
    }
}
