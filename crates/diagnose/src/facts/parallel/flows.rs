// SPDX-License-Identifier: MIT OR Apache-2.0
//! How even the streams of a test are, and how likely some of them share a queue.

use linerate_model::output::Test;

use super::queues;
use crate::calc::flow_hash::{collision_probability, expected_distinct_queues, expected_max_load};
use crate::evidence::Evidence;
use crate::facts::vantage::Vantage;
use crate::facts::{Facts, fact};
use linerate_model::record::{Record, Side};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    of_one_flow(record, facts);
    for test in &record.run.tests {
        let rates: Vec<f64> = test
            .flows
            .iter()
            .filter_map(|flow| flow.delivered_bits_per_second)
            .collect();
        if rates.len() < 2 {
            continue;
        }
        let mut add = |name: &str, value: f64, unit: &str, source: &str| {
            let mut fact = fact(name, value, unit, source);
            fact.test_id = Some(test.id.clone());
            facts.add(fact);
        };
        add("flows", rates.len() as f64, "", ACCOUNT);
        let slowest = rates.iter().copied().fold(f64::MAX, f64::min);
        if slowest > 0.0 {
            let fastest = rates.iter().copied().fold(0.0, f64::max);
            add("flow_spread", fastest / slowest, "ratio", ACCOUNT);
        }
        if let Some(partly) = add_up_partly(record, test, rates.len()) {
            let mut fact = fact(
                "flows_add_up_partly",
                partly,
                "",
                "the accounts of all tests",
            );
            fact.test_id = Some(test.id.clone());
            facts.add(fact);
        }
        let flows = u32::try_from(rates.len()).unwrap_or(u32::MAX);
        let Some(queues) = queues::of(
            &Vantage::end(evidence, test, Side::Receiver),
            facts_of_interrupts(facts),
        ) else {
            continue;
        };
        let source = "streams and queues, each alike likely";
        for (name, unit, value) in [
            (
                "collision_probability",
                "ratio",
                collision_probability(flows, queues),
            ),
            (
                "expected_distinct_queues",
                "",
                expected_distinct_queues(flows, queues),
            ),
            (
                "expected_max_load",
                "flows",
                expected_max_load(flows, queues),
            ),
        ] {
            if let Some(value) = value {
                let mut fact = fact(name, value, unit, source);
                fact.test_id = Some(test.id.clone());
                facts.add(fact);
            }
        }
    }
}

/// How many times as much several flows carry as one, in a table that tells each flow: of the one flow of the same table.
fn of_one_flow(record: &Record, facts: &mut Facts) {
    let title = |test: &Test| Some(test.name.strip_suffix("1 flow")?.trim_end().to_owned());
    for single in record
        .run
        .tests
        .iter()
        .filter(|test| record.pasted && test.streams == 1)
    {
        let Some((title, rate)) = title(single).zip(single.delivered_bits_per_second) else {
            continue;
        };
        let same = |other: &&Test| {
            other.streams > 1
                && other
                    .name
                    .strip_prefix(&title)
                    .is_some_and(|rest| rest.ends_with(" flows"))
        };
        let most = record.run.tests.iter().filter(same);
        let most = most
            .filter_map(|test| test.delivered_bits_per_second)
            .reduce(f64::max);
        if let Some(most) = most.filter(|_| rate > 0.0) {
            let mut fact = fact(
                "flows_of_one_flow",
                most / rate,
                "ratio",
                "the accounts of all tests",
            );
            fact.test_id = Some(single.id.clone());
            facts.add(fact);
        }
    }
}

/// Against one flow of the same kind: a link that one flow fills is not faster with several.
fn add_up_partly(record: &Record, test: &Test, flows: usize) -> Option<bool> {
    let table = |test: &Test| {
        Some(
            test.name
                .split_once(" flow")?
                .0
                .rsplit_once(' ')?
                .0
                .to_owned(),
        )
    };
    let single = record.run.tests.iter().filter(|other| {
        table(other) == table(test)
            && other.streams == 1
            && other.protocol == test.protocol
            && other.direction == test.direction
    });
    let single = single
        .filter_map(|test| test.delivered_bits_per_second)
        .reduce(f64::max)
        .filter(|rate| *rate > 0.0)?;
    let gain = test.delivered_bits_per_second? / single;
    Some(gain >= FASTER && gain < AS_MANY * flows as f64)
}

/// A pasted text may show a card's interrupts and nothing else of its queues.
fn facts_of_interrupts(facts: &Facts) -> Option<f64> {
    let mut pasted = facts
        .list()
        .iter()
        .filter(|fact| fact.name == "irq_vectors" && fact.test_id.is_none());
    pasted.next()?.value.number()
}

/// Than one flow, and of as many times one flow as there are.
const FASTER: f64 = 1.3;
const AS_MANY: f64 = 0.95;
const ACCOUNT: &str = "the test's account";
