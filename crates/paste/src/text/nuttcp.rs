// SPDX-License-Identifier: MIT OR Apache-2.0
//! nuttcp's lines: `1117.8 MB /  10.00 sec =  937.6 Mbps 4 %TX 13 %RX 0 retrans 0.36 msRTT`.

use super::number::decimal;
use super::{Block, Content, Hint, Lines, Protocol, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let transfer = transfer(lines.get(0)?, hint)?;
    Some(Block {
        lines: 1,
        format: "nuttcp",
        content: vec![Content::Transfer(transfer)],
    })
}

fn transfer(line: &str, hint: Hint<'_>) -> Option<Transfer> {
    let words: Vec<&str> = line.split_whitespace().take(32).collect();
    let at = |name: &str| words.iter().position(|word| *word == name);
    let (slash, equals) = (at("/")?, at("=")?);
    (slash == 2 && equals == 5 && words.get(4) == Some(&"sec")).then_some(())?;
    let number = |at: usize| words.get(at).and_then(|word| decimal(word));
    let udp = words.contains(&"drop/pkt");
    let before = |name: &str, back: usize| {
        at(name).and_then(|at| words.get(at.checked_sub(back)?)?.parse().ok())
    };
    let retransmits = before("retrans", 1).or_else(|| {
        words
            .iter()
            .find_map(|word| word.strip_prefix("retrans=")?.parse().ok())
    });
    Some(Transfer {
        protocol: Some(if udp { Protocol::Udp } else { Protocol::Tcp }),
        sends: Some(!hint.is("nuttcp", "-r")),
        bits_per_second: bits_per_second(number(6)?, words.get(7)?)?,
        duration_s: number(3),
        sent: before("drop/pkt", 1),
        lost: before("drop/pkt", 3),
        retransmits,
        cpu_share: before("%RX", 1).map(|percent: u64| percent as f64 / 100.0),
        ..Transfer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_and_udp() {
        let tcp = transfer(
            " 1117.8125 MB /  10.00 sec =  937.6 Mbps 4 %TX 13 %RX 7 retrans 0.36 msRTT",
            Hint::default(),
        )
        .unwrap();
        assert_eq!(
            (
                tcp.protocol,
                tcp.bits_per_second,
                tcp.retransmits,
                tcp.cpu_share
            ),
            (Some(Protocol::Tcp), 937.6e6, Some(7), Some(0.13))
        );
        let udp = transfer(
            "  953.6 MB /  10.00 sec =  800.0 Mbps 98 %TX 40 %RX 123 / 976562 drop/pkt 0.01 %loss",
            Hint::default(),
        )
        .unwrap();
        assert_eq!(
            (udp.protocol, udp.lost, udp.sent),
            (Some(Protocol::Udp), Some(123), Some(976_562))
        );
    }
}
