// SPDX-License-Identifier: MIT OR Apache-2.0
//! The key figures of a result, in base units, for a test case or a metric.

use linerate_model::output::{ForwardResult, Knee, Latency, Output, Test, Verdict};

use super::conclusions::phase;
use super::knees::goal;
use super::{name, relevant, way};

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Its name in the document: `delivered_bits_per_second` …
    pub metric: &'static str,
    /// The test's id; may be empty.
    pub id: String,
    /// The test, size or load, in a few words.
    pub of: String,
    /// `up`, `down`, `a-b` …; empty where there is none.
    pub direction: String,
    /// In base units.
    pub value: Option<f64>,
    /// The base unit.
    pub unit: Unit,
}

/// Base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Payload (L4) bits per second.
    BitsPerSecond,
    /// Frames per second.
    FramesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Packets.
    Packets,
    /// A share, 0…1.
    Ratio,
}

/// All of them, the answer first.
pub(crate) fn of(output: &Output) -> Vec<Figure> {
    let verdicts = output.verdicts.iter().map(verdict);
    let knees = output.knees.iter().map(knee);
    let results = output.results.iter().map(result);
    let tests = relevant(output).into_iter().flat_map(test);
    let latency = output.latency.iter().flat_map(latency);
    verdicts
        .chain(knees)
        .chain(results)
        .chain(tests)
        .chain(latency)
        .collect()
}

fn verdict(verdict: &Verdict) -> Figure {
    Figure {
        metric: "achieved_bits_per_second",
        id: String::new(),
        of: "verdict".to_owned(),
        direction: way(verdict.direction).to_owned(),
        value: Some(verdict.achieved_bits_per_second),
        unit: Unit::BitsPerSecond,
    }
}

/// A rate that a longer trial refuted is none.
fn knee(knee: &Knee) -> Figure {
    Figure {
        metric: "lossless_bits_per_second",
        id: String::new(),
        of: searched(knee),
        direction: way(knee.direction).to_owned(),
        value: knee.carried_bits_per_second(),
        unit: Unit::BitsPerSecond,
    }
}

/// The payload, and the loss that was accepted.
fn searched(knee: &Knee) -> String {
    let goal = goal(knee).map(|goal| format!(", {goal}"));
    format!("{} bytes{}", knee.payload_bytes, goal.unwrap_or_default())
}

fn result(result: &ForwardResult) -> Figure {
    Figure {
        metric: "throughput_fps",
        id: String::new(),
        of: format!("{} bytes, {}", result.frame_bytes, result.goal),
        direction: result.direction.clone(),
        value: result.throughput_fps,
        unit: Unit::FramesPerSecond,
    }
}

fn test(test: &Test) -> Vec<Figure> {
    let figure = |metric, value, unit| Figure {
        metric,
        id: test.id.clone(),
        of: name(test),
        direction: way(test.direction).to_owned(),
        value,
        unit,
    };
    let rate = test.delivered_bits_per_second;
    let rate = figure("delivered_bits_per_second", rate, Unit::BitsPerSecond);
    let lost = test
        .lost_packets
        .map(|lost| figure("lost_packets", Some(lost as f64), Unit::Packets));
    let loss = test
        .loss_ratio
        .map(|loss| figure("loss_ratio", Some(loss), Unit::Ratio));
    [Some(rate), lost, loss].into_iter().flatten().collect()
}

fn latency(latency: &Latency) -> Vec<Figure> {
    let Some(rtt) = latency.rtt_ns else {
        return Vec::new();
    };
    let figure = |metric, value: i64| Figure {
        metric,
        id: String::new(),
        of: phase(latency.phase).to_owned(),
        direction: String::new(),
        value: Some(value as f64),
        unit: Unit::Nanoseconds,
    };
    vec![figure("rtt_p50_ns", rtt.p50), figure("rtt_p99_ns", rtt.p99)]
}
