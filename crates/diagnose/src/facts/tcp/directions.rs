// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payload both ways at once, against each way alone.

use std::collections::BTreeSet;

use linerate_model::output::{Direction, Test};

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let groups = both_ways(record);
    let is_both = |test: &&Test| groups.contains(test.group.as_str());
    let tests = record.run.tests.iter();
    let alone: Vec<&Test> = tests.filter(|test| !is_both(test)).collect();
    for test in &record.run.tests {
        let both = is_both(&test);
        facts.add_to_test(&test.id, "both_ways", both, "the tests' groups");
        let alone = alone.iter().copied().filter(|_| both);
        let ratio = alone_ratio(test, alone);
        let source = "the accounts of both tests";
        facts.add_to_test(&test.id, "alone_ratio", ratio, source);
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
