// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the way between the ends carries one rate and no more, and whether losses come like clockwork.

use linerate_model::output::{Protocol, Test};

use crate::facts::Facts;
use linerate_model::order;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let lossy = |test: &&Test| {
        test.protocol == Protocol::Udp && test.lost_packets.is_some_and(|lost| lost > 0)
    };
    for test in record.run.tests.iter().filter(lossy) {
        let source = "the tests' accounts";
        let ceiling = ceiling_bits_per_second(record, test);
        let ceiling = ceiling.or_else(|| ceiling_close_by(record, test));
        facts.add_to_test(&test.id, "path_ceiling", ceiling.is_some(), source);
        facts.add_to_test(&test.id, "path_ceiling_bits_per_second", ceiling, source);
        let variation = spacing_variation(test);
        let source = "the test's account, loss_bursts";
        facts.add_to_test(&test.id, "loss_spacing_variation", variation, source);
    }
}

/// Two tests the same way that offered clearly different rates and delivered the same lower one.
fn ceiling_bits_per_second(record: &Record, test: &Test) -> Option<f64> {
    let here = Load::of(test)?;
    let others = same_way(record, test).filter_map(Load::of);
    let levels = others.filter(|other| here.is_level_with(other));
    levels
        .map(|other| other.delivered.max(here.delivered))
        .reduce(f64::max)
        .or_else(|| as_tcp_shows(record, test, here.offered, here.delivered))
}

/// What a test offered and what arrived, in bit/s of payload, and in how many rows it lost.
struct Load {
    offered: f64,
    delivered: f64,
    rows: usize,
}

impl Load {
    fn of(test: &Test) -> Option<Self> {
        Some(Self {
            offered: test.offered_bits_per_second?,
            delivered: test.delivered_bits_per_second?,
            rows: test.loss_bursts.len(),
        })
    }

    /// The same rate arrived of different offers; or, where a busy machine sent unevenly and a short
    /// queue lost more for it, what arrived hardly grew with the offer, and was lost all along. A path
    /// that loses for another reason delivers in proportion; one that stops for a while loses in few rows.
    fn is_level_with(&self, other: &Self) -> bool {
        let offered = (other.offered / self.offered).ln();
        let delivered = (other.delivered / self.delivered).ln();
        let same = offered.abs() > OFFERED_APART && delivered.abs() < DELIVERED_APART;
        let growth = delivered * offered.signum();
        let hardly = offered.abs() > OFFERED_FAR_APART && growth < offered.abs() * HARDLY;
        let all_along = self.rows.min(other.rows) >= ROWS;
        self.is_lossy() && other.is_lossy() && (same || (hardly && all_along))
    }

    fn is_lossy(&self) -> bool {
        self.delivered < self.offered * ABOVE
    }
}

/// A test that offered about as much as others the same way found the path to carry met its ceiling too.
fn ceiling_close_by(record: &Record, test: &Test) -> Option<f64> {
    let offered = test.offered_bits_per_second?;
    let found = same_way(record, test).filter_map(|other| ceiling_bits_per_second(record, other));
    let lowest = found.reduce(f64::min)?;
    (offered >= lowest * CLOSE).then_some(lowest)
}

fn same_way<'r>(record: &'r Record, test: &'r Test) -> impl Iterator<Item = &'r Test> {
    record.run.tests.iter().filter(move |other| {
        other.id != test.id
            && other.protocol == test.protocol
            && other.direction == test.direction
            && other.payload_bytes == test.payload_bytes
    })
}

/// A path that loses a sixth of a flow for other reasons than its rate leaves TCP next to nothing: if
/// TCP gets as much through the same way, the loss is the overload's.
fn as_tcp_shows(record: &Record, test: &Test, offered: f64, delivered: f64) -> Option<f64> {
    if delivered > offered * OVERLOADED {
        return None;
    }
    let framed = delivered * f64::from(test.payload_bytes + HEADER_BYTES)
        / f64::from(test.payload_bytes.max(1));
    let tcp = record
        .run
        .tests
        .iter()
        .filter(|other| other.protocol == Protocol::Tcp && other.direction == test.direction);
    let rates = tcp.filter_map(|test| test.delivered_bits_per_second);
    rates
        .filter(|rate| *rate > framed * AS_MUCH)
        .reduce(f64::max)
}

/// The coefficient of variation of the distances between losses: 1 by chance, less the more regular;
/// 1 too where there are too few to tell.
fn spacing_variation(test: &Test) -> Option<f64> {
    let mut runs = test.loss_bursts.clone();
    let first = runs.first()?.flow;
    runs.retain(|run| run.flow == first);
    order::by_key(&mut runs, |run| run.first_sequence);
    let distances: Vec<f64> = runs
        .windows(2)
        .map(|pair| (pair[1].first_sequence - pair[0].first_sequence) as f64)
        .collect();
    if distances.len() < ENOUGH {
        return Some(1.0);
    }
    let count = distances.len() as f64;
    let mean = distances.iter().sum::<f64>() / count;
    let variance = distances
        .iter()
        .map(|distance| (distance - mean).powi(2))
        .sum::<f64>()
        / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

/// An offer of at least this share of the ceiling meets it: packets come in bursts.
const CLOSE: f64 = 0.9;
/// Offers whose ratio has a logarithm above this were different.
const OFFERED_APART: f64 = 0.13;
/// Rates whose ratio has a logarithm below this are one level.
const DELIVERED_APART: f64 = 0.05;
/// Offers that are far enough apart to tell a level from chance on an uneven machine.
const OFFERED_FAR_APART: f64 = 0.22;
/// What a level grows with the offer, at most; a loss in proportion grows by 1 (logarithms).
const HARDLY: f64 = 0.5;
/// Rows of losses of a test that lost all along.
const ROWS: usize = 20;
/// What arrives of an offer above the ceiling, at most.
const ABOVE: f64 = 0.98;
/// What arrives of an offer that is far above the ceiling, at most.
const OVERLOADED: f64 = 0.83;
/// TCP's share of what UDP gets through that counts as as much.
const AS_MUCH: f64 = 0.7;
/// Ethernet, IPv4 and UDP.
const HEADER_BYTES: u32 = 42;
/// Distances from which a variation can be seen.
const ENOUGH: usize = 20;
