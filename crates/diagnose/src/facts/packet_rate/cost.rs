// SPDX-License-Identifier: MIT OR Apache-2.0
//! Highest packet rates of several sizes → what a packet costs, and what a byte.

use linerate_model::map::Map;
use linerate_model::output::{Direction, Protocol, Test};

use crate::calc::packet_cost::{Cost, microseconds_per_packet};
use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for direction in [Direction::Up, Direction::Down] {
        let points = points(record, direction);
        let unsized_rate = unsized_rate(record, direction);
        for test in udp(record, direction) {
            let mut add = |name, value: Option<f64>, source| {
                facts.add_to_test(&test.id, name, value, source);
            };
            let cost = packets_per_second(test).and_then(microseconds_per_packet);
            add("packet_cost_us", cost, "the test's account");
            let highest = points.iter().map(|(_, rate)| *rate).reduce(f64::max);
            let price = highest.and_then(microseconds_per_packet);
            add("packet_price_us", price, SOURCE);
            let sizes = points.len() + usize::from(unsized_rate.is_some());
            add("packet_sizes", Some(sizes as f64), SOURCE);
            if let Some(cost) = Cost::fit(&points).filter(|_| points.len() >= SIZES_FOR_A_LINE) {
                add("packet_fixed_us", Some(cost.fixed_us), SOURCE);
                add("packet_byte_ns", Some(cost.byte_us * 1e3), SOURCE);
                let bound = cost.packet_bound_up_to_bytes().min(LARGEST_BYTES);
                add("packet_bound_up_to_bytes", Some(bound), SOURCE);
            }
            let flat = flat(&points).or_else(|| as_without_size(&points, unsized_rate?));
            facts.add_to_test(&test.id, "packet_rate_flat", flat, SOURCE);
        }
    }
}

fn udp(record: &Record, direction: Direction) -> impl Iterator<Item = &Test> {
    let tests = record.tests();
    tests.filter(move |test| test.protocol == Protocol::Udp && test.direction == direction)
}

/// Size and the highest rate, the smallest size first: of searches, and of tests that reached a limit.
fn points(record: &Record, direction: Direction) -> Vec<(f64, f64)> {
    let knees = record
        .run
        .knees
        .iter()
        .filter(|knee| knee.direction == direction);
    let searched = knees.filter_map(|knee| Some((knee.payload_bytes, knee.lossless_pps?)));
    let tested = udp(record, direction)
        .filter(|test| reached_a_limit(test))
        .filter_map(|test| Some((test.payload_bytes, packets_per_second(test)?)));
    let mut highest: Map<u32, f64> = Map::new();
    for (bytes, rate) in searched
        .chain(tested)
        .filter(|(bytes, rate)| *bytes > 0 && *rate > 0.0)
    {
        let known = highest.entry(bytes).or_default();
        *known = known.max(rate);
    }
    highest
        .into_iter()
        .map(|(bytes, rate)| (f64::from(bytes), rate))
        .collect()
}

/// A packet rate that is reported without a size, as if it held for any.
fn unsized_rate(record: &Record, direction: Direction) -> Option<f64> {
    let without = udp(record, direction).filter(|test| test.payload_bytes == 0);
    without.filter_map(packets_per_second).reduce(f64::max)
}

fn as_without_size(points: &[(f64, f64)], rate: f64) -> Option<bool> {
    let (_, sized) = points.first()?;
    Some((rate - sized).abs() <= ALIKE * rate)
}

/// More was requested than arrived, or no rate was requested.
fn reached_a_limit(test: &Test) -> bool {
    let Some(requested) = test.requested_bits_per_second else {
        return true;
    };
    let lossy = test.loss_ratio.is_some_and(|ratio| ratio > LOSSY);
    lossy
        || test
            .offered_bits_per_second
            .is_some_and(|offered| offered < NEARLY * requested)
}

fn packets_per_second(test: &Test) -> Option<f64> {
    let counted = test
        .received_packets
        .filter(|_| test.duration_s > 0.0)
        .map(|packets| packets as f64 / test.duration_s);
    let bits = f64::from(test.payload_bytes) * 8.0;
    let stated = || {
        test.delivered_bits_per_second
            .filter(|_| bits > 0.0)
            .map(|rate| rate / bits)
    };
    counted.or_else(stated)
}

/// `None` where no size is twice another.
fn flat(points: &[(f64, f64)]) -> Option<bool> {
    let pairs = points
        .iter()
        .flat_map(|one| points.iter().map(move |other| (one, other)));
    let mut apart = pairs
        .filter(|(one, other)| other.0 >= 2.0 * one.0)
        .peekable();
    apart.peek()?;
    Some(apart.any(|(one, other)| (one.1 - other.1).abs() <= ALIKE * one.1))
}

const SOURCE: &str = "packet rates by size";
const LOSSY: f64 = 0.001;
const NEARLY: f64 = 0.98;
const ALIKE: f64 = 0.1;
const SIZES_FOR_A_LINE: usize = 4;
const LARGEST_BYTES: f64 = 65_535.0;
