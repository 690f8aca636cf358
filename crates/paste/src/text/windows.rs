// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows: `netsh interface tcp show global` (`Receive Window Auto-Tuning Level    : disabled`), also in German,
//! `Get-NetAdapterAdvancedProperty`, `Get-NetAdapterStatistics`.

use super::{Block, Content, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    if first.starts_with("Name ") {
        return table(lines);
    }
    let heads = HEADS.contains(&first);
    let known = |line: &str| {
        let german = GERMAN.iter().map(|(name, _)| name);
        let mut names = GLOBAL.iter().chain(german);
        names.any(|name| line.trim_start().starts_with(name) && line.contains(" : "))
    };
    (heads || known(first)).then_some(())?;
    let found = lines.run(0, |line| {
        let line = line.trim();
        line == first
            || HEADS.contains(&line)
            || is_rule(line)
            || (line.contains(" : ") && line.len() < 120)
    });
    let values = found.iter().filter_map(|(_, line)| line.split_once(" : "));
    let values =
        values.map(|(name, value)| (english(name.trim()).to_owned(), value.trim().to_owned()));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "netsh",
        content: vec![Settings::new("netsh", None, values.collect())],
    })
}

/// The English name of a parameter; values have no translation.
fn english(name: &str) -> &str {
    let known = GERMAN.iter().find(|(german, _)| *german == name);
    known.map_or(name, |(_, english)| english)
}

/// `----  -----------`.
fn is_rule(line: &str) -> bool {
    line.starts_with("--") && line.chars().all(|letter| letter == '-' || letter == ' ')
}

/// A table of PowerShell: its columns begin where the names above them do.
fn table(lines: Lines<'_>) -> Option<Block> {
    let heading = lines.get(0)?;
    let titles: Vec<&str> = heading.split_whitespace().collect();
    let has = |name: &str| titles.contains(&name);
    let counts = has("ReceivedBytes") && has("SentBytes");
    (counts || (has("DisplayName") && has("DisplayValue"))).then_some(())?;
    let begins: Vec<usize> = titles
        .iter()
        .scan(0, |from, title| {
            let at = *from + heading.get(*from..)?.find(title)?;
            *from = at + title.len();
            Some(at)
        })
        .collect();
    let found = lines.run(1, |line| {
        is_rule(line.trim()) || (line.len() < 400 && line.contains("  "))
    });
    let rows = found.iter().filter(|(_, line)| !is_rule(line.trim()));
    let content = rows.filter_map(|(_, line)| {
        if counts {
            counters(&titles, line)
        } else {
            property(&titles, &begins, line)
        }
    });
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: if counts { STATISTICS } else { PROPERTY },
        content: content.collect(),
    })
}

/// Numbers are to the right of their columns; a name may have blanks.
fn counters(titles: &[&str], line: &str) -> Option<Content> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let names = words.len().checked_sub(titles.len().checked_sub(1)?)?;
    let (name, numbers) = words
        .split_at_checked(names)
        .filter(|(name, _)| !name.is_empty())?;
    let values = titles.iter().skip(1).zip(numbers);
    let values: Option<Vec<(String, u64)>> = values
        .map(|(name, number)| Some(((*name).to_owned(), number.parse().ok()?)))
        .collect();
    Some(Counters::new(STATISTICS, Some(&name.join(" ")), values?))
}

fn property(titles: &[&str], begins: &[usize], line: &str) -> Option<Content> {
    let column = |title: &str| {
        let at = titles.iter().position(|one| *one == title)?;
        let end = begins
            .get(at + 1)
            .copied()
            .unwrap_or(line.len())
            .min(line.len());
        Some(line.get(*begins.get(at)?..end)?.trim())
    };
    let (name, value) = (column("DisplayName")?, column("DisplayValue")?);
    let values = vec![(name.to_owned(), value.to_owned())];
    (!name.is_empty()).then(|| Settings::new(PROPERTY, column("Name"), values))
}

const STATISTICS: &str = "Get-NetAdapterStatistics";
const PROPERTY: &str = "Get-NetAdapterAdvancedProperty";
/// Headings of `netsh interface tcp show global`.
const HEADS: [&str; 3] = [
    "Querying active state...",
    "TCP Global Parameters",
    "Globale TCP-Parameter",
];
/// Its names in German Windows, and in English.
const GERMAN: [(&str, &str); 12] = [
    (
        "Zustand der empfangsseitigen Skalierung",
        "Receive-Side Scaling State",
    ),
    (
        "Autom. Abstimmungsgrad Empfangsfenster",
        "Receive Window Auto-Tuning Level",
    ),
    (
        "Add-On \"Überlastungssteuerungsanbieter\"",
        "Add-On Congestion Control Provider",
    ),
    ("ECN-Funktion", "ECN Capability"),
    ("RFC 1323-Zeitstempel", "RFC 1323 Timestamps"),
    ("RTO (anfänglich)", "Initial RTO"),
    (
        "Zustand der Empfangssegmentzusammenfügung",
        "Receive Segment Coalescing State",
    ),
    (
        "Nicht-SACK-RTT-Widerstandsfähigkeit",
        "Non Sack Rtt Resiliency",
    ),
    ("Maximale SYN-Neuübertragungen", "Max SYN Retransmissions"),
    ("Fast Open-Fallback", "Fast Open Fallback"),
    (
        "Proportionale Ratenreduzierung",
        "Proportional Rate Reduction",
    ),
    ("Schrittsteuerungsprofil", "Pacing Profile"),
];
/// Names of `netsh interface tcp show global`.
const GLOBAL: [&str; 6] = [
    "Receive-Side Scaling State",
    "Receive Window Auto-Tuning Level",
    "Add-On Congestion Control Provider",
    "Chimney Offload State",
    "Receive Segment Coalescing State",
    "RFC 1323 Timestamps",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn of(text: &str) -> Option<(usize, Vec<Content>)> {
        let block = block_of(text, read)?;
        Some((block.lines, block.content))
    }

    fn setting(content: &[Content], name: &str) -> Option<(Option<String>, String)> {
        content.iter().find_map(|one| match one {
            Content::Settings(one) => {
                let (_, value) = one.values.iter().find(|(known, _)| known == name)?;
                Some((one.interface.clone(), value.clone()))
            }
            _ => None,
        })
    }

    #[test]
    fn the_state_of_tcp() {
        let text = "Querying active state...\n\nTCP Global Parameters\n----------------------------------------------\nReceive-Side Scaling State          : enabled\nReceive Window Auto-Tuning Level    : disabled\nECN Capability                      : disabled\nwell\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 7);
        let level = "Receive Window Auto-Tuning Level";
        assert_eq!(
            setting(&content, level),
            Some((None, "disabled".to_owned()))
        );
        assert_eq!(of("ECN Capability : disabled\n"), None);
    }

    #[test]
    fn the_state_of_tcp_in_german() {
        let text = "Globale TCP-Parameter\n----------------------------------------------\nZustand der empfangsseitigen Skalierung          : disabled\nAutom. Abstimmungsgrad Empfangsfenster    : restricted\nAdd-On \"Überlastungssteuerungsanbieter\"  : default\nso\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 5);
        for (name, value) in [
            ("Receive-Side Scaling State", "disabled"),
            ("Receive Window Auto-Tuning Level", "restricted"),
            ("Add-On Congestion Control Provider", "default"),
        ] {
            assert_eq!(setting(&content, name), Some((None, value.to_owned())));
        }
        assert_eq!(of("ECN-Funktion und was sie tut\n"), None);
    }

    #[test]
    fn tables_of_adapters() {
        let text = "Name                             ReceivedBytes ReceivedUnicastPackets       SentBytes SentUnicastPackets\n----                             ------------- ----------------------       --------- ------------------\nEthernet 2                          1234567890               12345678      987654321            7654321\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 3);
        let Some(Content::Counters(counters)) = content.first() else {
            panic!()
        };
        assert_eq!(counters.interface.as_deref(), Some("Ethernet 2"));
        assert!(
            counters
                .values
                .contains(&("SentUnicastPackets".to_owned(), 7_654_321))
        );
        let text = "Name        DisplayName        DisplayValue        RegistryKeyword  RegistryValue\n----        -----------        ------------        ---------------  -------------\nEthernet    Speed & Duplex     100 Mbps Half Duplex *SpeedDuplex    {3}\nEthernet    Jumbo Packet       Disabled            *JumboPacket     {1514}\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 4);
        let jumbo = Some((Some("Ethernet".to_owned()), "Disabled".to_owned()));
        assert_eq!(setting(&content, "Jumbo Packet"), jumbo);
        assert_eq!(of("Name and DisplayName are two\n"), None);
    }
}
