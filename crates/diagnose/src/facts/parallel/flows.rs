// SPDX-License-Identifier: MIT OR Apache-2.0
//! How even the streams of a test are, and how likely some of them share a queue.

use linerate_model::map::Map;
use linerate_model::output::{Direction, Protocol, Test};

use super::queues;
use crate::calc::flow_hash::{collision_probability, expected_distinct_queues, expected_max_load};
use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::{Record, Side};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    of_one_flow(record, facts);
    let interrupts = facts_of_interrupts(facts);
    let single = Single::of(record);
    for test in record.tests() {
        let flows = test.flows.iter();
        let rates = flows.filter_map(|flow| flow.delivered_bits_per_second);
        let rates: Vec<f64> = rates.collect();
        if rates.len() < 2 {
            continue;
        }
        facts.add_to_test(&test.id, "flows", rates.len() as f64, ACCOUNT);
        let slowest = rates.iter().copied().fold(f64::MAX, f64::min);
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        let spread = (slowest > 0.0).then(|| fastest / slowest);
        facts.add_to_test(&test.id, "flow_spread", spread, ACCOUNT);
        let partly = single.add_up_partly(test, rates.len());
        facts.add_to_test(&test.id, "flows_add_up_partly", partly, ACCOUNTS);
        let receiver = Vantage::end(evidence, test, Side::Receiver);
        if let Some(queues) = queues::of(&receiver, interrupts) {
            let flows = u32::try_from(rates.len()).unwrap_or(u32::MAX);
            shared(test, flows, queues, facts);
        }
    }
}

/// How this many flows spread over this many queues.
fn shared(test: &Test, flows: u32, queues: u32, facts: &mut Facts) {
    let source = "streams and queues, each alike likely";
    let mut add = |name, value| facts.add_to_test(&test.id, name, value, source);
    add(
        "collision_probability",
        collision_probability(flows, queues),
    );
    add(
        "expected_distinct_queues",
        expected_distinct_queues(flows, queues),
    );
    add("expected_max_load", expected_max_load(flows, queues));
}

/// How many times as much several flows carry as one, in a table that tells each flow: of the one flow of the same table.
fn of_one_flow(record: &Record, facts: &mut Facts) {
    let title = |test: &Test| Some(test.name.strip_suffix("1 flow")?.trim_end().to_owned());
    for single in record
        .tests()
        .filter(|test| record.pasted && test.streams == 1)
    {
        let Some((title, rate)) = title(single).zip(single.delivered_bits_per_second) else {
            continue;
        };
        let same = |other: &&Test| {
            let rest = other.name.strip_prefix(&title);
            other.streams > 1 && rest.is_some_and(|rest| rest.ends_with(" flows"))
        };
        let several = record.tests().filter(same);
        let rates = several.filter_map(|test| test.delivered_bits_per_second);
        let most = rates.reduce(f64::max).filter(|_| rate > 0.0);
        let ratio = most.map(|most| most / rate);
        facts.add_to_test(&single.id, "flows_of_one_flow", ratio, ACCOUNTS);
    }
}

/// The best rate of one flow, by table and kind of test.
struct Single<'r>(Map<Kind<'r>, f64>);

/// Table, UDP, down.
type Kind<'r> = (Option<&'r str>, bool, bool);

fn kind(test: &Test) -> Kind<'_> {
    let (udp, down) = (
        test.protocol == Protocol::Udp,
        test.direction == Direction::Down,
    );
    (table(test), udp, down)
}

impl<'r> Single<'r> {
    fn of(record: &'r Record) -> Self {
        let mut single: Map<Kind<'r>, f64> = Map::new();
        for test in record.tests().filter(|test| test.streams == 1) {
            let best = single.entry(kind(test)).or_default();
            *best = best.max(test.delivered_bits_per_second.unwrap_or(0.0));
        }
        Self(single)
    }

    /// Against one flow of the same kind: a link that one flow fills is not faster with several.
    fn add_up_partly(&self, test: &Test, flows: usize) -> Option<bool> {
        let single = self.0.get(&kind(test)).filter(|rate| **rate > 0.0)?;
        let gain = test.delivered_bits_per_second? / single;
        Some(gain >= FASTER && gain < AS_MANY * flows as f64)
    }
}

/// What stands before the number of flows in the name of a test.
fn table(test: &Test) -> Option<&str> {
    let (before, _) = test.name.split_once(" flow")?;
    Some(before.rsplit_once(' ')?.0)
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
const ACCOUNTS: &str = "the accounts of all tests";
