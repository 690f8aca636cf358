// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a number is put forward as a result, and what it would need for that: length, and repeats
//! that agree.

use linerate_model::output::Test;

use super::account::only_a_rate;
use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let kind = record.run.kind.as_str();
    let claim = record.pasted || CLAIMS.contains(&kind);
    facts.add_to_run("claim", claim, "the command");
    for test in &record.run.tests {
        let step = !record.pasted && SEARCHES.contains(&kind);
        facts.add_to_test(&test.id, "search_step", step, "the command");
        let (spread, source) = (spread(record, test), "the tests' accounts");
        facts.add_to_test(&test.id, "repeat_spread", spread, source);
    }
    environment(record, facts);
}

/// Tests that asked for the same, this one among them.
fn spread(record: &Record, test: &Test) -> Option<f64> {
    let asked = |test: &Test| {
        let requested = test.requested_bits_per_second.map(f64::to_bits);
        (
            test.protocol,
            test.direction,
            test.streams,
            test.payload_bytes,
            requested,
            test.name.clone(),
        )
    };
    let tests = record.run.tests.iter();
    let same = tests.filter(|other| asked(other) == asked(test) && !only_a_rate(other));
    let rates: Vec<f64> = same
        .filter_map(|test| test.delivered_bits_per_second)
        .filter(|rate| *rate > 0.0)
        .collect();
    let (low, high) = rates.iter().fold((f64::MAX, 0.0_f64), |(low, high), rate| {
        (low.min(*rate), high.max(*rate))
    });
    (rates.len() > 1).then(|| high / low - 1.0)
}

/// What is read twice and says something else the second time.
fn environment(record: &Record, facts: &mut Facts) {
    let read = |source: &str| {
        let settings = record.run.settings.iter();
        let of_source = settings.filter(|setting| setting.source == source);
        of_source
            .map(|setting| (setting.host, &setting.values))
            .collect::<Vec<_>>()
    };
    let differs = |source: &&&str| {
        let readings = read(source);
        readings.iter().any(|(host, values)| {
            let mut others = readings.iter().filter(|(other, _)| other == host);
            others.any(|(_, other)| other != values)
        })
    };
    let twice = ENVIRONMENT.iter().any(|source| read(source).len() > 1);
    if twice {
        let different = ENVIRONMENT.iter().filter(differs).count() as f64;
        let source = ENVIRONMENT.join(", ");
        facts.add_to_run("environment_differences", different, &source);
    }
}

const CLAIMS: &[&str] = &["ab", "compare", "tune"];
const SEARCHES: &[&str] = &["check", "sweep"];
const ENVIRONMENT: &[&str] = &["/proc/version", "/proc/cmdline", "/proc/config.gz"];
