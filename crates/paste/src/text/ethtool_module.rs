// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -m`: the contents of a module's EEPROM, and its light, one value per line (SFF-8472, SFF-8636, CMIS).

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let (name, _) = pair(lines.get(0)?)?;
    let asked = || hint.is("ethtool", "-m") || hint.is("ethtool", "--module-info");
    if !(BEGINS.contains(&name) || asked()) {
        return None;
    }
    let found = lines.run(0, |line| pair(line).is_some());
    let pairs = found.iter().filter_map(|(_, line)| pair(line));
    let values = pairs.map(|(name, value)| (name.to_owned(), in_decibels(value).to_owned()));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ethtool -m",
        content: vec![Settings::new(
            "ethtool -m",
            hint.interface(),
            values.collect(),
        )],
    })
}

/// `  Vendor name   : FINISAR CORP.`: the colon has a space before it, other tables of `ethtool` have none.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(" : ")?;
    let (name, value) = (name.trim(), value.trim());
    let is_short = !name.is_empty() && name.len() <= 48 && value.len() <= 120;
    is_short.then_some((name, value))
}

/// Of `0.5470 mW / -2.62 dBm` the second: limits are given in dBm.
fn in_decibels(value: &str) -> &str {
    let second = value.split_once(" / ").map(|(_, second)| second);
    second
        .filter(|second| second.ends_with("dBm"))
        .unwrap_or(value)
}

/// Where an excerpt may begin without its command.
const BEGINS: &[&str] = &[
    "Identifier",
    "Extended identifier",
    "Connector",
    "Transceiver type",
    "Vendor name",
    "Laser bias current",
    "Laser output power",
    "Receiver signal average optical power",
    "Module temperature",
    "Module voltage",
    "Laser rx power high alarm",
    "Laser rx power low alarm",
    "Laser rx power low warning",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn settings(text: &str, command: Option<&str>) -> Option<Settings> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        match block.content.into_iter().next() {
            Some(Content::Settings(settings)) => Some(settings),
            _ => panic!("no settings"),
        }
    }

    #[test]
    fn light_is_in_decibels() {
        let text = "\tIdentifier                                : 0x03 (SFP)\n\
            \tReceiver signal average optical power     : 0.0004 mW / -33.98 dBm\n\
            \tLaser rx power low alarm                  : On\n";
        let Settings {
            interface, values, ..
        } = settings(text, Some("ethtool -m enp1s0f0")).unwrap();
        assert_eq!(interface.as_deref(), Some("enp1s0f0"));
        assert_eq!(values[1].1, "-33.98 dBm");
        assert_eq!(
            values[2],
            ("Laser rx power low alarm".to_owned(), "On".to_owned())
        );
    }

    #[test]
    fn other_tables_are_not_its_own() {
        assert_eq!(
            settings("\tSpeed: 1000Mb/s\n", Some("ethtool -m eth0")),
            None
        );
        assert_eq!(settings("model name : Some processor\n", None), None);
    }
}
