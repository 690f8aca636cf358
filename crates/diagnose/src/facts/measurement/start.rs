// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses that come with the start of a test rather than with its rate.

use linerate_model::output::Test;

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in &record.run.tests {
        let (share, source) = (start_share(test), "the test's account, loss_bursts");
        facts.add_to_test(&test.id, "start_loss_share", share, source);
        let same = same_count(record, test);
        facts.add_to_test(&test.id, "same_count_lost", same, "the tests' accounts");
    }
}

fn start_share(test: &Test) -> Option<f64> {
    let lost = test.lost_packets.filter(|lost| *lost > 0)? as f64;
    let first: u64 = test
        .loss_bursts
        .iter()
        .filter(|run| run.at_s < test.duration_s * START)
        .map(|run| run.packets)
        .sum();
    (!test.loss_bursts.is_empty()).then_some(first as f64 / lost)
}

/// A rate that is too high loses a share; what happens once at the start costs the same number each time.
fn same_count(record: &Record, test: &Test) -> Option<bool> {
    let lost = |test: &Test| {
        Some((
            test.lost_packets.filter(|lost| *lost >= FEWEST)? as f64,
            test.sent_packets? as f64,
        ))
    };
    let (count, _) = lost(test)?;
    let same_way =
        |other: &&Test| other.direction == test.direction && other.protocol == test.protocol;
    let alike: Vec<(f64, f64)> = record
        .run
        .tests
        .iter()
        .filter(same_way)
        .filter_map(lost)
        .filter(|(other, _)| (other / count - 1.0).abs() < ALIKE)
        .collect();
    let sent = |pick: fn(f64, f64) -> f64| alike.iter().map(|(_, sent)| *sent).reduce(pick);
    let apart = sent(f64::max)? > sent(f64::min)? * APART;
    Some(alike.len() >= 3 && apart)
}

/// The first part of a test.
const START: f64 = 0.05;
const FEWEST: u64 = 50;
const ALIKE: f64 = 0.03;
const APART: f64 = 1.2;
