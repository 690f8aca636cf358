// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/snmp`, `netstat`, `dev` and `sockstat` as pasted: long lines wrapped, only one group kept. Restored,
//! and read like the live files.

use linerate_wire::proc::{net_dev, snmp, sockstat};

use super::netstat_s::by_file;
use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    pairs(lines)
        .or_else(|| sockets(lines))
        .or_else(|| devices(lines))
}

/// Names and values, each after the group.
fn pairs(lines: Lines<'_>) -> Option<Block> {
    let group = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let known = [
            "Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt",
        ]
        .contains(&name);
        (known && !rest.trim().is_empty()).then_some(())
    };
    group(lines.get(0)?)?;
    let rest = |line: &str| {
        !line.contains(':')
            && line.len() < 400
            && line.split_whitespace().all(|word| {
                word.parse::<i64>().is_ok() || word.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
    };
    let mut text: Vec<String> = Vec::new();
    let mut values = false;
    let found = lines.run(0, |line| {
        if group(line).is_some() {
            values = line
                .split_whitespace()
                .nth(1)
                .is_some_and(|word| word.parse::<i64>().is_ok());
            text.push(line.to_owned());
            return true;
        }
        // A wrapped line continues with the same kind: names or numbers.
        let numbers = line
            .split_whitespace()
            .all(|word| word.parse::<i64>().is_ok());
        let continues = rest(line) && numbers == values;
        if let (true, Some(last)) = (continues, text.last_mut()) {
            last.push(' ');
            last.push_str(line);
        }
        continues
    });
    let read = snmp::parse(&text.join("\n"));
    let all: Vec<(String, u64)> = read
        .into_iter()
        .filter_map(|(name, value)| Some((name, u64::try_from(value).ok()?)))
        .collect();
    if all.is_empty() {
        return Block::says_nothing(&found, "/proc/net/snmp");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "/proc/net/snmp",
        content: by_file(all),
    })
}

/// `TCP: inuse 5 orphan 0 tw 0 alloc 7 mem 2`.
fn sockets(lines: Lines<'_>) -> Option<Block> {
    let mine = |line: &str| {
        let known = [
            "sockets: used",
            "TCP: inuse",
            "UDP: inuse",
            "UDPLITE: inuse",
            "RAW: inuse",
            "FRAG: inuse",
            "TCP6: inuse",
            "UDP6: inuse",
        ];
        known.iter().any(|start| line.starts_with(start))
    };
    let found = lines.run(0, mine);
    let text: Vec<&str> = found.iter().map(|(_, line)| *line).collect();
    let values = sockstat::parse(&text.join("\n"));
    let source = "/proc/net/sockstat";
    if values.is_empty() {
        return Block::says_nothing(&found, source);
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: source,
        content: vec![Counters::new(source, None, values)],
    })
}

/// `  eth0: 1 2 3 …` of sixteen numbers, with or without its two headings.
fn devices(lines: Lines<'_>) -> Option<Block> {
    let heading =
        |line: &str| line.starts_with("Inter-|") || line.trim_start().starts_with("face |");
    let row = |line: &str| line.len() < 400 && net_dev::parse(line).len() == 1;
    let found = lines.run(0, |line| heading(line) || row(line));
    let content: Vec<_> = found
        .iter()
        .flat_map(|(_, line)| net_dev::parse(line))
        .map(|interface| {
            Counters::new("/proc/net/dev", Some(&interface.name), counters(&interface))
        })
        .collect();
    if content.is_empty() {
        return Block::says_nothing(&found, "/proc/net/dev");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "/proc/net/dev",
        content,
    })
}

fn counters(interface: &net_dev::Interface) -> Vec<(String, u64)> {
    let named = [
        ("rx_bytes", interface.rx_bytes),
        ("rx_packets", interface.rx_packets),
        ("rx_errs", interface.rx_errs),
        ("rx_drop", interface.rx_drop),
        ("rx_fifo", interface.rx_fifo),
        ("rx_frame", interface.rx_frame),
        ("rx_multicast", interface.rx_multicast),
        ("tx_bytes", interface.tx_bytes),
        ("tx_packets", interface.tx_packets),
        ("tx_errs", interface.tx_errs),
        ("tx_drop", interface.tx_drop),
        ("tx_fifo", interface.tx_fifo),
        ("tx_colls", interface.tx_colls),
        ("tx_carrier", interface.tx_carrier),
    ];
    named
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn contents(text: &str) -> Vec<Counters> {
        let block = block_of(text, read).unwrap();
        let counters = block
            .content
            .into_iter()
            .filter_map(|content| match content {
                Content::Counters(counters) => Some(counters),
                _ => None,
            });
        counters.collect()
    }

    #[test]
    fn whole_and_wrapped() {
        let whole = contents(
            "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 100 0 7 50 6\nTcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 4\n",
        );
        let wrapped = contents(
            "Udp: InDatagrams NoPorts InErrors\nOutDatagrams RcvbufErrors\nUdp: 100 0 7\n50 6\nTcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 4\n",
        );
        assert_eq!(whole, wrapped);
        assert_eq!(
            (whole[0].source.as_str(), whole[1].source.as_str()),
            ("/proc/net/snmp", "/proc/net/netstat")
        );
        assert!(whole[0].values.contains(&("UdpRcvbufErrors".to_owned(), 6)));
    }

    #[test]
    fn sockets_and_devices() {
        assert!(
            contents("sockets: used 9\nTCP: inuse 2 orphan 0 tw 0 alloc 3 mem 77\n")[0]
                .values
                .contains(&("TCP.mem".to_owned(), 77))
        );
        let dev = contents(
            "Inter-|   Receive  |  Transmit\n face |bytes    packets errs\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        );
        assert_eq!(dev[0].interface.as_deref(), Some("eth0"));
        assert!(dev[0].values.contains(&("rx_fifo".to_owned(), 5)));
    }
}
