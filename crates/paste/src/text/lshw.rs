// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lshw -C network`: driver and link, by ethtool's names.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    (first.starts_with("*-network")).then_some(())?;
    let found = lines.run(1, |line| {
        !line.trim().starts_with("*-") && line.contains(": ")
    });
    let value = |name: &str| {
        found.iter().find_map(|(_, line)| {
            line.trim()
                .strip_prefix(name)?
                .strip_prefix(':')
                .map(str::trim)
        })
    };
    let interface = value("logical name");
    let words: Vec<(&str, &str)> = value("configuration")
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.split_once('='))
        .collect();
    let word = |name: &str| {
        words
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    };
    let named = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
    let link = [
        named("Speed", word("speed").and_then(speed)),
        named("Duplex", word("duplex").map(capital)),
        named(
            "Auto-negotiation",
            word("autonegotiation").map(str::to_owned),
        ),
        named("Link detected", word("link").map(str::to_owned)),
    ];
    let driver = [
        named("driver", word("driver").map(str::to_owned)),
        named("version", word("driverversion").map(str::to_owned)),
        named("firmware-version", word("firmware").map(str::to_owned)),
    ];
    let both = [("ethtool", link.to_vec()), ("ethtool -i", driver.to_vec())];
    let content = both
        .into_iter()
        .map(|(source, values)| (source, values.into_iter().flatten().collect::<Vec<_>>()));
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: "lshw -C network",
        content: content
            .filter(|(_, values)| !values.is_empty())
            .map(|(source, values)| Settings::new(source, interface, values))
            .collect(),
    })
}

/// `1Gbit/s` as ethtool writes it: `1000Mb/s`.
fn speed(word: &str) -> Option<String> {
    let (number, unit) = super::number::with_unit(word)?;
    let bits = super::bits_per_second(number, unit)?;
    Some(format!("{:.0}Mb/s", bits / 1e6))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    #[test]
    fn by_the_names_of_ethtool() {
        let text = "  *-network\n       description: Ethernet interface\n       logical name: eth0\n       configuration: autonegotiation=on broadcast=yes driver=igb driverversion=5.4 duplex=full link=yes speed=1Gbit/s\n";
        let block = block_of(text, read).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let link = vec![
            pair("Speed", "1000Mb/s"),
            pair("Duplex", "Full"),
            pair("Auto-negotiation", "on"),
            pair("Link detected", "yes"),
        ];
        assert_eq!(
            block.content[0],
            Settings::new("ethtool", Some("eth0"), link)
        );
    }
}
