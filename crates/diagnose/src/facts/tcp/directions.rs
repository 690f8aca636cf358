// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payload both ways at once, against each way alone.

use std::collections::BTreeSet;

use linerate_model::output::{Direction, Test};

use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let groups = both_ways(record);
    let is_both = |test: &Test| groups.contains(test.group.as_str());
    for test in &record.run.tests {
        let both = is_both(test);
        let mut of_test = fact("both_ways", both, "", "the tests' groups");
        of_test.test_id = Some(test.id.clone());
        facts.add(of_test);
        let alone = record
            .run
            .tests
            .iter()
            .filter(|other| both && !is_both(other));
        if let Some(ratio) = alone_ratio(test, alone) {
            let mut ratio = fact("alone_ratio", ratio, "ratio", "the accounts of both tests");
            ratio.test_id = Some(test.id.clone());
            facts.add(ratio);
        }
    }
}

/// The groups with tests of both directions.
fn both_ways(record: &Record) -> BTreeSet<&str> {
    let of = |direction: Direction| -> BTreeSet<&str> {
        let tests = record
            .run
            .tests
            .iter()
            .filter(|test| test.direction == direction);
        let groups = tests.map(|test| test.group.as_str());
        groups.filter(|group| !group.is_empty()).collect()
    };
    &of(Direction::Up) & &of(Direction::Down)
}

/// Of the best test of the same kind that had the link for itself.
fn alone_ratio<'r>(test: &Test, alone: impl Iterator<Item = &'r Test>) -> Option<f64> {
    let kind = |test: &Test| (test.protocol, test.direction, test.streams);
    let alike = alone.filter(|other| kind(other) == kind(test));
    let best = alike
        .filter_map(|test| test.delivered_bits_per_second)
        .reduce(f64::max)
        .filter(|rate| *rate > 0.0)?;
    Some(test.delivered_bits_per_second? / best)
}
