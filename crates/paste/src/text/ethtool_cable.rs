// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool --cable-test`: the state of each pair of a copper cable.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    let named = device(first);
    if named.is_none() {
        pair(first)?;
    }
    let belongs = |line: &str| device(line.trim()).is_some() || pair(line.trim()).is_some();
    let found = lines.run(0, belongs);
    let values = found.iter().filter_map(|(_, line)| pair(line.trim()));
    let values: Vec<(String, String)> = values.collect();
    Some(Block {
        lines: found.last()?.0 + 1,
        format: SOURCE,
        content: vec![Settings::new(SOURCE, named.or(hint.interface()), values)],
    })
}

/// `Cable test started for device eth0.`
fn device(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Cable test ")?;
    let (state, name) = rest.split_once(" for device ")?;
    ["started", "completed"]
        .contains(&state)
        .then_some(name.trim_end_matches('.'))
}

/// `Pair A code OK`, `Pair B, fault length: 4.20m`.
fn pair(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("Pair ")?;
    let letter = rest
        .chars()
        .next()
        .filter(|letter| ('A'..='D').contains(letter))?;
    let value = |rest: &str| {
        Some(rest.trim().to_owned()).filter(|text| text.len() < 60 && !text.is_empty())
    };
    let rest = &rest[1..];
    match rest.strip_prefix(" code ") {
        Some(code) => Some((format!("Pair {letter} code"), value(code)?)),
        None => {
            let length = rest.strip_prefix(", fault length: ")?;
            Some((format!("Pair {letter}, fault length"), value(length)?))
        }
    }
}

const SOURCE: &str = "ethtool --cable-test";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn pairs_of_a_device() {
        let lines = [
            "Cable test started for device eth0.",
            "Cable test completed for device eth0.",
            "Pair A code OK",
            "Pair B code Open Circuit",
            "Pair B, fault length: 4.20m",
            "Pair programming is fun",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        let [Content::Settings(settings)] = block.content.as_slice() else {
            panic!()
        };
        assert_eq!(
            (block.lines, settings.interface.as_deref()),
            (5, Some("eth0"))
        );
        let last = ("Pair B, fault length".to_owned(), "4.20m".to_owned());
        assert_eq!(settings.values[2], last);
        assert_eq!(
            read(Lines::new(&lines[5..], &looked), Hint::default()),
            None
        );
    }
}
