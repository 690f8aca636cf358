// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iwconfig`: names and values in several columns: `Link Quality=26/70  Signal level=-84 dBm`.

use super::lines::is_interface;
use super::number::decimal;
use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let titled = title(first);
    (titled.is_some() || is_quality(first)).then_some(())?;
    let found = lines.run(1, |line| title(line).is_none() && !values(line).is_empty());
    let mut all = values(first);
    all.extend(found.iter().flat_map(|(_, line)| values(line)));
    let ratio = all.iter().find_map(|(name, value)| {
        let (part, whole) = value.split_once('/').filter(|_| name == "Link Quality")?;
        Some(decimal(part)? / decimal(whole).filter(|whole| *whole > 0.0)?)
    });
    all.extend(ratio.map(|ratio| ("Link Quality ratio".to_owned(), format!("{ratio:.2}"))));
    // `60/100` is a share of an unknown maximum.
    all.retain(|(name, value)| name != "Signal level" || !value.contains('/'));
    let asked = hint.is("iwconfig", "").then(|| hint.interface()).flatten();
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: "iwconfig",
        content: vec![Settings::new("iwconfig", titled.or(asked), all)],
    })
}

/// `wlan0     IEEE 802.11  ESSID:"home"`, `eth0      no wireless extensions.`
fn title(line: &str) -> Option<&str> {
    let name = line
        .split_whitespace()
        .next()
        .filter(|_| line.len() < 200)?;
    let has = |mark: &str| line.contains(mark);
    let radio = has(" IEEE 802.11") && (has("ESSID:") || has("Mode:"));
    let none = line.trim_end().ends_with("no wireless extensions.");
    ((radio || none) && (is_interface(name) || line.starts_with(name))).then_some(name)
}

fn is_quality(line: &str) -> bool {
    line.contains("Link Quality") && line.contains("Signal level") && !values(line).is_empty()
}

/// The known names of a line with their values, each up to the next name.
fn values(line: &str) -> Vec<(String, String)> {
    if line.len() > 300 || !line.contains([':', '=']) {
        return Vec::new();
    }
    let at = |name: &&'static str| {
        let (before, rest) = line.split_once(*name)?;
        let rest = rest.strip_prefix([':', '='])?;
        before
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
            .then_some((before.len(), *name, rest))
    };
    let found: Vec<(usize, &str, &str)> = NAMES.iter().filter_map(at).collect();
    let value = |(begin, name, rest): &(usize, &'static str, &str)| {
        let start = line.len() - rest.len();
        let next = found
            .iter()
            .map(|other| other.0)
            .filter(|other| other > begin)
            .min();
        let rest = line
            .get(start..next.unwrap_or(line.len()).max(start))
            .unwrap_or_default();
        let value = rest
            .split("  ")
            .find(|part| !part.trim().is_empty())
            .unwrap_or_default();
        ((*name).to_owned(), value.trim().to_owned())
    };
    found.iter().map(value).collect()
}

/// wireless-tools `iwconfig.c`.
const NAMES: [&str; 25] = [
    "ESSID",
    "Mode",
    "Frequency",
    "Access Point",
    "Bit Rate",
    "Tx-Power",
    "Sensitivity",
    "Retry short limit",
    "Retry  long limit",
    "Retry long limit",
    "Retry limit",
    "Retry",
    "RTS thr",
    "Fragment thr",
    "Encryption key",
    "Security mode",
    "Power Management",
    "Link Quality",
    "Signal level",
    "Noise level",
    "Rx invalid nwid",
    "Rx invalid crypt",
    "Tx excessive retries",
    "Invalid misc",
    "Missed beacon",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn of(text: &str) -> Option<(usize, Settings)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => Some((block.lines, settings)),
            _ => None,
        }
    }

    fn check(read: &Settings, values: &[(&str, &str)]) {
        for (name, value) in values {
            let found = read.values.iter().find(|(known, _)| known == name);
            assert_eq!(
                found.map(|(_, value)| value.as_str()),
                Some(*value),
                "{name}"
            );
        }
    }

    #[test]
    fn a_card_with_its_counts() {
        let text = "wlan0     IEEE 802.11  ESSID:\"home\"\n          Mode:Managed  Frequency:2.437 GHz  Access Point: 02:00:00:AA:BB:CC\n          Bit Rate=6.5 Mb/s   Tx-Power=20 dBm\n          Retry short limit:7   RTS thr:off   Fragment thr:off\n          Power Management:on\n          Link Quality=26/70  Signal level=-84 dBm\n          Rx invalid nwid:0  Rx invalid crypt:0  Rx invalid frag:0\n          Tx excessive retries:311  Invalid misc:99   Missed beacon:12\n\neth0      no wireless extensions.\n";
        let (lines, read) = of(text).unwrap();
        assert_eq!((lines, read.interface.as_deref()), (8, Some("wlan0")));
        check(
            &read,
            &[
                ("Bit Rate", "6.5 Mb/s"),
                ("Access Point", "02:00:00:AA:BB:CC"),
                ("Power Management", "on"),
                ("Link Quality ratio", "0.37"),
                ("Signal level", "-84 dBm"),
                ("Tx excessive retries", "311"),
                ("Missed beacon", "12"),
            ],
        );
        assert_eq!(
            of("eth0      no wireless extensions.\n").map(|(lines, _)| lines),
            Some(1)
        );
    }

    #[test]
    fn a_line_alone_whose_blanks_were_lost() {
        let (_, read) = of("Link Quality=60/100 Signal level=50/100 Noise level=0/100\n").unwrap();
        check(
            &read,
            &[("Link Quality ratio", "0.60"), ("Noise level", "0/100")],
        );
        assert!(!read.values.iter().any(|(name, _)| name == "Signal level"));
        for text in [
            "The Link Quality and Signal level are bad: why?\n",
            "it has IEEE 802.11 Mode\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
