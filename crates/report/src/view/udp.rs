// SPDX-License-Identifier: MIT OR Apache-2.0
//! The UDP tests: loss, order, spacing and jitter; then when datagrams were lost and which kernel dropped them.

use linerate_model::output::{Output, Protocol, Spacing, Test};
use linerate_model::units::Nanos;
use linerate_model::units::format::{MICROSECOND, percent};

use super::{
    Block, Column, Line, RateOf, Table, Tone, keys, name, rates as columns_of, rows, tones, way,
};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let tests = rows(output, Protocol::Udp);
    if tests.is_empty() {
        return Vec::new();
    }
    let mut columns = keys(&tests);
    columns.extend(speeds(&tests));
    columns.extend(losses(&tests));
    columns.extend(order(&tests));
    let mut blocks = vec![Block::Table(Table {
        heading: HEADING.to_owned(),
        keys: 2,
        tones: tones(&tests),
        columns,
    })];
    blocks.extend(arrivals(&tests));
    let lines = tests.iter().flat_map(|test| remarks(output, test));
    blocks.extend(Block::lines("losses and delays", lines));
    blocks
}

/// The rates and losses alone.
pub(super) fn rates(output: &Output) -> Option<Block> {
    let tests = rows(output, Protocol::Udp);
    let mut columns = keys(&tests);
    columns.extend(speeds(&tests));
    columns.extend(losses(&tests));
    for column in &mut columns {
        column.needed = ["delivered", "loss"].contains(&column.name.as_str());
    }
    (!tests.is_empty()).then(|| {
        Block::Table(Table {
            heading: HEADING.to_owned(),
            keys: 2,
            tones: tones(&tests),
            columns,
        })
    })
}

fn speeds(tests: &[&Test]) -> Vec<Column> {
    let mut columns = columns_of(
        tests,
        &[
            RateOf("request", |test| test.requested_bits_per_second),
            RateOf("offered", |test| test.offered_bits_per_second),
            RateOf("delivered", |test| test.delivered_bits_per_second),
        ],
    );
    columns.retain(|column| column.name != "request" || column.is_known());
    columns
}

/// The loss ratio with its counts.
fn losses(tests: &[&Test]) -> [Column; 2] {
    let count =
        |count: Option<u64>| count.map_or_else(|| "n/a".to_owned(), |count| count.to_string());
    let counts = tests.iter().map(|test| {
        Some(format!(
            "{}/{}",
            count(test.lost_packets),
            count(test.sent_packets)
        ))
    });
    [
        Column::texts("lost/sent", "datagrams", counts),
        Column::texts(
            "loss",
            "%",
            tests.iter().map(|test| test.loss_ratio.map(percent)),
        ),
    ]
}

fn order(tests: &[&Test]) -> Vec<Column> {
    let jitter = tests.iter().map(|test| test.jitter_ns);
    let count = |name, part: fn(&Test) -> Option<u64>| {
        Column::counts(name, "", tests.iter().map(|test| part(test)))
    };
    let mut columns = vec![
        Column::numbers("jitter", jitter, MICROSECOND),
        count("reord", |test| test.reordered_packets),
        count("dup", |test| test.duplicate_packets),
    ];
    // Shown if there are any; the document always has them.
    let rare = [
        (
            "extent",
            (|test| test.reorder_extent_max) as fn(&Test) -> Option<u64>,
        ),
        ("late", |test| test.late_packets),
        ("corrupt", |test| test.corrupt_packets),
    ];
    let present = rare
        .into_iter()
        .filter(|(_, part)| tests.iter().any(|test| part(test) > Some(0)));
    columns.extend(present.map(|(name, part)| count(name, part)));
    columns
}

/// The gaps between arrivals, where they were measured.
fn arrivals(tests: &[&Test]) -> Option<Block> {
    let mut columns = keys(tests);
    columns.extend(spacing(tests));
    tests.iter().any(|test| test.spacing_ns.is_some()).then(|| {
        Block::Table(Table {
            heading: "spacing of arrivals at the receiver".to_owned(),
            keys: 2,
            tones: Vec::new(),
            columns,
        })
    })
}

fn spacing(tests: &[&Test]) -> [Column; 3] {
    let column = |name, part: fn(Spacing) -> u64| {
        let value = |test: &&Test| test.spacing_ns.map(|spacing| part(spacing) as f64);
        Column::numbers(name, tests.iter().map(value), MICROSECOND)
    };
    [
        column("p50", |spacing| spacing.p50),
        column("p99", |spacing| spacing.p99),
        column("max", |spacing| spacing.max),
    ]
}

fn remarks(output: &Output, test: &Test) -> Vec<Line> {
    let facts = [
        test.socket_drops.filter(|drops| *drops > 0).map(|drops| {
            let at_least = if test.socket_drops_at_least {
                "at least "
            } else {
                ""
            };
            format!("{at_least}{drops} datagrams dropped by the receiving socket (SO_RXQ_OVFL)")
        }),
        test.refused_packets
            .filter(|refused| *refused > 0)
            .map(|refused| {
                format!("{refused} datagrams refused by the sender's kernel (not counted as sent)")
            }),
        test.unsent_packets
            .filter(|unsent| *unsent > 0)
            .map(|unsent| {
                let behind = test
                    .sender_behind_ns_max
                    .map_or_else(|| "n/a".to_owned(), |lag| Nanos(lag).to_string());
                format!(
                    "{unsent} datagrams not offered: the sender fell up to {behind} behind schedule"
                )
            }),
    ];
    // In a search for loss, its time is of little use.
    let dated = match output.is_trial(test) {
        true => &[],
        false => test.loss_bursts.as_slice(),
    };
    let bursts = dated.iter().take(MOST_BURSTS).map(|burst| {
        let (packets, sequence, at_s) = (burst.packets, burst.first_sequence, burst.at_s);
        format!(
            "{packets} lost from sequence {sequence} of stream {}, seen at {at_s:.3} s",
            burst.flow
        )
    });
    let more = dated.len().saturating_sub(MOST_BURSTS);
    let more = (more > 0).then(|| format!("and {more} more bursts (--json lists them)"));
    let facts = facts.into_iter().flatten().chain(bursts).chain(more);
    let title = format!("{} {}: ", name(test), way(test.direction));
    facts
        .map(|fact| Line::new(2, format!("{title}{fact}")).tone(Tone::Warn))
        .collect()
}

const HEADING: &str = "UDP: L4 goodput; delivered and lost are the receiver's count";
const MOST_BURSTS: usize = 3;
