// SPDX-License-Identifier: MIT OR Apache-2.0
//! One interval of all streams of a direction, from the sender's and the receiver's half.

use super::rate;
use crate::account::{RxInterval, TxInterval};
use linerate_model::output::{Direction, Interval};

/// One interval of one end, a part a stream: of its senders, and of its receivers.
pub(crate) type Halves<'a> = (Vec<&'a TxInterval>, Vec<&'a RxInterval>);

/// An interval that this side has cut, up and down, as far as it knows it alone.
pub(crate) fn live(sent: &[&TxInterval], received: &[&RxInterval]) -> Vec<(Direction, Interval)> {
    let own = (sent.to_vec(), received.to_vec());
    live_at_both_ends(&own, &Halves::default(), true)
}

/// An interval that this side has cut, up and down, with the far end's half of it as far as it is
/// known by now.
pub(crate) fn live_at_both_ends(
    own: &Halves<'_>,
    far: &Halves<'_>,
    udp: bool,
) -> Vec<(Direction, Interval)> {
    let up = both_ends(&own.0, &far.1, udp).filter(|_| !own.0.is_empty());
    let down = both_ends(&far.0, &own.1, udp).filter(|_| !own.1.is_empty());
    let up = up.map(|interval| (Direction::Up, interval));
    let down = down.map(|interval| (Direction::Down, interval));
    up.into_iter().chain(down).collect()
}

/// The same, stream by stream; `streams` are ids, and whether this side sends. Both ends have their streams in this order.
pub(crate) fn live_by_stream(
    streams: impl Iterator<Item = (u32, bool)>,
    own: &Halves<'_>,
    far: &Halves<'_>,
    udp: bool,
) -> Vec<(u32, Direction, Interval)> {
    let [mut up, mut down] = [0..own.0.len(), 0..own.1.len()];
    let mut all = Vec::new();
    for (id, sends) in streams {
        let place = if sends { up.next() } else { down.next() };
        let Some(at) = place else { continue };
        let sent = if sends { &own.0 } else { &far.0 };
        let received = if sends { &far.1 } else { &own.1 };
        let sent = sent.get(at..=at).unwrap_or_default();
        let received = received.get(at..=at).unwrap_or_default();
        let interval = both_ends(sent, received, udp);
        let way = if sends {
            Direction::Up
        } else {
            Direction::Down
        };
        all.extend(interval.map(|interval| (id, way, interval)));
    }
    all
}

/// Sender's and receiver's parts in one; each end cuts by its own clock from its own start signal.
pub(super) fn both_ends(
    sent: &[&TxInterval],
    received: &[&RxInterval],
    udp: bool,
) -> Option<Interval> {
    let tx = sent
        .first()
        .map(|first| sum_tx(first.start_ns, first.end_ns, sent));
    let rx = received
        .first()
        .map(|first| sum_rx(first.start_ns, first.end_ns, received));
    match (tx, rx) {
        (Some(tx), Some(rx)) => Some(Interval {
            received_bits_per_second: rx.received_bits_per_second,
            lost_packets: rx.lost_packets.filter(|_| udp),
            sent_packets: tx.sent_packets.filter(|_| udp),
            ..tx
        }),
        (one, None) | (None, one) => one,
    }
}

fn sum_tx(start_ns: u64, end_ns: u64, parts: &[&TxInterval]) -> Interval {
    let bytes = parts.iter().map(|part| part.bytes).sum();
    Interval {
        start_s: start_ns as f64 / 1e9,
        end_s: end_ns as f64 / 1e9,
        sent_bits_per_second: Some(rate(bytes, end_ns.saturating_sub(start_ns))),
        sent_packets: Some(parts.iter().map(|part| part.packets).sum()),
        retransmits: parts.iter().map(|part| part.retransmits).sum(),
        cwnd_bytes: parts.iter().map(|part| part.cwnd_bytes).sum(),
        rtt_ns: parts.iter().filter_map(|part| part.rtt_ns).max(),
        ..Interval::default()
    }
}

fn sum_rx(start_ns: u64, end_ns: u64, parts: &[&RxInterval]) -> Interval {
    let bytes = parts.iter().map(|part| part.bytes).sum();
    Interval {
        start_s: start_ns as f64 / 1e9,
        end_s: end_ns as f64 / 1e9,
        received_bits_per_second: Some(rate(bytes, end_ns.saturating_sub(start_ns))),
        lost_packets: Some(parts.iter().map(|part| part.lost).sum()),
        ..Interval::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TX: TxInterval = TxInterval {
        start_ns: 0,
        end_ns: 1_000_000_000,
        bytes: 125_000,
        packets: 100,
        retransmits: None,
        cwnd_bytes: None,
        rtt_ns: None,
    };
    const RX: RxInterval = RxInterval {
        start_ns: 0,
        end_ns: 1_000_000_000,
        bytes: 112_500,
        packets: 90,
        lost: 10,
    };

    #[test]
    fn the_far_half_is_added_where_it_is_known() {
        let up = |far: &Halves<'_>| live_at_both_ends(&(vec![&TX, &TX], vec![]), far, true);
        let alone = live(&[&TX, &TX], &[]);
        assert_eq!(alone.len(), 1);
        assert_eq!(alone[0].1.sent_bits_per_second, Some(2e6));
        assert_eq!(alone[0].1.received_bits_per_second, None);
        let both = up(&(vec![], vec![&RX, &RX]));
        assert_eq!(both[0].0, Direction::Up);
        assert_eq!(both[0].1.received_bits_per_second, Some(1.8e6));
        let packets = (both[0].1.lost_packets, both[0].1.sent_packets);
        assert_eq!(packets, (Some(20), Some(200)));
    }

    #[test]
    fn each_direction_has_its_sender_and_its_receiver() {
        let halves = || (vec![&TX], vec![&RX]);
        let ways = live_at_both_ends(&halves(), &halves(), true);
        assert_eq!(ways.len(), 2);
        for (_, interval) in &ways {
            assert_eq!(interval.received_bits_per_second, Some(0.9e6));
            assert_eq!(interval.sent_packets, Some(100));
        }
        let own_down = live(&[], &[&RX]);
        assert_eq!((own_down[0].0, own_down.len()), (Direction::Down, 1));
    }
}
