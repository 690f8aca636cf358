// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -S X` and `ethtool --phy-statistics X`: the driver's own strings and values; also grepped, and without the heading.

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    let of_phy = first == "PHY statistics:" || hint.is("ethtool", "--phy-statistics");
    let asked = of_phy || hint.is("ethtool", "-S") || hint.is("ethtool", "--statistics");
    let titled = [
        "NIC statistics",
        "Statistik der Netzwerkkarte",
        "PHY statistics:",
    ]
    .iter()
    .any(|title| first.starts_with(title));
    let announced = titled || asked;
    if !announced {
        driver_string(first)?;
    }
    let pair = if announced { any_pair } else { driver_string };
    let found = lines.run(usize::from(titled), |line| pair(line.trim()).is_some());
    let values: Vec<(String, u64)> = found
        .iter()
        .filter_map(|(_, line)| pair(line.trim()))
        .collect();
    (titled || !values.is_empty()).then_some(())?;
    (announced || values.len() > 1 || first.contains('_')).then_some(())?;
    let interface = hint.interface().filter(|_| asked);
    let source = if of_phy {
        "ethtool --phy-statistics"
    } else {
        "ethtool -S"
    };
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: source,
        content: vec![Counters::new(source, interface, values)],
    })
}

/// `name: number`, whatever the name.
fn any_pair(line: &str) -> Option<(String, u64)> {
    let (name, value) = line.rsplit_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let plain = !name.is_empty() && name.len() <= 64 && !name.contains('=');
    Some((name.to_owned(), value.parse().ok()?)).filter(|_| plain)
}

/// `rx_missed_errors: 3`: only names that can be a driver's and nothing else.
fn driver_string(line: &str) -> Option<(String, u64)> {
    let (name, value) = any_pair(line)?;
    let lower = name.to_ascii_lowercase();
    let marked = lower.contains('_') && !lower.contains(' ');
    let sided = [
        "rx",
        "tx",
        "port.",
        "ieee_",
        "mmc_",
        "rmon",
        "in_",
        "out_",
        "q_",
        "queue_",
        "mac_",
        "dma_",
        "irq_",
        "align",
        "single",
        "multi",
        "multicast",
        "broadcast",
        "unicast",
    ];
    let known = sided.iter().any(|start| lower.starts_with(start))
        || lower.contains("rx_")
        || lower.contains("tx_")
        || lower.contains("err")
        || lower.contains("drop");
    (marked && known).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn values(text: &str, command: Option<&str>) -> Option<Vec<(String, u64)>> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        match &block.content[0] {
            Content::Counters(counters) => Some(counters.values.clone()),
            _ => None,
        }
    }

    #[test]
    fn statistics_of_a_phy() {
        let lines = ["PHY statistics:", "     phy_idle_errors: 255", "and so on"];
        let looked = Cell::new(0);
        let hint = Hint {
            command: Some("ethtool --phy-statistics eth0"),
        };
        let block = read(Lines::new(&lines, &looked), hint).unwrap();
        let Content::Counters(counters) = &block.content[0] else {
            panic!()
        };
        assert_eq!((block.lines, block.format), (2, "ethtool --phy-statistics"));
        assert_eq!(counters.interface.as_deref(), Some("eth0"));
    }

    #[test]
    fn titled_grepped_and_asked() {
        let pair = |name: &str, value| (name.to_owned(), value);
        assert_eq!(
            values(
                "NIC statistics:\n     tx_dropped: 0\n     IEEE_rx_macerr: 71\n",
                None
            ),
            Some(vec![pair("tx_dropped", 0), pair("IEEE_rx_macerr", 71)])
        );
        assert_eq!(
            values("rx_missed_errors: 3\nrx_no_buffer_count: 4\n", None),
            Some(vec![
                pair("rx_missed_errors", 3),
                pair("rx_no_buffer_count", 4)
            ])
        );
        assert_eq!(
            values("[0]: rx packets: 3\n", Some("ethtool -S eth1")),
            Some(vec![pair("[0]: rx packets", 3)])
        );
        assert_eq!(values("Total: 3\nSum: 4\n", None), None);
    }
}
