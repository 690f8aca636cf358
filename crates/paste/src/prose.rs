// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver and the chip that sentences name.

use crate::text::{Content, Settings};

/// The driver of `with the e100 driver`, `the standard eepro100 ethernet driver`: the first in a paragraph.
pub(super) fn driver(paragraph: &str) -> Option<Content> {
    let words: Vec<&str> = paragraph
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| "\"',.()".contains(letter)))
        .collect();
    let used = |at: usize| {
        let before = &words[at.saturating_sub(4)..at];
        let kind = words.get(at + 1).is_some_and(|word| *word == "driver")
            || (words.get(at + 1) == Some(&"ethernet") && words.get(at + 2) == Some(&"driver"));
        kind && before
            .iter()
            .any(|word| ["with", "using", "standard", "stock", "loaded"].contains(word))
    };
    // A heading: `eepro100 driver`.
    let heading = words.len() == 2 && words[1] == "driver";
    let used = |at: usize| heading || used(at);
    let at = (0..words.len()).find(|at| DRIVERS.contains(&words[*at]) && used(*at))?;
    Some(Content::Settings(Settings {
        source: "ethtool -i".to_owned(),
        interface: None,
        values: vec![("driver".to_owned(), words[at].to_owned())],
    }))
}

/// The chip of `a board with an i.MX6Quad`: the first known one in a paragraph.
pub(super) fn machine(paragraph: &str) -> Option<Settings> {
    let mut words = paragraph.split_whitespace();
    let name = words.find_map(|word| {
        let word = word.trim_matches(|letter: char| "\"',.():".contains(letter));
        let lower = word.to_ascii_lowercase();
        let known = CHIPS.iter().any(|chip| lower.starts_with(chip));
        (known && lower.len() < 20).then_some(word)
    })?;
    Some(Settings {
        source: "machine".to_owned(),
        interface: None,
        values: vec![("soc_id".to_owned(), name.to_owned())],
    })
}

/// Chips by the beginning of their names.
const CHIPS: &[&str] = &["i.mx6", "imx6", "ls1088"];

/// Whether a heading announces a summary of earlier text.
pub(super) fn is_summary(title: &str) -> bool {
    let lower = title.to_lowercase();
    ["summary", "recap", "conclusion", "tl;dr", "zusammenfassung"]
        .iter()
        .any(|word| lower.starts_with(word))
}

const DRIVERS: &[&str] = &[
    "eepro100",
    "e100",
    "e1000",
    "e1000e",
    "igb",
    "igc",
    "ixgbe",
    "i40e",
    "ice",
    "fec",
    "stmmac",
    "r8169",
    "r8168",
    "8139too",
    "tg3",
    "bnx2",
    "bnxt_en",
    "sky2",
    "skge",
    "mlx4_en",
    "mlx5_core",
    "virtio_net",
    "macb",
    "mvneta",
    "mvpp2",
    "bcmgenet",
    "lan78xx",
    "smsc95xx",
    "r8152",
    "ax88179_178a",
    "atlantic",
    "forcedeth",
    "via-rhine",
    "gianfar",
    "dpaa2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_driver_that_was_used() {
        let named = |text: &str| match driver(text) {
            Some(Content::Settings(settings)) => Some(settings.values[0].1.clone()),
            _ => None,
        };
        assert_eq!(
            named("a stock kernel was built, with the standard eepro100 ethernet driver."),
            Some("eepro100".to_owned())
        );
        assert_eq!(
            named("with the e100 driver in place"),
            Some("e100".to_owned())
        );
        assert_eq!(
            named("intel has contributed a driver, \"e100\", to it"),
            None
        );
    }
}
