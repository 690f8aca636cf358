// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses that come with the start of a test rather than with its rate.

use linerate_model::map::Map;
use linerate_model::order;
use linerate_model::output::{Direction, Protocol, Test};

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let alike = Alike::of(record);
    for test in record.tests() {
        let (share, source) = (start_share(test), "the test's account, loss_bursts");
        facts.add_to_test(&test.id, "start_loss_share", share, source);
        let same = alike.same_count(test);
        facts.add_to_test(&test.id, "same_count_lost", same, "the tests' accounts");
    }
}

fn start_share(test: &Test) -> Option<f64> {
    let lost = test.lost_packets.filter(|lost| *lost > 0)? as f64;
    let first: u64 = test
        .loss_bursts
        .iter()
        .filter(|run| run.at_s < test.duration_s * START)
        .map(|run| run.packets)
        .sum();
    (!test.loss_bursts.is_empty()).then_some(first as f64 / lost)
}

/// A rate that is too high loses a share; what happens once at the start costs the same number each time.
struct Alike {
    /// Lost and sent packets of the tests of one kind, the fewest lost first.
    tests: Map<(bool, bool), Vec<(f64, u64)>>,
}

/// Down, and UDP.
fn kind(test: &Test) -> (bool, bool) {
    (
        test.direction == Direction::Down,
        test.protocol == Protocol::Udp,
    )
}

fn lost(test: &Test) -> Option<(f64, u64)> {
    let lost = test.lost_packets.filter(|lost| *lost >= FEWEST)?;
    Some((lost as f64, test.sent_packets?))
}

impl Alike {
    fn of(record: &Record) -> Self {
        let mut tests: Map<(bool, bool), Vec<(f64, u64)>> = Map::new();
        for test in record.tests() {
            tests.entry(kind(test)).or_default().extend(lost(test));
        }
        for tests in tests.values_mut() {
            order::by(tests, |one, other| one.0.total_cmp(&other.0));
        }
        Self { tests }
    }

    /// Whether three or more tests that sent different numbers lost about as many. More than [`MOST`] of them on either
    /// side say nothing new.
    fn same_count(&self, test: &Test) -> Option<bool> {
        let (count, _) = lost(test)?;
        let tests = self.tests.get(&kind(test))?;
        let own = tests.partition_point(|(other, _)| *other < count);
        let is_alike = |(other, _): &&(f64, u64)| (other / count - 1.0).abs() < ALIKE;
        let below = tests[..own].iter().rev().take_while(is_alike).take(MOST);
        let above = tests[own..].iter().take_while(is_alike).take(MOST);
        let alike: Vec<u64> = below.chain(above).map(|(_, sent)| *sent).collect();
        let (least, most) = (alike.iter().min()?, alike.iter().max()?);
        Some(alike.len() >= 3 && *most as f64 > *least as f64 * APART)
    }
}

/// The first part of a test.
const START: f64 = 0.05;
const FEWEST: u64 = 50;
const ALIKE: f64 = 0.03;
const APART: f64 = 1.2;
const MOST: usize = 100;
