// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -a -c -g -i -k -l --show-eee`: a title and names with values.

use super::ethtool::is_modes;
use super::ethtool_features;
use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    let (section, interface, from) = match titled(first) {
        Some((section, interface)) => (section, Some(interface), 1),
        None => (untitled(first, hint)?, hint.interface(), 0),
    };
    let found = lines.run(from, |line| belongs(section, line.trim()));
    let mut content = Vec::new();
    let values = settings(section, &found);
    if section.source == "ethtool -a" {
        let paused = pause_counts(&found);
        content.extend(
            (!paused.is_empty()).then(|| Counters::new("ethtool -I -a", interface, paused)),
        );
    }
    if from == 0 && values.is_empty() {
        return Block::says_nothing(&found, section.source);
    }
    content.insert(0, Settings::new(section.source, interface, values));
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: section.source,
        content,
    })
}

#[derive(Clone, Copy)]
struct Section {
    titles: &'static [&'static str],
    option: &'static str,
    source: &'static str,
    /// Names occur twice: maximum and current.
    twice: bool,
}

fn titled(line: &str) -> Option<(Section, &str)> {
    let of = |section: &Section| {
        let rest = section
            .titles
            .iter()
            .find_map(|title| line.strip_prefix(title))?;
        Some((*section, rest.trim_end_matches(':').trim()))
    };
    SECTIONS
        .iter()
        .find_map(of)
        .filter(|(_, name)| !name.is_empty() && !name.contains(' '))
}

/// Without a title, the command or the first name identifies the section.
fn untitled(line: &str, hint: Hint<'_>) -> Option<Section> {
    let asked = || {
        SECTIONS
            .iter()
            .find(|section| hint.is("ethtool", section.option))
    };
    let begins = |start: &str| line.starts_with(start);
    let source = if begins("driver: ") {
        Some("ethtool -i")
    } else if begins("Pre-set maximums:") {
        None
    } else if begins("rx-checksumming:")
        || begins("tx-checksumming:")
        || begins("generic-receive-offload:")
        || begins("tcp-segmentation-offload:")
    {
        Some("ethtool -k")
    } else if begins("Adaptive RX:") {
        Some("ethtool -c")
    } else if begins("EEE status:") {
        Some("ethtool --show-eee")
    } else {
        None
    };
    let section = asked().or_else(|| {
        SECTIONS
            .iter()
            .find(|section| Some(section.source) == source)
    })?;
    belongs(*section, line).then_some(*section)
}

fn belongs(section: Section, line: &str) -> bool {
    let titles = [
        "Pre-set maximums:",
        "Current hardware settings:",
        "Statistics:",
    ];
    let Some((name, value)) = line.split_once(':') else {
        let modes = section.source == "ethtool --show-eee" && is_modes(line);
        return modes || line == "RX negotiated" || line == "Statistics";
    };
    let short = name.len() <= 48 && value.len() <= 120 && !line.starts_with("Settings for");
    titles.contains(&line)
        || (short && titled(line).is_none() && plausible(section, name.trim(), value.trim()))
}

/// Whether the value has the type of the section's values.
fn plausible(section: Section, name: &str, value: &str) -> bool {
    let first = value.split_whitespace().next().unwrap_or_default();
    let switch = ["on", "off", "n/a", "not"].contains(&first);
    let number = first.parse::<u64>().is_ok();
    match section.source {
        "ethtool -a" => {
            switch
                || (number && name.contains("pause"))
                || (value.is_empty() && name == "Statistics")
        }
        "ethtool -k" => switch,
        "ethtool -g" | "ethtool -l" => number || first == "n/a" || first == "off" || first == "on",
        "ethtool -c" => number || switch,
        "ethtool -i" => {
            [
                "driver",
                "version",
                "firmware-version",
                "expansion-rom-version",
                "bus-info",
            ]
            .contains(&name)
                || name.starts_with("supports-")
        }
        _ => name.contains("EEE") || name.starts_with("Tx LPI") || name.ends_with("modes"),
    }
}

fn settings(section: Section, found: &[(usize, &str)]) -> Vec<(String, String)> {
    if section.source == "ethtool -k" {
        return ethtool_features::values(found);
    }
    let mut kind = "";
    let mut values: Vec<(String, String)> = Vec::new();
    for (_, line) in found {
        let line = line.trim();
        match line {
            "Pre-set maximums:" => kind = ".max",
            "Current hardware settings:" => kind = ".current",
            _ => {}
        }
        if let Some((_, modes)) = values.last_mut().filter(|_| is_modes(line)) {
            modes.push(' ');
            modes.push_str(line);
        }
        let Some((name, value)) = line
            .split_once(':')
            .filter(|(_, value)| !value.trim().is_empty())
        else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if section.source == "ethtool -c" && name == "Adaptive RX" {
            values.extend(adaptive(value));
        } else if is_setting(section, name, kind) {
            values.push((
                format!("{name}{}", if section.twice { kind } else { "" }),
                value.to_owned(),
            ));
        }
    }
    values
}

/// Neither a statistic nor a value that may be either the maximum or the current one.
fn is_setting(section: Section, name: &str, kind: &str) -> bool {
    let statistic = section.source == "ethtool -a" && name.contains("pause_frames");
    let unknown = section.twice && kind.is_empty();
    !statistic && !unknown
}

/// `off  TX: on`.
fn adaptive(value: &str) -> Vec<(String, String)> {
    let (rx, tx) = value.split_once("TX:").unwrap_or((value, ""));
    let both = [("Adaptive RX", rx.trim()), ("Adaptive TX", tx.trim())];
    both.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn pause_counts(found: &[(usize, &str)]) -> Vec<(String, u64)> {
    let count = |(_, line): &(usize, &str)| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim();
        name.ends_with("pause_frames")
            .then(|| Some((name.to_owned(), value.trim().parse().ok()?)))?
    };
    found.iter().filter_map(count).collect()
}

const SECTIONS: &[Section] = &[
    Section {
        titles: &["Pause parameters for "],
        option: "-a",
        source: "ethtool -a",
        twice: false,
    },
    Section {
        titles: &["Features for ", "Offload parameters for "],
        option: "-k",
        source: "ethtool -k",
        twice: false,
    },
    Section {
        titles: &["Ring parameters for "],
        option: "-g",
        source: "ethtool -g",
        twice: true,
    },
    Section {
        titles: &["Coalesce parameters for "],
        option: "-c",
        source: "ethtool -c",
        twice: false,
    },
    Section {
        titles: &["Channel parameters for "],
        option: "-l",
        source: "ethtool -l",
        twice: true,
    },
    Section {
        titles: &["EEE Settings for ", "EEE settings for "],
        option: "--show-eee",
        source: "ethtool --show-eee",
        twice: false,
    },
    Section {
        titles: &["Driver information for "],
        option: "-i",
        source: "ethtool -i",
        twice: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn blocks(text: &str) -> Vec<Content> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let mut at = 0;
        let mut content = Vec::new();
        while at < lines.len() {
            let block = read(Lines::new(&lines, &looked).from(at), Hint::default());
            at += block.as_ref().map_or(1, |block| block.lines);
            content.extend(block.into_iter().flat_map(|block| block.content));
        }
        content
    }

    fn says(content: &[Content], source: &str, name: &str) -> Option<String> {
        content.iter().find_map(|content| match content {
            Content::Settings(settings) if settings.source == source => settings
                .values
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone()),
            _ => None,
        })
    }

    #[test]
    fn every_section() {
        let text = "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\nTX:\t\t512\n\n\
            Pause parameters for eth0:\nAutonegotiate:  on\nRX:             off\nTX:             on\nRX negotiated: on\nStatistics:\n  tx_pause_frames: 12\n  rx_pause_frames: 0\n\n\
            Coalesce parameters for eth0:\nAdaptive RX: off  TX: on\nstats-block-usecs: 0\nrx-usecs: 3\n\n\
            Channel parameters for eth0:\nPre-set maximums:\nRX: n/a\nCombined: 8\nCurrent hardware settings:\nCombined: 1\n\n\
            Features for eth0:\nrx-checksumming: on [fixed]\ngeneric-receive-offload: off\n\n\
            EEE Settings for eth0:\n\tEEE status: enabled - active\n\tTx LPI: 17 (us)\n\tAdvertised EEE link modes:  100baseT/Full\n\t                            1000baseT/Full\n\tLink partner advertised EEE link modes:  Not reported\n\n\
            driver: igb\nversion: 5.10.0\nfirmware-version: 3.25\nbus-info: 0000:01:00.0\n";
        let content = blocks(text);
        for (source, name, value) in [
            ("ethtool -g", "RX.max", "4096"),
            ("ethtool -g", "RX.current", "256"),
            ("ethtool -a", "RX", "off"),
            ("ethtool -a", "RX negotiated", "on"),
            ("ethtool -c", "Adaptive TX", "on"),
            ("ethtool -c", "rx-usecs", "3"),
            ("ethtool -l", "Combined.current", "1"),
            ("ethtool -k", "rx-checksumming", "on [fixed]"),
            ("ethtool -k", "generic-receive-offload", "off"),
            ("ethtool --show-eee", "EEE status", "enabled - active"),
            (
                "ethtool --show-eee",
                "Advertised EEE link modes",
                "100baseT/Full 1000baseT/Full",
            ),
            (
                "ethtool --show-eee",
                "Link partner advertised EEE link modes",
                "Not reported",
            ),
            ("ethtool -i", "driver", "igb"),
        ] {
            assert_eq!(
                says(&content, source, name).as_deref(),
                Some(value),
                "{source} {name}"
            );
        }
        let paused = content.iter().any(|content| matches!(content, Content::Counters(counters) if counters.values[0] == ("tx_pause_frames".to_owned(), 12)));
        assert!(paused);
    }
}
