// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a socket buffer of the requested size would have held: the runs of lost datagrams say how many came while the
//! granted one was full.
//!
//! Datagrams that are received between two runs show that the reader emptied the granted buffer in between, if they are
//! more than it holds: then the larger one starts empty, too. With fewer, the two runs are one overflow.

use linerate_model::order;
use linerate_model::output::{LossBurst, Test};

use crate::calc::udp_buffer::{datagrams, usual_truesize_bytes};
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use crate::viewpoint::Viewpoint;
use linerate_model::record::Side;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let receives = vantage.side == Some(Side::Receiver);
    let Some(test) = vantage.test.filter(|_| receives) else {
        return;
    };
    let Some(ratio) = absorbed(test) else { return };
    let source = "the test's account, loss_bursts, SO_RCVBUF";
    vantage.add(facts, "buffer_absorbs_ratio", ratio, source);
    let test_only = Viewpoint {
        test_id: Some(test.id.clone()),
        ..Viewpoint::default()
    };
    let dropped = facts.get("lost_at_rx_socket", &test_only);
    let dropped = dropped.and_then(|dropped| dropped.value.number());
    let packets = dropped.map(|dropped| (dropped * ratio).round());
    vantage.add(facts, "buffer_absorbs_packets", packets, source);
}

/// The share of the lost datagrams, 0 … 1: 0 where the kernel granted what was requested.
fn absorbed(test: &Test) -> Option<f64> {
    let buffer = test.receive_buffer_bytes?;
    let (granted, requested) = (buffer.granted?, buffer.asked.or(buffer.granted)?);
    let mut runs = test.loss_bursts.clone();
    // The kernel keeps twice of what it grants.
    let holds = |bytes: u64| datagrams(bytes * 2, usual_truesize_bytes(test.payload_bytes));
    let more = holds(requested).saturating_sub(holds(granted));
    order::by_key(&mut runs, |run| (run.flow, run.first_sequence));
    let lost: u64 = runs.iter().map(|run| run.packets).sum();
    let absorbed: u64 = overflows(&runs, holds(granted))
        .map(|lost| lost.min(more))
        .sum();
    (lost > 0).then(|| absorbed as f64 / lost as f64)
}

/// How many datagrams each overflow of a buffer that holds `held` lost.
fn overflows(runs: &[LossBurst], held: u64) -> impl Iterator<Item = u64> {
    let apart = move |one: &LossBurst, next: &LossBurst| {
        let received = next
            .first_sequence
            .saturating_sub(one.first_sequence + one.packets);
        one.flow != next.flow || received > held
    };
    let rows = runs.chunk_by(move |one, next| !apart(one, next));
    rows.map(|row| row.iter().map(|run| run.packets).sum())
}

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

    fn total(runs: &[LossBurst]) -> u64 {
        runs.iter().map(|run| run.packets).sum()
    }

    proptest! {
        /// As many as a larger buffer saves in the same turns, but for the few that arrive while the reader wakes up.
        #[test]
        fn what_a_larger_buffer_holds_is_what_it_saves(
            turns in prop::collection::vec((1_u64..300, 300_u64..600), 1..8),
            granted in 4_u64..40,
            more in 1_u64..400,
        ) {
            let small = lost_by(&turns, granted);
            let large = lost_by(&turns, granted + more);
            let saved = total(&small) - total(&large);
            let said: u64 = overflows(&small, granted).map(|lost| lost.min(more)).sum();
            let slack = turns.len() as u64 * 4;
            prop_assert!(said.abs_diff(saved) <= slack, "{} said, {} saved", said, saved);
        }
    }

    #[test]
    fn a_steady_overload_is_one_overflow() {
        let test = |granted: u64, gap: u64| Test {
            payload_bytes: 1448,
            receive_buffer_bytes: Some(ReceiveBuffer {
                asked: Some(4 << 20),
                granted: Some(granted),
            }),
            loss_bursts: (0..20_000)
                .map(|run| LossBurst {
                    first_sequence: run * (gap + 2),
                    packets: 2,
                    ..LossBurst::default()
                })
                .collect(),
            ..Test::default()
        };
        let steady = absorbed(&test(16_384, 8)).unwrap();
        assert!(steady < 0.1, "{steady}");
        assert_eq!(absorbed(&test(16_384, 800)), Some(1.0));
        assert_eq!(absorbed(&test(4 << 20, 800)), Some(0.0));
        assert_eq!(absorbed(&Test::default()), None);
    }
}
