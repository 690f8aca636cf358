// SPDX-License-Identifier: MIT OR Apache-2.0
//! The TCP tests: goodput, retransmissions, round-trip times.

use linerate_model::output::{IoMode, Output, Protocol, Quantiles, Test};
use linerate_model::units::format::MICROSECOND;

use super::{Block, Column, RateOf, Table, keys, rates, rows, tones};

pub(super) fn block(output: &Output) -> Option<Block> {
    let tests = rows(output, Protocol::Tcp);
    if tests.is_empty() {
        return None;
    }
    let rtt = |name, part: fn(Quantiles) -> i64| {
        let value = |test: &&Test| test.rtt_ns.map(|rtt| part(rtt) as f64);
        Column::numbers(name, tests.iter().map(value), MICROSECOND)
    };
    let streams = tests.iter().map(|test| Some(u64::from(test.streams)));
    let retransmits = tests.iter().map(|test| test.retransmits);
    let mut columns = keys(&tests);
    columns.push(Column::counts("streams", "", streams));
    columns.extend(rates(
        &tests,
        &[
            RateOf("sent", |test| test.offered_bits_per_second),
            RateOf("delivered", |test| test.delivered_bits_per_second),
        ],
    ));
    columns.extend([
        Column::counts("retr", "segments", retransmits),
        rtt("rtt p50", |rtt| rtt.p50),
        rtt("p99", |rtt| rtt.p99),
    ]);
    Some(Block::Table(Table {
        heading: heading(&tests).to_owned(),
        keys: 2,
        tones: tones(&tests),
        columns,
    }))
}

/// A peer that counts nothing for us leaves what its kernel acknowledged.
fn heading(tests: &[&Test]) -> &'static str {
    let acknowledged = |test: &&Test| test.mode.rx == Some(IoMode::Acknowledged);
    if tests.iter().any(acknowledged) {
        "TCP: L4 goodput; delivered is what the receiver's kernel acknowledged"
    } else {
        "TCP: L4 goodput; delivered is the receiver's count"
    }
}
