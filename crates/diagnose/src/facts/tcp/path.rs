// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the path carries, as the tests of one direction show it together: losses in a row, how far
//! TCP stays below UDP.

use linerate_model::output::{Direction, Protocol, Test};

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::{Record, Side};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    let [up, down] = [Direction::Up, Direction::Down].map(|way| best_of_udp(record, way));
    let udp = |way| if way == Direction::Up { up } else { down };
    for test in record.tests() {
        let (ratio, source) = (speed_ratio(evidence, test), "link speeds of both ends");
        facts.add_to_test(&test.id, "speed_ratio", ratio, source);
        let bursts = &test.loss_bursts;
        let lost: u64 = bursts.iter().map(|burst| burst.packets).sum();
        let each = (!bursts.is_empty()).then(|| lost as f64 / bursts.len() as f64);
        facts.add_to_test(&test.id, "loss_burst_packets", each, "the test's account");
        let ratio = known_of(test, "line_rate_ratio", facts);
        let full = ratio.is_some_and(|ratio| (NEARLY..=BEYOND).contains(&ratio));
        facts.add_to_test(&test.id, "at_line_rate", full, "line_rate_ratio");
        shortfall(udp(test.direction), test, facts);
    }
}

fn speed_ratio<'r>(evidence: &'r Evidence<'r>, test: &'r Test) -> Option<f64> {
    let speed = |side: Side| {
        let end = Vantage::end(evidence, test, side);
        end.link_bits_per_second().filter(|speed| *speed > 0.0)
    };
    Some(speed(Side::Sender)? / speed(Side::Receiver)?)
}

/// A number that another family found of a test.
fn known_of(test: &Test, name: &str, facts: &Facts) -> Option<f64> {
    facts.of_test(&test.id, name)
}

fn shortfall(udp: Option<f64>, test: &Test, facts: &mut Facts) {
    let (Protocol::Tcp, Some(delivered)) = (test.protocol, test.delivered_bits_per_second) else {
        return;
    };
    let link = known_of(test, "line_rate_bits_per_second", facts);
    let carries = udp.into_iter().chain(link).reduce(f64::max);
    let lacks = carries.map(|carries| (carries - delivered).max(0.0));
    let source = "the accounts of all tests";
    facts.add_to_test(&test.id, "udp_best_bits_per_second", udp, source);
    facts.add_to_test(&test.id, "tcp_shortfall_bits_per_second", lacks, source);
}

fn best_of_udp(record: &Record, direction: Direction) -> Option<f64> {
    let tests = record.tests();
    let udp = tests.filter(|test| test.protocol == Protocol::Udp && test.direction == direction);
    udp.filter_map(|test| test.delivered_bits_per_second)
        .reduce(f64::max)
}

/// Of the line rate.
const NEARLY: f64 = 0.95;
/// A test that delivers more shows that the link is not what it says.
const BEYOND: f64 = 1.05;
