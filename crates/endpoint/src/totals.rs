// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one end counted over all streams of a test: for a server's log and its metrics.

use crate::account::StreamAccount;
use crate::plan::Direction;
use linerate_model::output::Protocol;
use linerate_model::units::{BitsPerSecond, Bytes};

/// The sums; `None`: this end did not receive, or did not send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) received: Option<Amount>,
    pub(crate) sent: Option<Amount>,
    /// Of the datagrams that this end was to receive.
    pub(crate) lost: u64,
    /// Of the segments that this end sent.
    pub(crate) retransmits: u64,
}

/// What passed in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) bytes: u64,
    /// Datagrams, or writes.
    pub(crate) packets: u64,
    pub(crate) duration_ns: u64,
}

impl Totals {
    /// The sums over `streams`.
    pub(crate) fn of(streams: &[StreamAccount]) -> Self {
        let mut totals = Self::default();
        for stream in streams {
            if let Some(rx) = &stream.rx {
                add(&mut totals.received, rx.bytes, rx.packets, rx.duration_ns);
                totals.lost += rx.sequence.map_or(0, |sequence| sequence.lost);
            }
            if let Some(tx) = &stream.tx {
                add(&mut totals.sent, tx.bytes, tx.packets, tx.duration_ns);
                totals.retransmits += tx.retransmits.unwrap_or(0);
            }
        }
        totals
    }

    /// Those of one stream that this end only received (up) or only sent.
    pub(crate) fn of_one(direction: Direction, amount: Amount, lost: u64) -> Self {
        let is = |wanted| (direction == wanted).then_some(amount);
        Self {
            received: is(Direction::Up),
            sent: is(Direction::Down),
            lost,
            retransmits: 0,
        }
    }

    /// One line for the server's log.
    pub(crate) fn line(&self, protocol: Protocol, streams: u32) -> String {
        let (name, udp) = match protocol {
            Protocol::Udp => ("UDP", true),
            Protocol::Tcp => ("TCP", false),
        };
        let plural = if streams == 1 { "" } else { "s" };
        let mut line = format!("done: {name}, {streams} stream{plural}");
        if let Some(amount) = &self.received {
            line.push_str(&format!(", received {}", amount.text()));
            if udp {
                let expected = amount.packets.saturating_add(self.lost);
                line.push_str(&format!(", {} of {expected} datagrams lost", self.lost));
            }
        }
        if let Some(amount) = &self.sent {
            line.push_str(&format!(", sent {}", amount.text()));
        }
        line
    }
}

impl Amount {
    /// The payload rate; `None`: no time passed.
    pub(crate) fn bits_per_second(&self) -> Option<f64> {
        let bits_per_ns = self.bytes as f64 * 8.0 / self.duration_ns as f64;
        (self.duration_ns > 0).then_some(bits_per_ns * 1e9)
    }

    fn text(&self) -> String {
        format!("{}{}", Bytes(self.bytes), self.rate(" at "))
    }

    /// The rate as text, if it is known.
    pub(crate) fn rate(&self, before: &str) -> String {
        let rate = self.bits_per_second().map(BitsPerSecond);
        rate.map_or_else(String::new, |rate| format!("{before}{rate}"))
    }
}

fn add(sum: &mut Option<Amount>, bytes: u64, packets: u64, duration_ns: u64) {
    let sum = sum.get_or_insert_default();
    sum.bytes = sum.bytes.saturating_add(bytes);
    sum.packets = sum.packets.saturating_add(packets);
    sum.duration_ns = sum.duration_ns.max(duration_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{RxAccount, TxAccount};
    use linerate_method::sequence::SequenceTotals;

    fn received(bytes: u64, packets: u64, lost: u64) -> StreamAccount {
        StreamAccount {
            rx: Some(RxAccount {
                bytes,
                packets,
                duration_ns: 2_000_000_000,
                sequence: Some(SequenceTotals {
                    lost,
                    ..SequenceTotals::default()
                }),
                ..RxAccount::default()
            }),
            ..StreamAccount::default()
        }
    }

    fn sent(bytes: u64, duration_ns: u64) -> StreamAccount {
        StreamAccount {
            tx: Some(TxAccount {
                bytes,
                duration_ns,
                retransmits: Some(3),
                ..TxAccount::default()
            }),
            ..StreamAccount::default()
        }
    }

    #[test]
    fn lines() {
        for (streams, protocol, expected) in [
            (
                vec![sent(1_926_365_184, 10_000_000_000)],
                Protocol::Tcp,
                "done: TCP, 1 stream, sent 1.794 GiB at 1.541 Gbit/s",
            ),
            (
                vec![
                    received(1_000_000, 1000, 3),
                    received(1_000_000, 1000, 0),
                    sent(0, 0),
                ],
                Protocol::Udp,
                "done: UDP, 3 streams, received 1.907 MiB at 8.000 Mbit/s, 3 of 2003 datagrams lost, sent 0 bytes",
            ),
            (vec![], Protocol::Udp, "done: UDP, 0 streams"),
        ] {
            let count = streams.len() as u32;
            assert_eq!(Totals::of(&streams).line(protocol, count), expected);
        }
        assert_eq!(Totals::of(&[sent(0, 0), sent(0, 0)]).retransmits, 6);
    }
}
