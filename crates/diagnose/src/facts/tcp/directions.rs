// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payload both ways at once, against each way alone.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::output::{Direction, Protocol, Test};

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let groups = both_ways(record);
    let is_both = |test: &Test| groups.contains(test.group.as_str());
    // The best test of each kind that had the link for itself.
    let mut alone: Map<Kind, f64> = Map::new();
    for test in record.tests().filter(|test| !is_both(test)) {
        let best = alone.entry(kind(test)).or_default();
        *best = best.max(test.delivered_bits_per_second.unwrap_or(0.0));
    }
    for test in record.tests() {
        let both = is_both(test);
        facts.add_to_test(&test.id, "both_ways", both, "the tests' groups");
        let best = alone.get(&kind(test)).copied();
        let best = best.filter(|best| both && *best > 0.0);
        let ratio = test.delivered_bits_per_second.zip(best);
        let ratio = ratio.map(|(rate, best)| rate / best);
        let source = "the accounts of both tests";
        facts.add_to_test(&test.id, "alone_ratio", ratio, source);
    }
}

/// UDP, down, and the streams.
type Kind = (bool, bool, u32);

fn kind(test: &Test) -> Kind {
    (
        test.protocol == Protocol::Udp,
        test.direction == Direction::Down,
        test.streams,
    )
}

/// The groups with tests of both directions.
pub(super) fn both_ways(record: &Record) -> BTreeSet<&str> {
    let of = |direction: Direction| -> BTreeSet<&str> {
        let tests = record.tests().filter(|test| test.direction == direction);
        let groups = tests.map(|test| test.group.as_str());
        groups.filter(|group| !group.is_empty()).collect()
    };
    &of(Direction::Up) & &of(Direction::Down)
}
