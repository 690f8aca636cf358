// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip -s [-s] link`: headings name the columns, so that every version of iproute2 reads.

use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let titled = title(first);
    if titled.is_none() {
        columns(first)?;
    }
    let mut titles = 0;
    let found = lines.run(0, |line| {
        titles += usize::from(title(line).is_some());
        titles < 2 && (title(line).is_some() || belongs(line))
    });
    let interface = titled
        .as_ref()
        .map(|(name, _)| *name)
        .or_else(|| hint.interface());
    let counted = counters(&found);
    let settings = titled.map(|(_, settings)| settings).unwrap_or_default();
    if counted.is_empty() && settings.len() < 2 {
        return Block::says_nothing(&found, "ip -s link");
    }
    let mut content = vec![Settings::new("ip link", interface, settings)];
    if !counted.is_empty() {
        content.push(Counters::new("rtnl_link_stats64", interface, counted));
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ip -s link",
        content,
    })
}

/// `2: eth0: <BROADCAST,UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000`.
fn title(line: &str) -> Option<(&str, Vec<(String, String)>)> {
    let (number, rest) = line.trim_start().split_once(": ")?;
    number.parse::<u32>().ok()?;
    let (name, rest) = rest.split_once(": ")?;
    let (flags, rest) = rest.trim_start().strip_prefix('<')?.split_once('>')?;
    let mut values = vec![("flags".to_owned(), flags.to_owned())];
    let words: Vec<&str> = rest.split_whitespace().take(32).collect();
    for pair in words.windows(2) {
        let name = match pair[0] {
            "qlen" => "txqueuelen",
            "mtu" | "qdisc" | "state" | "master" => pair[0],
            _ => continue,
        };
        values.push((name.to_owned(), pair[1].to_owned()));
    }
    Some((name.split('@').next()?, values))
}

fn belongs(line: &str) -> bool {
    let line = line.trim_start();
    let known = [
        "link/",
        "RX",
        "TX",
        "inet",
        "alias ",
        "altname ",
        "valid_lft",
        "vf ",
    ];
    known.iter().any(|start| line.starts_with(start)) || numbers(line).is_some() || is_detail(line)
}

/// A line of `ip -d link`: the kind of a virtual device with its options, and what every device may send.
fn is_detail(line: &str) -> bool {
    line.contains(" numtxqueues ") || DETAILS.iter().any(|start| line.starts_with(start))
}

/// Kinds of devices whose options take lines of their own (iproute2 `ip/iplink_*.c`).
const DETAILS: [&str; 12] = [
    "vlan protocol ",
    "vxlan id ",
    "bridge forward_delay ",
    "bridge_slave state ",
    "bond mode ",
    "bond_slave state ",
    "macvlan mode ",
    "gre remote ",
    "gretap remote ",
    "ipip remote ",
    "geneve id ",
    "tun type ",
];

fn numbers(line: &str) -> Option<Vec<u64>> {
    let numbers: Option<Vec<u64>> = line
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    numbers.filter(|numbers| (3..=12).contains(&numbers.len()))
}

/// Each heading with the following line of numbers.
fn counters(found: &[(usize, &str)]) -> Vec<(String, u64)> {
    let pair = |pair: &[(usize, &str)]| {
        let names = columns(pair[0].1)?;
        let values = numbers(pair[1].1)?;
        let named = names.into_iter().zip(values);
        Some(
            named
                .filter_map(|(name, value)| Some((name?.to_owned(), value)))
                .collect::<Vec<_>>(),
        )
    };
    found.windows(2).filter_map(pair).flatten().collect()
}

/// The kernel's names of the columns of a heading such as `RX: bytes  packets  errors  dropped overrun mcast`.
fn columns(line: &str) -> Option<Vec<Option<&'static str>>> {
    let line = line.trim_start();
    let (side, errors, rest) = if let Some(rest) = line.strip_prefix("RX errors:") {
        ("rx", true, rest)
    } else if let Some(rest) = line.strip_prefix("TX errors:") {
        ("tx", true, rest)
    } else if let Some(rest) = line.strip_prefix("RX:") {
        ("rx", false, rest)
    } else {
        ("tx", false, line.strip_prefix("TX:")?)
    };
    let words: Vec<&str> = rest.split_whitespace().take(12).collect();
    let letters = |word: &&str| word.chars().all(|letter| letter.is_ascii_alphabetic());
    let known = errors || words.first() == Some(&"bytes");
    (words.len() > 2 && known && words.iter().all(letters))
        .then(|| words.iter().map(|word| kernel_name(side, word)).collect())
}

fn kernel_name(side: &str, column: &str) -> Option<&'static str> {
    Some(match (side, column) {
        ("rx", "bytes") => "rx_bytes",
        ("rx", "packets") => "rx_packets",
        ("rx", "errors") => "rx_errors",
        ("rx", "dropped") => "rx_dropped",
        ("rx", "overrun") => "rx_over_errors",
        ("rx", "missed") => "rx_missed_errors",
        ("rx", "mcast") => "multicast",
        ("rx", "length") => "rx_length_errors",
        ("rx", "crc") => "rx_crc_errors",
        ("rx", "frame") => "rx_frame_errors",
        ("rx", "fifo") => "rx_fifo_errors",
        ("rx", "nohandler") => "rx_nohandler",
        ("rx", "otherhost") => "rx_otherhost_dropped",
        ("tx", "bytes") => "tx_bytes",
        ("tx", "packets") => "tx_packets",
        ("tx", "errors") => "tx_errors",
        ("tx", "dropped") => "tx_dropped",
        ("tx", "carrier") => "tx_carrier_errors",
        ("tx", "collsns") => "collisions",
        ("tx", "aborted") => "tx_aborted_errors",
        ("tx", "fifo") => "tx_fifo_errors",
        ("tx", "window") => "tx_window_errors",
        ("tx", "heartbeat" | "heartbt") => "tx_heartbeat_errors",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn both_headings() {
        let text = "2: eth0: <BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state UP mode DEFAULT qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n\
            \u{20}   RX: bytes  packets  errors  dropped overrun mcast\n    1000       10       1       2       3       4\n\
            \u{20}   RX errors: length   crc     frame   fifo    missed\n               5        6       7       8       9\n\
            \u{20}   TX:  bytes packets errors dropped carrier collsns\n    2000       20       0       0       0       1\n3: eth1: <UP> mtu 1500 qdisc noop\n";
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!(block.lines, 8);
        let Content::Counters(counters) = &block.content[1] else {
            panic!()
        };
        for (name, value) in [
            ("rx_packets", 10),
            ("rx_over_errors", 3),
            ("rx_fifo_errors", 8),
            ("rx_missed_errors", 9),
            ("collisions", 1),
        ] {
            assert!(
                counters.values.contains(&(name.to_owned(), value)),
                "{name}"
            );
        }
        let Content::Settings(settings) = &block.content[0] else {
            panic!()
        };
        assert!(
            settings
                .values
                .contains(&("txqueuelen".to_owned(), "1000".to_owned()))
        );
    }

    #[test]
    fn details_of_virtual_devices_belong_to_them() {
        let text = "3: b0@a0: <UP> mtu 1500 qdisc noqueue state UP qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff promiscuity 0\n\
            \u{20}   veth addrgenmode eui64 numtxqueues 2 numrxqueues 2 gso_max_size 65536\n    RX:  bytes packets errors dropped  missed   mcast\n\
            \u{20}         516       6      0       0       0       0\n4: v0@b0: <UP> mtu 1500 qdisc noqueue state UP\n    vlan protocol 802.1Q id 5 <REORDER_HDR>\n";
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let first = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!(first.lines, 5);
        let second = read(Lines::new(&lines[5..], &looked), Hint::default()).unwrap();
        assert_eq!(second.lines, 2);
    }
}
