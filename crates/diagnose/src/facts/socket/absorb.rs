// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a socket buffer of the requested size would have held: the runs of lost datagrams say how many came while the
//! granted one was full.
//!
//! After a run the granted buffer is full, so each datagram that is received before the next run shows that the reader
//! read one. A reader that keeps up for long is faster than the datagrams come, and empties even a larger buffer: then
//! each run is an overflow of its own. Else the runs are one overflow, of which a larger buffer holds its places: a reader
//! that is a little too slow loses one datagram now and then, and would fill any buffer.

use linerate_model::order;
use linerate_model::output::{LossBurst, Test};

use crate::calc::udp_buffer::{datagrams, usual_truesize_bytes};
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::Side;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let receives = vantage.side == Some(Side::Receiver);
    let Some(test) = vantage.test.filter(|_| receives) else {
        return;
    };
    let Some(absorbed) = Absorbed::of(test) else {
        return;
    };
    let dropped = facts.of_test(&test.id, "lost_at_rx_socket");
    let source = "the test's account, loss_bursts, SO_RCVBUF";
    let lost = test
        .lost_packets
        .map_or(absorbed.listed, |lost| lost as f64);
    let at_socket = absorbed.at_socket(dropped.unwrap_or(lost), lost);
    vantage.add(facts, "buffer_absorbs_ratio", at_socket.ratio, source);
    let most = at_socket.most_ratio;
    vantage.add(facts, "most_buffer_absorbs_ratio", most, source);
    let packets = dropped.map(|_| at_socket.packets);
    vantage.add(facts, "buffer_absorbs_packets", packets, source);
}

/// Of the lost datagrams.
#[derive(Debug, Clone, Copy)]
struct Absorbed {
    /// Those of the runs; a test lists only its first.
    listed: f64,
    /// Those that a larger buffer would have held: none where the kernel granted what was requested.
    sure: f64,
    /// Those that it would have held if the reader caught up after every run.
    most: f64,
}

/// Of the datagrams that the socket dropped.
struct AtSocket {
    packets: f64,
    /// `None` where others were lost elsewhere, and could be either.
    ratio: Option<f64>,
    most_ratio: Option<f64>,
}

impl Absorbed {
    /// Of a test that lost `lost`; `None` where no run is known, or no buffer.
    fn of(test: &Test) -> Option<Self> {
        let buffer = test.receive_buffer_bytes?;
        let (granted, requested) = (buffer.granted?, buffer.asked.or(buffer.granted)?);
        // The kernel keeps twice of what it grants.
        let holds = |bytes: u64| {
            datagrams(
                bytes.saturating_mul(2),
                usual_truesize_bytes(test.payload_bytes),
            )
        };
        let more = holds(requested).saturating_sub(holds(granted));
        let mut runs = test.loss_bursts.clone();
        order::by_key(&mut runs, |run| (run.flow, run.first_sequence));
        let listed = sum(&runs) as f64;
        let all = test.lost_packets.map_or(listed, |lost| lost as f64);
        let unlisted = (all / listed).max(1.0);
        let held = |empties: u64| {
            let flows = runs.chunk_by(|one, next| one.flow == next.flow);
            flows
                .map(|flow| held_of(flow, empties, more as f64, unlisted))
                .sum()
        };
        (listed > 0.0).then(|| Self {
            listed,
            sure: held(holds(requested).max(KEEPS_UP)),
            most: held(holds(granted)),
        })
    }

    /// Where the socket dropped `dropped` of all that were `lost`: the runs do not say which.
    fn at_socket(self, dropped: f64, lost: f64) -> AtSocket {
        let elsewhere = (lost - dropped).max(0.0);
        let (least, packets) = ((self.sure - elsewhere).max(0.0), self.sure.min(dropped));
        let of_dropped = |packets: f64| (dropped > 0.0).then(|| packets / dropped);
        let sure = packets - least <= dropped * UNSURE;
        AtSocket {
            packets: packets.round(),
            ratio: of_dropped(packets).filter(|_| sure),
            most_ratio: of_dropped(self.most.min(dropped)),
        }
    }
}

/// What `more` places hold of the runs of a flow, and of `unlisted` times as many. A reader that received more than
/// `empties` between two runs emptied the buffer.
fn held_of(flow: &[LossBurst], empties: u64, more: f64, unlisted: f64) -> f64 {
    let rows: Vec<f64> = overflows(flow, empties).map(|lost| lost as f64).collect();
    match rows.as_slice() {
        [only] => (only * unlisted).min(more),
        rows => rows.iter().map(|lost| lost.min(more)).sum::<f64>() * unlisted,
    }
}

fn sum(runs: &[LossBurst]) -> u64 {
    let packets = runs.iter().map(|run| run.packets);
    packets.fold(0, u64::saturating_add)
}

/// How many datagrams each overflow of a flow lost: there are more than `empties` between two.
fn overflows(runs: &[LossBurst], empties: u64) -> impl Iterator<Item = u64> {
    let apart = move |one: &LossBurst, next: &LossBurst| {
        let received = next
            .first_sequence
            .saturating_sub(one.first_sequence.saturating_add(one.packets));
        received > empties
    };
    let rows = runs.chunk_by(move |one, next| !apart(one, next));
    rows.map(sum)
}

/// A reader that keeps up for this many datagrams is not a little too slow.
const KEEPS_UP: u64 = 1000;
/// Of the datagrams that the socket dropped, those that may not be of the runs that a buffer holds.
const UNSURE: f64 = 0.12;

#[cfg(test)]
mod tests {
    use linerate_model::output::ReceiveBuffer;
    use proptest::prelude::*;

    use super::*;

    /// A reader that sleeps and reads by turns behind a buffer of `places`: the runs of datagrams that are lost.
    fn lost_by(turns: &[(u64, u64)], places: u64) -> Vec<LossBurst> {
        let (mut queued, mut sequence) = (0_u64, 0_u64);
        let mut runs: Vec<LossBurst> = Vec::new();
        let step = |reads: u64, queued: &mut u64, runs: &mut Vec<LossBurst>, sequence: u64| {
            *queued = queued.saturating_sub(reads);
            if *queued < places {
                *queued += 1;
                return;
            }
            match runs.last_mut() {
                Some(run) if run.first_sequence + run.packets == sequence => run.packets += 1,
                _ => runs.push(LossBurst {
                    first_sequence: sequence,
                    packets: 1,
                    ..LossBurst::default()
                }),
            }
        };
        for (asleep, awake) in turns {
            for arrival in 0..asleep + awake {
                sequence += 1;
                let reads = if arrival < *asleep { 0 } else { 4 };
                step(reads, &mut queued, &mut runs, sequence);
            }
        }
        runs
    }

    /// A reader at 99 % of the rate, behind a buffer of `places`.
    fn lost_by_a_slow_reader(arrivals: u64, places: u64) -> Vec<LossBurst> {
        let mut queued = 0_u64;
        let mut runs = Vec::new();
        for first_sequence in 0..arrivals {
            queued = queued.saturating_sub(u64::from(first_sequence % 100 != 0));
            if queued < places {
                queued += 1;
                continue;
            }
            runs.push(LossBurst {
                first_sequence,
                packets: 1,
                ..LossBurst::default()
            });
        }
        runs
    }

    const NOTHING: Absorbed = Absorbed {
        listed: 0.0,
        sure: 0.0,
        most: 0.0,
    };

    fn apart(said: f64, saved: u64) -> f64 {
        (said - saved as f64).abs()
    }

    fn total(runs: &[LossBurst]) -> u64 {
        runs.iter().map(|run| run.packets).sum()
    }

    fn test_of(runs: Vec<LossBurst>, granted: u64, requested: u64) -> Test {
        let kept = usual_truesize_bytes(1448) / 2;
        Test {
            payload_bytes: 1448,
            receive_buffer_bytes: Some(ReceiveBuffer {
                asked: Some(requested * kept),
                granted: Some(granted * kept),
            }),
            loss_bursts: runs,
            ..Test::default()
        }
    }

    proptest! {
        /// As many as a larger buffer saves in the same turns, but for the few that arrive while the reader wakes up.
        #[test]
        fn what_a_larger_buffer_holds_is_what_it_saves(
            turns in prop::collection::vec((1_u64..300, 1400_u64..1800), 1..8),
            granted in 4_u64..40,
            more in 1_u64..400,
        ) {
            let small = lost_by(&turns, granted);
            let large = lost_by(&turns, granted + more);
            let saved = total(&small) - total(&large);
            let said = Absorbed::of(&test_of(small, granted, granted + more));
            let said = said.unwrap_or(NOTHING);
            let slack = turns.len() as u64 * 4;
            prop_assert!(apart(said.sure, saved) <= slack as f64, "{:?}, {} saved", said, saved);
            prop_assert!(apart(said.most, saved) <= slack as f64, "{:?}, {} saved", said, saved);
        }

        /// No more than it saves, where the reader may not have caught up.
        #[test]
        fn no_more_is_sure_than_what_a_larger_buffer_saves(
            turns in prop::collection::vec((1_u64..300, 0_u64..600), 1..8),
            granted in 4_u64..40,
            more in 1_u64..400,
        ) {
            let small = lost_by(&turns, granted);
            let saved = total(&small) - total(&lost_by(&turns, granted + more));
            let said = Absorbed::of(&test_of(small, granted, granted + more));
            let (sure, most) = said.map_or((0.0, 0.0), |said| (said.sure, said.most));
            prop_assert!(sure <= saved as f64, "{:?}, {} saved", said, saved);
            prop_assert!(sure <= most);
        }

        /// A reader that is a little too slow empties no buffer.
        #[test]
        fn a_larger_buffer_saves_a_slow_reader_its_places(granted in 4_u64..40, more in 1_u64..4000) {
            let arrivals = 200_000;
            let (small, large) = (
                lost_by_a_slow_reader(arrivals, granted),
                lost_by_a_slow_reader(arrivals, granted + more),
            );
            let saved = total(&small) - total(&large);
            let said = Absorbed::of(&test_of(small, granted, granted + more)).unwrap();
            prop_assert!(apart(said.sure, saved) <= 1.0, "{:?}, {} saved", said, saved);
        }
    }

    #[test]
    fn a_steady_overload_is_one_overflow() {
        let absorbed = |granted: u64, gap: u64| {
            let two_lost = |run| LossBurst {
                first_sequence: run * (gap + 2),
                packets: 2,
                ..LossBurst::default()
            };
            let runs = (0..20_000).map(two_lost).collect();
            let absorbed = Absorbed::of(&test_of(runs, granted, 3640)).unwrap();
            (absorbed.sure, absorbed.most)
        };
        assert_eq!(absorbed(14, 8), (3626.0, 3626.0));
        assert_eq!(absorbed(14, 800), (3626.0, 40_000.0));
        assert_eq!(absorbed(14, 4000), (40_000.0, 40_000.0));
        assert_eq!(absorbed(3640, 4000), (0.0, 0.0));
        assert!(Absorbed::of(&Test::default()).is_none());
    }
}
