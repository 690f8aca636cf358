// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notes of ttcp runs, a line each: `Tx (v4): 92.1 Mbps, 1.1s (8%)`, `UDPv4 tx, 64 (-n 204800) 17.4 Mbps, 5.1 (99%)`,
//! under `MTU = 1500, -n 20480`. The percentage is system time.

use super::number::{count, decimal};
use super::{Block, Content, Hint, Lines, Protocol, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    conditions(first)
        .map(|_| ())
        .or_else(|| transfer(first).map(|_| ()))?;
    let (mut mtu, mut writes) = (None, None);
    let mut all = Vec::new();
    let found = lines.run(0, |line| {
        if let Some((size, number)) = conditions(line) {
            (mtu, writes) = (Some(size), number);
            return true;
        }
        let mut found = transfer(line);
        if let Some(transfer) = &mut found {
            transfer.mtu = mtu;
            transfer.sent = transfer.sent.or(writes);
        }
        all.extend(found.clone().map(Content::Transfer));
        found.is_some()
    });
    if all.is_empty() {
        return Block::says_nothing(&found, "ttcp");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ttcp",
        content: all,
    })
}

/// `MTU = 1500, -n = 20480`.
fn conditions(line: &str) -> Option<(u32, Option<u64>)> {
    let rest = line
        .trim()
        .strip_prefix("MTU")?
        .trim_start()
        .strip_prefix('=')?;
    let mut parts = rest.split(',');
    let mtu = parts.next()?.trim().parse().ok()?;
    Some((
        mtu,
        parts.next().and_then(count).filter(|_| line.contains("-n")),
    ))
}

fn transfer(line: &str) -> Option<Transfer> {
    let line = line.trim();
    let lower = line.to_ascii_lowercase();
    let udp = lower.starts_with("udp");
    (line.len() < 120 && (udp || lower.starts_with("tx") || lower.starts_with("rx")))
        .then_some(())?;
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    let at = words
        .iter()
        .position(|word| bits_per_second(1.0, word.trim_end_matches(',')).is_some())?;
    let rate = decimal(words.get(at.checked_sub(1)?)?)?;
    let size = udp.then(|| {
        line.split_once(',')
            .and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok())
    });
    let writes = line
        .split_once("-n ")
        .and_then(|(_, rest)| count(rest.split(')').next()?));
    let share = line
        .rsplit_once('(')
        .and_then(|(_, rest)| decimal(rest.split('%').next()?.trim()))
        .filter(|_| line.contains('%'));
    let version = if lower.contains("v6") {
        Some(6)
    } else {
        lower.contains("v4").then_some(4)
    };
    Some(Transfer {
        protocol: Some(if udp { Protocol::Udp } else { Protocol::Tcp }),
        ip_version: version,
        sends: Some(lower.contains("tx")),
        packet_bytes: size.flatten(),
        bits_per_second: bits_per_second(rate, words[at].trim_end_matches(','))?,
        sent: writes,
        cpu_share: share.map(|percent| percent / 100.0),
        ..Transfer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn lines_under_their_conditions() {
        let lines = [
            "MTU = 1500, -n = 20400",
            "Tx (v4): 92.3 Mbps, 1.1s (8%)",
            "Rx (v6): 90.8 Mbps, 2.6s (22%",
            "UDPv4 tx, 64 (-n 204000) 17.5 Mbps, 5.1 (99%)",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        let transfers: Vec<&Transfer> = block
            .content
            .iter()
            .filter_map(|content| {
                if let Content::Transfer(transfer) = content {
                    Some(transfer)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(transfers.len(), 3);
        assert_eq!(
            (
                transfers[0].sends,
                transfers[0].ip_version,
                transfers[0].cpu_share,
                transfers[0].mtu,
                transfers[0].sent
            ),
            (Some(true), Some(4), Some(0.08), Some(1500), Some(20400))
        );
        assert_eq!(
            (transfers[1].sends, transfers[1].cpu_share),
            (Some(false), Some(0.22))
        );
        assert_eq!(
            (
                transfers[2].protocol,
                transfers[2].packet_bytes,
                transfers[2].sent,
                transfers[2].bits_per_second
            ),
            (Some(Protocol::Udp), Some(64), Some(204_000), 17.5e6)
        );
    }
}
