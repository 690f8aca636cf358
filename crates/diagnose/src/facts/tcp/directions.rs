// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payload both ways at once, against each way alone.

use linerate_model::output::Test;

use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in &record.run.tests {
        let both = both_ways(record, test);
        let mut of_test = fact("both_ways", both, "", "the tests' groups");
        of_test.test_id = Some(test.id.clone());
        facts.add(of_test);
        if let (true, Some(ratio)) = (both, alone_ratio(record, test)) {
            let mut ratio = fact("alone_ratio", ratio, "ratio", "the accounts of both tests");
            ratio.test_id = Some(test.id.clone());
            facts.add(ratio);
        }
    }
}

fn both_ways(record: &Record, test: &Test) -> bool {
    let with = |other: &Test| other.group == test.group && other.direction != test.direction;
    !test.group.is_empty() && record.run.tests.iter().any(with)
}

/// Of the best test of the same kind that had the link for itself.
fn alone_ratio(record: &Record, test: &Test) -> Option<f64> {
    let alike = record.run.tests.iter().filter(|other| {
        !both_ways(record, other)
            && other.protocol == test.protocol
            && other.direction == test.direction
            && other.streams == test.streams
    });
    let alone = alike
        .filter_map(|test| test.delivered_bits_per_second)
        .reduce(f64::max)
        .filter(|rate| *rate > 0.0)?;
    Some(test.delivered_bits_per_second? / alone)
}
