// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the path carries, as the tests of one direction show it together: losses in a row, how far
//! TCP stays below UDP.

use linerate_model::output::{Direction, Protocol, Test};

use crate::evidence::Evidence;
use crate::facts::vantage::Vantage;
use crate::facts::{Facts, fact};
use crate::viewpoint::Viewpoint;
use linerate_model::record::{Record, Side};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    for test in &record.run.tests {
        let mut add = |name: &str, value: f64, unit: &str, source: &str| {
            let mut fact = fact(name, value, unit, source);
            fact.test_id = Some(test.id.clone());
            facts.add(fact);
        };
        if let Some(ratio) = speed_ratio(evidence, test) {
            add("speed_ratio", ratio, "ratio", "link speeds of both ends");
        }
        let lost: u64 = test.loss_bursts.iter().map(|burst| burst.packets).sum();
        if !test.loss_bursts.is_empty() {
            let each = lost as f64 / test.loss_bursts.len() as f64;
            add("loss_burst_packets", each, "packets", "the test's account");
        }
        at_line_rate(test, facts);
        shortfall(record, test, facts);
    }
}

fn speed_ratio<'r>(evidence: &'r Evidence<'r>, test: &'r Test) -> Option<f64> {
    let speed = |side: Side| {
        let end = Vantage::end(evidence, test, side);
        end.link_bits_per_second().filter(|speed| *speed > 0.0)
    };
    Some(speed(Side::Sender)? / speed(Side::Receiver)?)
}

fn at_line_rate(test: &Test, facts: &mut Facts) {
    let of_test = Viewpoint {
        test_id: Some(test.id.clone()),
        ..Viewpoint::default()
    };
    let ratio = facts.get("line_rate_ratio", &of_test);
    let ratio = ratio.and_then(|fact| fact.value.number());
    let mut fact = fact(
        "at_line_rate",
        ratio.is_some_and(|ratio| ratio >= NEARLY),
        "",
        "line_rate_ratio",
    );
    fact.test_id = of_test.test_id;
    facts.add(fact);
}

fn shortfall(record: &Record, test: &Test, facts: &mut Facts) {
    let (Protocol::Tcp, Some(delivered)) = (test.protocol, test.delivered_bits_per_second) else {
        return;
    };
    let udp = best_of_udp(record, test.direction);
    let of_test = Viewpoint {
        test_id: Some(test.id.clone()),
        ..Viewpoint::default()
    };
    let link = facts.get("line_rate_bits_per_second", &of_test);
    let link = link.and_then(|fact| fact.value.number());
    let carries = match (udp, link) {
        (Some(udp), Some(link)) => Some(udp.max(link)),
        (udp, link) => udp.or(link),
    };
    let mut add = |name: &str, rate: Option<f64>| {
        if let Some(rate) = rate {
            let mut fact = fact(name, rate, "bit/s", "the accounts of all tests");
            fact.test_id = Some(test.id.clone());
            facts.add(fact);
        }
    };
    add("udp_best_bits_per_second", udp);
    add(
        "tcp_shortfall_bits_per_second",
        carries.map(|carries| (carries - delivered).max(0.0)),
    );
}

fn best_of_udp(record: &Record, direction: Direction) -> Option<f64> {
    let tests = record.run.tests.iter();
    let udp = tests.filter(|test| test.protocol == Protocol::Udp && test.direction == direction);
    udp.filter_map(|test| test.delivered_bits_per_second)
        .reduce(f64::max)
}

/// Of the line rate.
const NEARLY: f64 = 0.95;
