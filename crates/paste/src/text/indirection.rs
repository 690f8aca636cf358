// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -x IFACE`: over which queues the receive hash spreads, and which hash it is:
//! `RX flow hash indirection table for eth0 with 8 RX ring(s):`, then rows `    8:      0     1     2     3`.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let (interface, queues) = title(lines.get(0)?)?;
    let found = lines.run(1, |line| belongs(line.trim()));
    let rows = found.iter().filter_map(|(_, line)| row(line.trim()));
    let table: Vec<u32> = rows.flatten().collect();
    let functions = found.iter().filter_map(|(_, line)| switch(line.trim()));
    let on: Vec<&str> = functions
        .filter_map(|(name, is_on)| is_on.then_some(name))
        .collect();
    let mut values = spread(&table, queues);
    values.insert(0, pair("queues", queues.to_string()));
    values.extend((!on.is_empty()).then(|| pair("hash function", on.join(" "))));
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: SOURCE,
        content: vec![Settings::new(SOURCE, Some(interface), values)],
    })
}

/// Interface and number of queues.
fn title(line: &str) -> Option<(&str, usize)> {
    let rest = line
        .trim()
        .strip_prefix("RX flow hash indirection table for ")?;
    let (interface, rings) = rest.split_once(" with ")?;
    let (count, _) = rings.split_once(" RX ring")?;
    Some((interface.split_whitespace().next()?, count.parse().ok()?))
}

/// The queues in the table, and how many are not in it, unless it seems to be cut.
fn spread(table: &[u32], queues: usize) -> Vec<(String, String)> {
    let used: BTreeSet<&u32> = table.iter().gather();
    if table.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = used.iter().map(ToString::to_string).collect();
    let mut values = vec![
        pair("indirection.size", table.len().to_string()),
        pair("indirection.queues", names.join(" ")),
    ];
    let unused = queues.saturating_sub(used.len()).to_string();
    values.extend((table.len() >= 2 * queues).then(|| pair("indirection.unused", unused)));
    values
}

fn belongs(line: &str) -> bool {
    LABELS.contains(&line) || row(line).is_some() || switch(line).is_some() || is_key(line)
}

/// `8: 0 1 2 3`.
fn row(line: &str) -> Option<Vec<u32>> {
    let (first, queues) = line.split_once(':').filter(|_| line.len() < 200)?;
    first.parse::<u32>().ok()?;
    let queues: Option<Vec<u32>> = queues
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    queues.filter(|queues| !queues.is_empty())
}

/// `toeplitz: on`.
fn switch(line: &str) -> Option<(&str, bool)> {
    let (name, value) = line.split_once(": ")?;
    let is_on = value == "on";
    let plain = name.len() < 24 && !name.contains(' ');
    (plain && (is_on || value == "off")).then_some((name, is_on))
}

/// `6d:5a:56:da:…`.
fn is_key(line: &str) -> bool {
    let byte = |word: &str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
    (20..1000).contains(&line.len()) && line.split(':').all(byte)
}

fn pair(name: &str, value: String) -> (String, String) {
    (name.to_owned(), value)
}

const SOURCE: &str = "ethtool -x";
const LABELS: &[&str] = &[
    "RSS hash key:",
    "RSS hash function:",
    "RSS input transformation:",
    "Operation not supported",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn settings(text: &str) -> Option<(usize, Settings)> {
        let block = block_of(text, read)?;
        match block.content.into_iter().next() {
            Some(Content::Settings(settings)) => Some((block.lines, settings)),
            other => panic!("{other:?}"),
        }
    }

    const TITLE: &str = "RX flow hash indirection table for eth0 with 4 RX ring(s):\n";

    #[test]
    fn a_table_of_few_queues() {
        let text = format!(
            "{TITLE}    0:      0     1     0     1\n    4:      0     1     0     1\nRSS hash key:\n6d:5a:56:da:25:5b:0e:c2:41:67\nRSS hash function:\n    toeplitz: on\n    xor: off\n"
        );
        let (lines, settings) = settings(&text).unwrap();
        assert_eq!((lines, settings.interface.as_deref()), (8, Some("eth0")));
        let expected = [
            ("queues", "4"),
            ("indirection.size", "8"),
            ("indirection.queues", "0 1"),
            ("indirection.unused", "2"),
            ("hash function", "toeplitz"),
        ];
        assert_eq!(
            settings.values,
            expected.map(|(name, value)| pair(name, value.to_owned()))
        );
    }

    #[test]
    fn of_a_cut_table_nothing_is_unused() {
        let (lines, cut) = settings(&format!("{TITLE}    0:      0     1     0     1\n")).unwrap();
        assert_eq!((lines, cut.values.len()), (2, 3));
        assert_eq!(
            settings("The RX flow hash indirection table for eth0 is odd\n"),
            None
        );
    }
}
