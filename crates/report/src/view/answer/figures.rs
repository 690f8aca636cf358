// SPDX-License-Identifier: MIT OR Apache-2.0
//! The numbers of a check: up and down side by side, and the round trips of each load.

use linerate_model::output::{Direction, Knee, Latency, Output, Protocol, Quantiles, Test};
use linerate_model::units::format::{
    BIT_RATES, MICROSECOND, PACKET_RATES, Step, UNKNOWN, common_step, percent, significant,
};

use crate::view::{Align, Block, Column, Table, conclusions, knees};

/// A figure in both directions.
struct Row {
    name: String,
    cells: [String; 2],
    unit: String,
}

const WAYS: [Direction; 2] = [Direction::Up, Direction::Down];

pub(super) fn block(output: &Output) -> Option<Block> {
    let mut rows = tcp(output);
    rows.extend(retransmitted(output));
    rows.extend(udp(output));
    rows.extend(processors(output));
    (!rows.is_empty()).then(|| Block::Table(table(&rows)))
}

fn table(rows: &[Row]) -> Table {
    let cells = |way: usize| rows.iter().map(move |row| row.cells[way].clone());
    let right = |name, way| Column {
        align: Align::Right,
        ..Column::words(name, cells(way))
    };
    Table {
        heading: String::new(),
        keys: 1,
        columns: vec![
            Column::words("", rows.iter().map(|row| row.name.clone())),
            right("up", 0),
            right("down", 1),
            Column::words("", rows.iter().map(|row| row.unit.clone())),
        ],
        tones: Vec::new(),
    }
}

/// The goodput of each TCP test, at the receiver.
fn tcp(output: &Output) -> Vec<Row> {
    let step = rate_step(output);
    let mut names: Vec<&str> = Vec::new();
    for test in output
        .tests
        .iter()
        .filter(|test| test.protocol == Protocol::Tcp)
    {
        if !names.contains(&test.name.as_str()) {
            names.push(&test.name);
        }
    }
    let row = |name: &str| {
        let of = |way: Direction| {
            let own = |test: &&Test| test.name == name && test.direction == way;
            output.tests.iter().rev().find(own)
        };
        let [up, down] = WAYS.map(of);
        let rate =
            |test: Option<&Test>| cell(test.and_then(|test| test.delivered_bits_per_second), step);
        Some(Row {
            name: label(
                up.or(down)?,
                up.zip(down)
                    .is_some_and(|(up, down)| up.group == down.group),
            ),
            cells: [rate(up), rate(down)],
            unit: step.1.to_owned(),
        })
    };
    names.into_iter().filter_map(row).collect()
}

fn label(test: &Test, at_once: bool) -> String {
    let streams = match test.streams {
        1 => "1 stream".to_owned(),
        several => format!("{several} streams"),
    };
    match (at_once, test.streams) {
        (true, 1) => "TCP, both at once".to_owned(),
        (true, _) => format!("TCP, both at once, {streams}"),
        (false, _) => format!("TCP, {streams}"),
    }
}

/// The unit of all rates.
fn rate_step(output: &Output) -> Step {
    let tests = output
        .tests
        .iter()
        .filter(|test| test.protocol == Protocol::Tcp);
    let rates: Vec<_> = tests.map(|test| test.delivered_bits_per_second).collect();
    common_step(&rates, BIT_RATES)
}

fn cell(value: Option<f64>, (size, _): Step) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| significant(value / size))
}

/// Segments sent again, of all TCP tests of a direction.
fn retransmitted(output: &Output) -> Option<Row> {
    let cells = WAYS.map(|way| output.retransmitted_ratio(way));
    cells.iter().any(Option::is_some).then(|| Row {
        name: "TCP retransmitted".to_owned(),
        cells: cells.map(|ratio| ratio.map_or_else(|| UNKNOWN.to_owned(), percent)),
        unit: "% of the segments".to_owned(),
    })
}

/// The results of the searches: short datagrams in packets, long ones in bits a second.
fn udp(output: &Output) -> Vec<Row> {
    let mut sizes: Vec<(u32, Option<String>)> = Vec::new();
    for knee in &output.knees {
        let key = (knee.payload_bytes, knees::goal(knee));
        if !sizes.contains(&key) {
            sizes.push(key);
        }
    }
    let row = |(bytes, goal): &(u32, Option<String>)| {
        let of = |way: Direction| {
            let own = |knee: &&Knee| knee.payload_bytes == *bytes && knee.direction == way;
            output.knees.iter().find(own)
        };
        let knees = WAYS.map(of);
        let short = *bytes < SHORT_BYTES;
        let value = |knee: Option<&Knee>| knee.and_then(|knee| carried(knee, short));
        let step = match short {
            true => common_step(&knees.map(value), PACKET_RATES),
            false => rate_step(output),
        };
        let cells = knees.map(|knee| at_least(knee, cell(value(knee), step)));
        Row {
            name: format!("UDP, {}", goal.as_deref().unwrap_or("no loss")),
            cells,
            unit: format!("{} of {bytes} bytes", step.1),
        }
    };
    sizes.iter().map(row).collect()
}

fn carried(knee: &Knee, short: bool) -> Option<f64> {
    let rate = knee.carried_bits_per_second()?;
    match short {
        true => knee.lossless_pps,
        false => Some(rate),
    }
}

/// A rate that the sender could not exceed is a lower bound.
fn at_least(knee: Option<&Knee>, cell: String) -> String {
    let Some(knee) = knee else { return cell };
    match (knee.carried_bits_per_second(), knee.limited_by.as_str()) {
        (Some(_), "sender") => format!("≥ {cell}"),
        (None, _) => "none".to_owned(),
        _ => cell,
    }
}

/// The busiest processor of both ends in the tests of one direction.
fn processors(output: &Output) -> Option<Row> {
    let most = |way: Direction, far: bool| {
        let loads = output.tests.iter().filter(|test| test.direction == way);
        let loads = loads.filter_map(|test| if far { test.cpu.remote } else { test.cpu.local });
        loads.map(|cpu| cpu.busiest_cpu).max_by(f64::total_cmp)
    };
    let share = |load: Option<f64>| {
        load.map_or_else(|| UNKNOWN.to_owned(), |load| format!("{:.0}", load * 100.0))
    };
    let pair = |way| format!("{}/{}", share(most(way, false)), share(most(way, true)));
    let known = |way| most(way, false).or(most(way, true)).is_some();
    WAYS.into_iter().any(known).then(|| Row {
        name: "busiest CPU".to_owned(),
        cells: WAYS.map(pair),
        unit: "% here/there".to_owned(),
    })
}

/// Round trips, a column a load.
pub(super) fn latency(output: &Output) -> Option<Block> {
    let rows = &output.latency;
    let known = |row: &&Latency| row.rtt_ns.is_some() || row.sent > 0;
    let shown: Vec<&Latency> = rows.iter().filter(known).collect();
    let lossy = shown.iter().any(|row| row.lost > 0);
    let column = |row: &&Latency| {
        let part =
            |of: fn(Quantiles) -> i64| cell(row.rtt_ns.map(|rtt| of(rtt) as f64), MICROSECOND);
        let lost = lossy.then(|| format!("{}/{}", row.lost, row.sent));
        let cells = [part(|rtt| rtt.p50), part(|rtt| rtt.p99)];
        Column {
            align: Align::Right,
            ..Column::words(conclusions::phase(row.phase), cells.into_iter().chain(lost))
        }
    };
    let words = |name: &str, all: [&str; 3]| {
        Column::words(
            name,
            all.into_iter()
                .take(if lossy { 3 } else { 2 })
                .map(str::to_owned),
        )
    };
    let mut columns = vec![words("round trip", ["median", "p99", "lost"])];
    columns.extend(shown.iter().map(column));
    columns.push(words("", ["us", "us", "probes"]));
    (!shown.is_empty()).then(|| {
        Block::Table(Table {
            heading: String::new(),
            keys: 1,
            columns,
            tones: Vec::new(),
        })
    })
}

const SHORT_BYTES: u32 = 512;
