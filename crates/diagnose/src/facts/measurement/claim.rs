// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a number is put forward as a result, and what it would need for that: length, and repeats
//! that agree.

use linerate_model::map::Map;
use linerate_model::output::{Direction, Protocol, Test};

use super::account::only_a_rate;
use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let kind = record.run.kind.as_str();
    let claim = record.pasted || CLAIMS.contains(&kind);
    facts.add_to_run("claim", claim, "the command");
    let rates = Rates::of(record);
    for test in record.tests() {
        let step = !record.pasted && SEARCHES.contains(&kind);
        facts.add_to_test(&test.id, "search_step", step, "the command");
        let above = record.run.knees.iter().any(|knee| knee.is_below(test));
        facts.add_to_test(&test.id, "above_knee", above, "the search");
        let (spread, source) = (rates.spread(test), "the tests' accounts");
        facts.add_to_test(&test.id, "repeat_spread", spread, source);
    }
    environment(record, facts);
}

/// What tests that asked for the same delivered, by what they asked for.
struct Rates<'r> {
    delivered: Map<Asked<'r>, Vec<f64>>,
}

/// Name, streams, payload, requested rate; protocol and direction.
type Asked<'r> = (&'r str, u32, u32, Option<u64>, (bool, bool));

fn asked(test: &Test) -> Asked<'_> {
    let way = (
        test.protocol == Protocol::Udp,
        test.direction == Direction::Up,
    );
    let requested = test.requested_bits_per_second.map(f64::to_bits);
    (&test.name, test.streams, test.payload_bytes, requested, way)
}

impl<'r> Rates<'r> {
    fn of(record: &'r Record) -> Self {
        let mut delivered: Map<Asked<'r>, Vec<f64>> = Map::new();
        for test in record.tests().filter(|test| !only_a_rate(test)) {
            let rate = test.delivered_bits_per_second.filter(|rate| *rate > 0.0);
            delivered.entry(asked(test)).or_default().extend(rate);
        }
        Self { delivered }
    }

    /// How far apart they are.
    fn spread(&self, test: &Test) -> Option<f64> {
        let rates = self.delivered.get(&asked(test))?;
        let low = rates.iter().copied().fold(f64::MAX, f64::min);
        let high = rates.iter().copied().fold(0.0, f64::max);
        (rates.len() > 1).then(|| high / low - 1.0)
    }
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
