// SPDX-License-Identifier: MIT OR Apache-2.0
use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const STREAM: u8 = 1;

fn whole(sequence: u64) -> Frame {
    Frame {
        stream: STREAM,
        sequence,
        condition: Condition::Whole,
    }
}

fn frame() -> impl Strategy<Value = Frame> {
    let condition = prop_oneof![
        8 => Just(Condition::Whole),
        1 => Just(Condition::BadTtl),
        1 => Just(Condition::BadLength),
        1 => Just(Condition::Corrupt),
    ];
    let stream = prop_oneof![9 => Just(STREAM), 1 => any::<u8>()];
    (stream, 1..300_u64, condition).prop_map(|(stream, sequence, condition)| Frame {
        stream,
        sequence,
        condition,
    })
}

proptest! {
    /// Against sets, with everything inside the window.
    #[test]
    fn every_frame_is_counted_once(frames in prop::collection::vec(frame(), 0..600), foreign in 0..5_u64, flows in 1..7_usize) {
        let mut account = DirectionAccount::new(STREAM, flows, 512);
        let mut seen = HashSet::new();
        let (mut copies, mut by_flow) = (0, vec![0; flows]);
        for (now_ns, frame) in (0..).zip(&frames) {
            let whole = frame.stream == STREAM && matches!(frame.condition, Condition::Whole | Condition::BadTtl);
            let is_new = whole && seen.insert(frame.sequence);
            copies += u64::from(whole && !is_new);
            if is_new {
                by_flow[(frame.sequence as usize - 1) % flows] += 1;
            }
            prop_assert_eq!(account.record(frame, now_ns), is_new);
        }
        (0..foreign).for_each(|_| account.record_foreign());
        let totals = account.finish(300);
        let count = |condition| frames.iter().filter(|f| f.stream == STREAM && f.condition == condition).count() as u64;
        prop_assert_eq!(totals.received, seen.len() as u64);
        prop_assert_eq!(totals.offered, totals.received + totals.lost);
        prop_assert_eq!(totals.last_lost, (1..=300).rev().find(|n| !seen.contains(n)));
        prop_assert_eq!(totals.duplicates, copies);
        prop_assert_eq!(totals.misforwarded, frames.iter().filter(|f| f.stream != STREAM).count() as u64);
        prop_assert_eq!(totals.corrupt, count(Condition::Corrupt));
        prop_assert_eq!(totals.bad_length, count(Condition::BadLength));
        prop_assert_eq!(totals.bad_ttl, count(Condition::BadTtl));
        prop_assert_eq!(totals.foreign, foreign);
        prop_assert_eq!(account.received_by_flow(), by_flow);
    }

    #[test]
    fn flows_sum_up_to_what_was_received(sequences in prop::collection::vec(1..2000_u64, 0..200)) {
        let mut account = DirectionAccount::new(STREAM, 3, 64);
        for (now_ns, &sequence) in (0..).zip(&sequences) {
            account.record(&whole(sequence), now_ns);
        }
        let totals = account.finish(2000);
        prop_assert_eq!(account.received_by_flow().iter().sum::<u64>(), totals.received);
    }
}

#[test]
fn a_flow_that_is_lost_shows() {
    let mut account = DirectionAccount::new(STREAM, 2, 64);
    (1..=10).step_by(2).for_each(|n| {
        account.record(&whole(n), n);
    });
    let totals = account.finish(10);
    assert_eq!(account.received_by_flow(), [5, 0]);
    assert_eq!((totals.lost, totals.gaps), (5, 4));
    assert_eq!(totals.last_lost, Some(10), "the tail");
}

#[test]
fn reordered_frames_are_received() {
    let mut account = DirectionAccount::new(STREAM, 1, 64);
    for sequence in [1, 3, 4, 2] {
        account.record(&whole(sequence), 0);
    }
    let totals = account.finish(4);
    assert_eq!((totals.received, totals.lost), (4, 0));
    assert_eq!((totals.reordered, totals.reorder_extent_max), (1, 2));
    assert_eq!(totals.last_lost, None);
}

#[test]
fn more_than_was_sent_is_a_contradiction() {
    let mut account = DirectionAccount::new(STREAM, 1, 64);
    account.record(&whole(1), 0);
    account.record(&whole(2), 0);
    assert!(account.finish(1).contradicted);
}
