// SPDX-License-Identifier: MIT OR Apache-2.0
//! netperf's `TCP_STREAM`, `TCP_MAERTS` and `UDP_STREAM` tables, and `TCP_RR`: requests and responses, one after the other.

use super::number::decimal;
use super::{Block, Content, Hint, Lines, Protocol, Transfer};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    if first.contains(" REQUEST/RESPONSE TEST") {
        return transactions(lines);
    }
    streams(lines)
}

/// A heading of some lines, then `16384 131072 1 1 10.00 24.98`: buffers, sizes of both, seconds, transactions a second.
fn transactions(lines: Lines<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let (at, row) = (1..10).find_map(|at| Some((at, numbers(lines.get(at)?)?)))?;
    let &[_, _, request, _, seconds, rate] = row.as_slice() else {
        return None;
    };
    let bytes = (1.0..1e9).contains(&request).then_some(request as u32)?;
    let udp = first.contains("UDP");
    // With a burst, several are in flight at once: the rate then does not give the time of one.
    let burst = first.contains("first burst") && !first.contains("first burst 0");
    let name = match (udp, burst) {
        (_, true) => "requests in bursts",
        (true, false) => "UDP_RR",
        (false, false) => "TCP_RR",
    };
    let transfer = Transfer {
        name: Some(name.to_owned()),
        protocol: Some(if udp { Protocol::Udp } else { Protocol::Tcp }),
        packet_bytes: Some(bytes),
        bits_per_second: rate * f64::from(bytes) * 8.0,
        duration_s: Some(seconds),
        sends: Some(true),
        ..Transfer::default()
    };
    // The remote buffers are alone in the last line.
    let rest = lines.get(at + 1).is_some_and(|line| {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        words.len() == 2 && words.iter().all(|word| word.parse::<u32>().is_ok())
    });
    Some(Block {
        lines: at + 1 + usize::from(rest),
        format: "netperf",
        content: vec![Content::Transfer(transfer)],
    })
}

fn streams(lines: Lines<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let titled = first.contains(" STREAM TEST ") || first.contains(" MAERTS TEST ");
    (titled || first.contains("10^6bits/s")).then_some(())?;
    let unit = (0..10).find(|index| {
        lines
            .get(*index)
            .is_some_and(|line| line.contains("10^6bits/s"))
    })?;
    let found = lines.run(unit + 1, |line| numbers(line).is_some());
    let rows: Vec<Vec<f64>> = found.iter().filter_map(|(_, line)| numbers(line)).collect();
    let udp = first.contains("UDP") || rows.first()?.len() == 6;
    let mut transfer = if udp {
        of_udp(&rows)?
    } else {
        of_tcp(rows.first()?)?
    };
    transfer.sends = Some(!first.contains("MAERTS"));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "netperf",
        content: vec![Content::Transfer(transfer)],
    })
}

fn numbers(line: &str) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = line.split_whitespace().take(12).map(decimal).collect();
    numbers.filter(|numbers| (3..=9).contains(&numbers.len()))
}

/// `87380 16384 16384 10.00 941.29`.
fn of_tcp(row: &[f64]) -> Option<Transfer> {
    Some(Transfer {
        protocol: Some(Protocol::Tcp),
        bits_per_second: row.get(4)? * 1e6,
        duration_s: row.get(3).copied(),
        ..Transfer::default()
    })
}

/// `212992 1472 10.00 812000 0 956.2` of the sender, and `212992 10.00 790000 930.3` of the receiver.
fn of_udp(rows: &[Vec<f64>]) -> Option<Transfer> {
    let (sent, received) = (rows.first()?, rows.get(1));
    let received = received.filter(|row| row.len() == 4);
    let count = |value: f64| (0.0..1e18).contains(&value).then_some(value as u64);
    let lost = received.and_then(|row| count(sent.get(3)? - row.get(2)?));
    Some(Transfer {
        protocol: Some(Protocol::Udp),
        packet_bytes: sent
            .get(1)
            .and_then(|value| u32::try_from(count(*value)?).ok()),
        bits_per_second: received.map_or(sent.get(5), |row| row.get(3))? * 1e6,
        duration_s: sent.get(2).copied(),
        sent: sent.get(3).and_then(|value| count(*value)),
        lost,
        ..Transfer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn transfer(text: &str) -> Transfer {
        match block_of(text, read).unwrap().content.remove(0) {
            Content::Transfer(transfer) => transfer,
            _ => panic!(),
        }
    }

    #[test]
    fn requests_and_responses() {
        let read = transfer(
            "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.1 () port 0 AF_INET : first burst 0\nLocal /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\nbytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  131072 100      200     10.00    25.00\n16384  131072\n",
        );
        assert_eq!(read.name.as_deref(), Some("TCP_RR"));
        let burst = transfer(
            "TCP REQUEST/RESPONSE TEST : first burst 8\n16384 131072 100 200 10.00 25.00\n",
        );
        assert_eq!(burst.name.as_deref(), Some("requests in bursts"));
        // 25 transactions a second of 100 bytes each.
        assert_eq!(
            (read.packet_bytes, read.bits_per_second),
            (Some(100), 20_000.0)
        );
    }

    #[test]
    fn both_tables() {
        let tcp = transfer(
            "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET\nRecv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n 87380  16384  16384    10.00     941.29\n",
        );
        assert_eq!(
            (tcp.protocol, tcp.bits_per_second),
            (Some(Protocol::Tcp), 941.29e6)
        );
        let udp = transfer(
            "UDP UNIDIRECTIONAL SEND TEST from 0.0.0.0 port 0 to 192.0.2.1 STREAM TEST 10^6bits/sec\n\n212992    1472   10.00      812000      0     956.21\n212992           10.00      790000            930.30\n",
        );
        assert_eq!(
            (udp.sent, udp.lost, udp.packet_bytes),
            (Some(812_000), Some(22_000), Some(1472))
        );
    }
}
