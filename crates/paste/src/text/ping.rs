// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answers and the summary of `ping`: of iputils, busybox and Windows (English and German). What it says of errors is
//! left to whoever reads sentences.

use super::number::{count, decimal};
use super::{Block, Content, Hint, Lines};

/// A summary of ping; `None` where the text does not state a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ping {
    /// Requests.
    pub sent: Option<u64>,
    /// Answers.
    pub received: Option<u64>,
    /// Round trips: smallest, mean, largest, milliseconds.
    pub rtt_ms: Option<(f64, f64, f64)>,
}

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let mut ping = Ping::default();
    let found = lines.run(0, |line| line.len() < 300 && take(&mut ping, line.trim()));
    let counted = ping.sent.is_some() || ping.rtt_ms.is_some();
    if !counted && !found.iter().any(|(_, line)| is_answer(line.trim())) {
        return Block::says_nothing(&found, "ping");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ping",
        content: counted.then_some(Content::Ping(ping)).into_iter().collect(),
    })
}

/// `64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.2 ms`; busybox has `seq=1`.
fn is_answer(line: &str) -> bool {
    let is_ours = line.contains(" bytes from ") && line.contains("seq=");
    is_ours || (line.starts_with("Reply from ") && line.contains(" TTL="))
}

/// Takes a line of a summary; false if it is none.
fn take(ping: &mut Ping, line: &str) -> bool {
    if let Some((sent, received)) = counts(line) {
        (ping.sent, ping.received) = (Some(sent), Some(received));
        return true;
    }
    if let Some(rtt) = times(line) {
        ping.rtt_ms = Some(rtt);
        return true;
    }
    is_answer(line)
        || (line.starts_with("PING ") && line.contains(" data"))
        || line.ends_with("ping statistics ---")
        || line.starts_with("Ping statistics for")
        || line.starts_with("Ping-Statistik")
        || line.starts_with("Approximate round trip")
        || line.starts_with("Ca. Zeitangaben")
        || (line.starts_with('(') && line.contains('%') && line.len() < 30)
}

/// `10 packets transmitted, 8 received, 20% packet loss`; `Packets: Sent = 4, Received = 4, …`.
fn counts(line: &str) -> Option<(u64, u64)> {
    if let Some((sent, rest)) = line.split_once(" packets transmitted, ") {
        return Some((sent.parse().ok()?, count(rest.split_whitespace().next()?)?));
    }
    let after = |mark: &str| count(line.split_once(mark)?.1.split_whitespace().next()?);
    let sent = after("Sent = ").or_else(|| after("Gesendet = "))?;
    Some((
        sent,
        after("Received = ").or_else(|| after("Empfangen = "))?,
    ))
}

/// `rtt min/avg/max/mdev = 0.3/0.4/0.5/0.1 ms`; `Minimum = 0ms, Maximum = 1ms, Average = 0ms`.
fn times(line: &str) -> Option<(f64, f64, f64)> {
    if let Some((_, rest)) = line
        .split_once("min/avg/max")
        .and_then(|(_, rest)| rest.split_once("= "))
    {
        let mut numbers = rest.split_whitespace().next()?.split('/').map(decimal);
        return Some((numbers.next()??, numbers.next()??, numbers.next()??));
    }
    let after = |mark: &str| decimal(line.split_once(mark)?.1.split("ms").next()?.trim());
    let mean = after("Average = ").or_else(|| after("Mittelwert = "))?;
    Some((after("Minimum = ")?, mean, after("Maximum = ")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn ping(text: &str) -> Ping {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        match read(Lines::new(&lines, &looked), Hint::default())
            .unwrap()
            .content[0]
        {
            Content::Ping(ping) => ping,
            _ => panic!(),
        }
    }

    #[test]
    fn every_form() {
        let linux = ping(
            "--- 192.0.2.1 ping statistics ---\n10 packets transmitted, 8 received, 20% packet loss, time 9013ms\nrtt min/avg/max/mdev = 0.311/0.412/0.513/0.100 ms\n",
        );
        assert_eq!(
            linux,
            Ping {
                sent: Some(10),
                received: Some(8),
                rtt_ms: Some((0.311, 0.412, 0.513))
            }
        );
        let windows = ping(
            "Ping statistics for 192.0.2.1:\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\nApproximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 3ms, Average = 1ms\n",
        );
        assert_eq!(
            windows,
            Ping {
                sent: Some(4),
                received: Some(3),
                rtt_ms: Some((0.0, 1.0, 3.0))
            }
        );
        let german = ping(
            "Ping-Statistik für 192.0.2.1:\n    Pakete: Gesendet = 4, Empfangen = 4, Verloren = 0\n    (0% Verlust),\nCa. Zeitangaben in Millisek.:\n    Minimum = 1ms, Maximum = 2ms, Mittelwert = 1ms\n",
        );
        assert_eq!(german.rtt_ms, Some((1.0, 1.0, 2.0)));
    }

    #[test]
    fn answers_belong_to_it_and_errors_do_not() {
        let text = "PING 192.0.2.2 (192.0.2.2) 56(84) bytes of data.\n\
            64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.221 ms\n\
            From 192.0.2.1 icmp_seq=2 Destination Host Unreachable\n";
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!((block.lines, block.content.len()), (2, 0));
    }
}
