// SPDX-License-Identifier: MIT OR Apache-2.0
//! `netstat -i`: a table of interfaces, in any language (its column names stay English).

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let titled = lines.get(0)?;
    let title = titled.starts_with("Kernel Interface table")
        || titled.starts_with("Kernel-Schnittstellentabelle")
        || titled.starts_with("Tabla de la interfaz");
    let from = usize::from(title);
    let columns: Vec<&str> = lines.get(from)?.split_whitespace().take(20).collect();
    (columns.contains(&"RX-OK") && columns.contains(&"TX-OK")).then_some(())?;
    let found = lines.run(from + 1, |line| row(&columns, line).is_some());
    let content = found
        .iter()
        .filter_map(|(_, line)| row(&columns, line))
        .map(|(name, values)| Counters::new("/proc/net/dev", Some(name), values))
        .collect();
    Some(Block {
        lines: found.last().map_or(from, |(index, _)| *index) + 1,
        format: "netstat -i",
        content,
    })
}

/// An interface and its counters; rows whose flags are gone are one word shorter.
fn row<'a>(columns: &[&str], line: &'a str) -> Option<(&'a str, Vec<(String, u64)>)> {
    let words: Vec<&str> = line.split_whitespace().take(20).collect();
    let name = *words.first()?;
    (words.len() + 1 >= columns.len() && words.len() <= columns.len()).then_some(())?;
    let cell = |(column, word): (&&str, &&str)| {
        let key = match *column {
            "RX-OK" => "rx_packets",
            "RX-ERR" => "rx_errs",
            "RX-DRP" => "rx_drop",
            "RX-OVR" => "rx_fifo",
            "TX-OK" => "tx_packets",
            "TX-ERR" => "tx_errs",
            "TX-DRP" => "tx_drop",
            "TX-OVR" => "tx_fifo",
            _ => return None,
        };
        Some((key.to_owned(), word.parse().ok()?))
    };
    let values: Vec<(String, u64)> = columns.iter().zip(&words).filter_map(cell).collect();
    (values.len() > 3).then_some((name, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_german_table() {
        let lines = [
            "Kernel-Schnittstellentabelle",
            "Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg",
            "eth0      1500   123456      0    789 0         23456      0      0      0 BMRU",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!(block.lines, 3);
        let values = [
            ("rx_packets", 123_456),
            ("rx_errs", 0),
            ("rx_drop", 789),
            ("rx_fifo", 0),
            ("tx_packets", 23456),
            ("tx_errs", 0),
            ("tx_drop", 0),
            ("tx_fifo", 0),
        ];
        let values = values
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
        assert_eq!(
            block.content,
            [Counters::new("/proc/net/dev", Some("eth0"), values)]
        );
    }
}
