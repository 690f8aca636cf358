// SPDX-License-Identifier: MIT OR Apache-2.0
//! The charts: curves in base units, with their axes. Every point is a number of the document or the record.

use linerate_model::output::{ForwardResult, Interval, Output, Phase, Quantiles, Test};
use linerate_model::round_trips::RoundTrips;
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, Step, TIMES};

use super::conclusions::phase;
use super::{name, relevant, way};
use crate::subject::Subject;
use linerate_model::order;

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// What it shows.
    pub title: &'static str,
    /// Layer and side of its numbers.
    pub note: &'static str,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In the order of the legend.
    pub curves: Vec<Curve>,
    /// Points of their own: no line joins them.
    pub dots: bool,
}

/// One axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// What is on it.
    pub label: &'static str,
    /// The units to choose from.
    pub steps: &'static [Step],
    /// Each step ten times the last.
    pub logarithmic: bool,
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// In the legend.
    pub label: String,
    /// In base units, from left to right.
    pub points: Vec<(f64, f64)>,
    /// A limit instead of a measurement.
    pub limit: bool,
}

impl Curve {
    fn measured(label: String, points: Vec<(f64, f64)>) -> Self {
        Self {
            label,
            points,
            limit: false,
        }
    }
}

/// All charts that the run has numbers for.
pub(crate) fn of(subject: &Subject) -> Vec<Chart> {
    let output = &subject.output;
    let charts = [
        latency_over_time(subject),
        latency(subject),
        over_time(output),
        loss_over_rate(output),
        frames_by_size(output),
        bits_by_size(output),
        loss_over_load(output),
    ];
    charts.into_iter().flatten().collect()
}

fn chart(
    title: &'static str,
    note: &'static str,
    [x, y]: [Axis; 2],
    curves: Vec<Curve>,
) -> Option<Chart> {
    (!curves.is_empty()).then_some(Chart {
        title,
        note,
        x,
        y,
        curves,
        dots: false,
    })
}

/// One point per trial: a search goes back and forth.
fn of_trials(
    title: &'static str,
    note: &'static str,
    axes: [Axis; 2],
    mut curves: Vec<Curve>,
) -> Option<Chart> {
    let points: usize = curves.iter().map(|curve| curve.points.len()).sum();
    curves.truncate(MOST);
    let chart = chart(title, note, axes, curves).filter(|_| points > 1)?;
    Some(Chart {
        dots: true,
        ..chart
    })
}

fn over_time(output: &Output) -> Option<Chart> {
    let curve = |test: &&Test| {
        let rate = |interval: &Interval| {
            let rate = interval.received_bits_per_second;
            let middle_s = f64::midpoint(interval.start_s, interval.end_s);
            Some((middle_s, rate.or(interval.sent_bits_per_second)?))
        };
        let label = format!("{} {}", name(test), way(test.direction));
        // The rest at the end of a test is no interval.
        let long_s = |interval: &Interval| interval.end_s - interval.start_s;
        let longest_s = test.intervals.iter().map(long_s).fold(0.0, f64::max);
        let whole = |interval: &&Interval| long_s(interval) > longest_s / 2.0;
        let intervals = test.intervals.iter().filter(whole);
        Curve::measured(label, intervals.filter_map(rate).collect())
    };
    let tests = relevant(output);
    let curves = tests
        .iter()
        .filter(|test| !output.is_trial(test))
        .map(curve);
    let curves: Vec<_> = curves
        .filter(|curve| curve.points.len() > 1)
        .take(MOST)
        .collect();
    let note =
        "mean L4 goodput of each interval, counted by the receiver if possible, else by the sender";
    chart("Throughput over time", note, [SECONDS, RATE], curves)
}

/// The trials of a direction and size, by the load offered.
fn loss_over_rate(output: &Output) -> Option<Chart> {
    let mut curves: Vec<Curve> = Vec::new();
    for test in &output.tests {
        let (Some(rate), Some(loss)) = (test.offered_bits_per_second, test.loss_ratio) else {
            continue;
        };
        let label = format!("{}, {} bytes", way(test.direction), test.payload_bytes);
        push(&mut curves, label, (rate, loss));
    }
    let note = "loss ratio by offered L4 rate, one point per trial";
    of_trials("Loss by offered rate", note, [OFFERED, LOSS], curves)
}

fn loss_over_load(output: &Output) -> Option<Chart> {
    let mut curves: Vec<Curve> = Vec::new();
    for trial in output.trials.iter().filter(|trial| trial.valid) {
        let label = format!("{} bytes", trial.frame_bytes);
        push(&mut curves, label, (trial.load_fps, trial.loss_ratio));
    }
    let note = "share of lost or unsent frames by the load of each direction, one point per trial";
    of_trials("Loss by load", note, [LOAD, LOSS], curves)
}

fn frames_by_size(output: &Output) -> Option<Chart> {
    let note = "frames per second of each direction, at the goal's loss or less";
    let curves = by_size(output, |row| row.throughput_fps, ForwardResult::line_fps);
    chart("Frame rate by frame size", note, [SIZE, FRAMES], curves)
}

fn bits_by_size(output: &Output) -> Option<Chart> {
    let note = "L2 rate with FCS of each direction";
    let curves = by_size(
        output,
        |row| row.l2_bits_per_second,
        ForwardResult::line_l2_bits_per_second,
    );
    chart("Bit rate by frame size", note, [SIZE, RATE_L2], curves)
}

/// One curve per goal and direction, and the line rate.
fn by_size(
    output: &Output,
    value: fn(&ForwardResult) -> Option<f64>,
    line: fn(&ForwardResult) -> Option<f64>,
) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    let mut limit: Vec<(f64, f64)> = Vec::new();
    for row in &output.results {
        let size = f64::from(row.frame_bytes);
        if let Some(value) = value(row) {
            let label = format!("{} {}", row.goal, row.direction);
            push(&mut curves, label, (size, value));
        }
        if let Some(line) = line(row).filter(|_| limit.iter().all(|known| known.0 != size)) {
            limit.push((size, line));
        }
    }
    if !limit.is_empty() {
        order::by(&mut limit, |one, other| one.0.total_cmp(&other.0));
        curves.push(Curve {
            label: "line rate".to_owned(),
            points: limit,
            limit: true,
        });
    }
    curves
}

fn latency(subject: &Subject) -> Option<Chart> {
    let rows = &subject.output.latency;
    let curve =
        |(load, points): (Phase, Vec<(f64, f64)>)| Curve::measured(phase(load).to_owned(), points);
    let stored = subject.round_trips.iter();
    let stored = stored.filter(|trips| !trips.buckets.is_empty());
    let stored = stored.map(|trips| (trips.phase, every(trips)));
    let mut curves: Vec<_> = stored.map(curve).collect();
    if curves.is_empty() {
        let known = rows
            .iter()
            .filter_map(|row| Some((row.phase, few(row.rtt_ns?))));
        curves = known.map(curve).collect();
    }
    let note = "cumulative share of the probe's round trips, by load";
    chart("Latency distribution", note, [ROUND_TRIP, SHARE], curves)
}

fn latency_over_time(subject: &Subject) -> Option<Chart> {
    let all = subject
        .round_trips
        .iter()
        .flat_map(|trips| &trips.over_time);
    let start_ns = all.map(|trip| trip.0).min()?;
    let curve = |trips: &RoundTrips| {
        let stride = trips.over_time.len().div_ceil(MOST_TRIPS).max(1);
        let slowest = |stretch: &[(u64, u64)]| {
            let (at_ns, rtt_ns) = stretch.iter().copied().max_by_key(|trip| trip.1)?;
            Some(((at_ns - start_ns) as f64 / 1e9, rtt_ns as f64))
        };
        let points = trips.over_time.chunks(stride).filter_map(slowest);
        Curve::measured(phase(trips.phase).to_owned(), points.collect())
    };
    let curves = subject.round_trips.iter().map(curve);
    let curves = curves.filter(|curve| !curve.points.is_empty()).collect();
    let note = "the probe's round trips, by load; of many the slowest of each stretch";
    of_trials("Latency over time", note, [OF_RUN, ROUND_TRIP], curves)
}

fn every(trips: &RoundTrips) -> Vec<(f64, f64)> {
    let all = trips.cumulative();
    // A chart is some hundred points wide; the first and the last are always included.
    let stride = all.len().div_ceil(MOST_POINTS).max(1);
    let shown = all.iter().enumerate();
    let shown = shown.filter(|(at, _)| at % stride == 0 || at + 1 == all.len());
    shown
        .map(|(_, (upper_ns, share))| (*upper_ns as f64, *share))
        .collect()
}

fn few(rtt: Quantiles) -> Vec<(f64, f64)> {
    let points = [
        (rtt.min, 0.0),
        (rtt.p50, 0.5),
        (rtt.p99, 0.99),
        (rtt.p999, 0.999),
        (rtt.max, 1.0),
    ];
    points.map(|(ns, share)| (ns as f64, share)).to_vec()
}

fn push(curves: &mut Vec<Curve>, label: String, point: (f64, f64)) {
    match curves.iter_mut().find(|curve| curve.label == label) {
        Some(Curve { points, .. }) => {
            points.push(point);
            order::by(points, |one, other| one.0.total_cmp(&other.0));
        }
        None => curves.push(Curve::measured(label, vec![point])),
    }
}

const fn axis(label: &'static str, steps: &'static [Step]) -> Axis {
    Axis {
        label,
        steps,
        logarithmic: false,
    }
}

const SECONDS: Axis = axis("time since the start of the test", &[(1.0, "s")]);
const OF_RUN: Axis = axis("time since the first probe", &[(1.0, "s")]);
const RATE: Axis = axis("L4 goodput", BIT_RATES);
const RATE_L2: Axis = axis("L2 rate", BIT_RATES);
const OFFERED: Axis = axis("offered L4 rate", BIT_RATES);
const LOSS: Axis = axis("lost", PERCENT);
const LOAD: Axis = axis("load", PACKET_RATES);
const FRAMES: Axis = axis("throughput", PACKET_RATES);
const SIZE: Axis = axis("frame size with FCS", &[(1.0, "bytes")]);
const SHARE: Axis = axis("share of round trips", PERCENT);
const ROUND_TRIP: Axis = Axis {
    logarithmic: true,
    ..axis("round-trip time", TIMES)
};
const PERCENT: &[Step] = &[(0.01, "%")];
/// The number of distinct colours and dashes.
const MOST: usize = 6;
const MOST_POINTS: usize = 300;
/// Of a load, over time.
const MOST_TRIPS: usize = 150;
