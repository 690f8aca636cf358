// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of one test in the layout of iperf3: sender and receiver of each stream, and their sum.

use linerate_model::output::{Flow, Latency, Output, Protocol, Test};
use linerate_model::units::Nanos;
use linerate_model::units::format::{SIZES, UNKNOWN, percent, with_unit};
use linerate_model::units::rate_unit::{RateUnit, rate_in};

use crate::view::{Align, Block, Column, Line, Table, Tone, conclusions, relevant, way};

/// One line: a stream, or the sum of all.
struct Row {
    id: String,
    way: &'static str,
    span: String,
    transfer: String,
    rate: String,
    lost: String,
    end: &'static str,
    tone: Tone,
}

pub(super) fn blocks(output: &Output, unit: Option<RateUnit>) -> Vec<Block> {
    let tests = relevant(output);
    let mut blocks = tables(&tests, unit, MOST);
    let remarks = tests.iter().filter_map(|test| remark(test));
    let remarks = remarks.chain(output.latency.iter().filter_map(round_trip));
    blocks.extend(Block::lines("", remarks));
    blocks.extend(conclusions::invalid(output));
    blocks
}

/// Each stream of a test, and the sum, however many they are; nothing of a search.
pub(in crate::view) fn every(output: &Output, unit: Option<RateUnit>) -> Vec<Block> {
    match output.kind.as_str() {
        "tcp" | "udp" => tables(&relevant(output), unit, usize::MAX),
        _ => Vec::new(),
    }
}

/// A table per transport; more than `most` streams by their sum alone.
fn tables(tests: &[&Test], unit: Option<RateUnit>, most: usize) -> Vec<Block> {
    let mut tables = Vec::new();
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let own = tests.iter().filter(|test| test.protocol == protocol);
        let own: Vec<&&Test> = own.collect();
        let flows: usize = own.iter().map(|test| test.flows.len()).sum();
        let each = flows <= most;
        let rows = own.iter().flat_map(|test| rows(test, each, unit));
        let rows: Vec<Row> = rows.collect();
        if !rows.is_empty() {
            tables.push(Block::Table(table(protocol, &rows)));
        }
    }
    tables
}

fn table(protocol: Protocol, rows: &[Row]) -> Table {
    let words = |name: &str, of: &dyn Fn(&Row) -> String| Column::words(name, rows.iter().map(of));
    let right = |name: &str, of: &dyn Fn(&Row) -> String| Column {
        align: Align::Right,
        ..words(name, of)
    };
    let needed = |column: Column| Column {
        needed: true,
        ..column
    };
    let counted = match protocol {
        Protocol::Tcp => "retr",
        Protocol::Udp => "lost/sent",
    };
    let mut columns = vec![
        words("[ ID]", &|row| row.id.clone()),
        words("dir", &|row| row.way.to_owned()),
        right("seconds", &|row| row.span.clone()),
        right("transfer", &|row| row.transfer.clone()),
        needed(right("L4 goodput", &|row| row.rate.clone())),
        needed(right(counted, &|row| row.lost.clone())),
        needed(words("", &|row| row.end.to_owned())),
    ];
    columns.retain(|column| column.cells.iter().any(|cell| !cell.trim().is_empty()));
    Table {
        heading: String::new(),
        keys: 1,
        columns,
        tones: rows.iter().map(|row| row.tone).collect(),
    }
}

/// Each stream if wanted, and the sum of several; a lone stream is its own sum.
fn rows(test: &Test, each: bool, unit: Option<RateUnit>) -> Vec<Row> {
    if let [only] = test.flows.as_slice() {
        return ends(test, None, unit)
            .into_iter()
            .map(|row| Row {
                id: id(Some(only)),
                ..row
            })
            .collect();
    }
    let streams = test.flows.iter().filter(|_| each).map(Some);
    let all = streams.chain([None]);
    all.flat_map(|flow| ends(test, flow, unit)).collect()
}

fn id(flow: Option<&Flow>) -> String {
    flow.map_or_else(|| "[SUM]".to_owned(), |flow| format!("[{:>3}]", flow.id))
}

/// What the sender sent, and what the receiver got of it.
fn ends(test: &Test, flow: Option<&Flow>, unit: Option<RateUnit>) -> [Row; 2] {
    let sent = flow.map_or((test.sent_bytes, test.offered_bits_per_second), |flow| {
        (flow.sent_bytes, flow.offered_bits_per_second)
    });
    let received = flow.map_or(
        (test.received_bytes, test.delivered_bits_per_second),
        |flow| (flow.received_bytes, flow.delivered_bits_per_second),
    );
    let row = |(bytes, rate): (Option<u64>, Option<f64>), end: &'static str| Row {
        id: id(flow),
        way: way(test.direction),
        span: format!("0.00-{:.2}", test.duration_s),
        transfer: known(bytes, |bytes| with_unit(bytes as f64, SIZES)),
        rate: known(rate, |rate| rate_in(unit, rate)),
        lost: String::new(),
        end,
        tone: if test.valid { Tone::Plain } else { Tone::Bad },
    };
    let (mut sender, mut receiver) = (row(sent, "sender"), row(received, "receiver"));
    match test.protocol {
        Protocol::Tcp => {
            let again = flow.map_or(test.retransmits, |flow| flow.retransmits);
            sender.lost = known(again, |again| again.to_string());
        }
        Protocol::Udp => {
            receiver.lost = lost(test, flow);
        }
    }
    [sender, receiver]
}

fn lost(test: &Test, flow: Option<&Flow>) -> String {
    let (lost, sent) = flow.map_or((test.lost_packets, test.sent_packets), |flow| {
        (flow.lost_packets, flow.sent_packets)
    });
    let count = |count: Option<u64>| known(count, |count| count.to_string());
    format!("{}/{}", count(lost), count(sent))
}

/// What the table does not show: jitter, order, and what was lost within a host.
fn remark(test: &Test) -> Option<Line> {
    let count = |count: Option<u64>, what: &str| {
        let count = count.filter(|count| *count > 0)?;
        Some(format!("{count} {what}"))
    };
    let jitter = test
        .jitter_ns
        .map(|ns| format!("jitter {}", Nanos(ns as u64)));
    let lost = test.loss_ratio.filter(|ratio| *ratio > 0.0);
    let facts = [
        lost.map(|ratio| format!("lost {} %", percent(ratio))),
        jitter,
        count(test.reordered_packets, "reordered"),
        count(test.duplicate_packets, "duplicated"),
        count(test.late_packets, "late"),
        count(test.corrupt_packets, "corrupt"),
        count(test.refused_packets, "refused by the sender's kernel"),
        count(test.socket_drops, "dropped by the receiving socket"),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let text = format!("{:<4} {}", way(test.direction), facts.join(", "));
    (!facts.is_empty()).then(|| Line::new(2, text).hang(5))
}

/// The probe's, during the load.
fn round_trip(latency: &Latency) -> Option<Line> {
    let rtt = latency.rtt_ns?;
    let time = |ns: i64| Nanos(ns.unsigned_abs()).to_string();
    let lost = match latency.lost {
        0 => String::new(),
        lost => format!(", {lost} of {} probes lost", latency.sent),
    };
    let text = format!(
        "{:<4} round trip under load: median {}, p99 {}, max {}{lost}",
        conclusions::phase(latency.phase),
        time(rtt.p50),
        time(rtt.p99),
        time(rtt.max)
    );
    Some(Line::new(2, text).hang(5))
}

fn known<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), text)
}

/// More streams than this are shown by their sum, unless everything is printed.
const MOST: usize = 3;
