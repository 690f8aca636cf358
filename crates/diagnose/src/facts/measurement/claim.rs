// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a number is put forward as a result, and what it would need for that: length, and repeats
//! that agree.

use linerate_model::output::Test;

use super::account::only_a_rate;
use super::of_test;
use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let kind = record.run.kind.as_str();
    let claim = record.pasted || CLAIMS.contains(&kind);
    facts.add(fact("claim", claim, "", "the command"));
    for test in &record.run.tests {
        let step = !record.pasted && SEARCHES.contains(&kind);
        facts.add(of_test(test, "search_step", step, "", "the command"));
        if let Some(spread) = spread(record, test) {
            facts.add(of_test(
                test,
                "repeat_spread",
                spread,
                "ratio",
                "the tests' accounts",
            ));
        }
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
        let settings = record
            .run
            .settings
            .iter()
            .filter(move |setting| setting.source == source);
        settings
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
        let different = ENVIRONMENT.iter().filter(differs).count();
        facts.add(fact(
            "environment_differences",
            different as f64,
            "",
            &ENVIRONMENT.join(", "),
        ));
    }
}

const CLAIMS: &[&str] = &["ab", "compare", "tune"];
const SEARCHES: &[&str] = &["check", "sweep"];
const ENVIRONMENT: &[&str] = &["/proc/version", "/proc/cmdline", "/proc/config.gz"];
