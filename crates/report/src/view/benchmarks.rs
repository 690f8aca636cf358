// SPDX-License-Identifier: MIT OR Apache-2.0
//! The benchmarks of a DUT other than throughput: a table each.

use linerate_model::output::{
    BackToBack, DeviceLatency, LossCurve, Output, Recovery, Reset, Subject,
};
use linerate_model::units::format::{
    MICROSECOND, PACKET_RATES, Step, UNKNOWN, common_step, significant,
};

use super::{Block, Column, Line, Table};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let measured = &output.benchmarks;
    let mut blocks = Vec::new();
    blocks.extend(loss_curves(&measured.loss_curves));
    blocks.extend(back_to_back(&measured.back_to_back));
    blocks.extend(latency(&measured.latency));
    blocks.extend(recovery(&measured.recovery));
    blocks.extend(reset(&measured.reset));
    blocks.extend(missing(output));
    blocks
}

fn loss_curves(curves: &[LossCurve]) -> Option<Block> {
    let steps = curves.iter().map(|curve| curve.points.len()).max()?;
    let longest = curves.iter().max_by_key(|curve| curve.points.len())?;
    let mut columns = keys(curves.iter().map(|curve| &curve.subject));
    columns.push(rates(
        "100 % is",
        curves.iter().map(|curve| Some(curve.max_load_fps)),
    ));
    for at in 0..steps {
        let name = format!("{:.0} %", longest.points[at].load_ratio * 100.0);
        let cell = |curve: &LossCurve| match curve.points.get(at) {
            None => "-".to_owned(),
            Some(point) => {
                let mark = if point.tester_limited { "*" } else { "" };
                let loss = point
                    .loss_ratio
                    .map_or_else(|| UNKNOWN.to_owned(), short_percent);
                loss + mark
            }
        };
        columns.push(Column {
            align: super::Align::Right,
            ..Column::words(&name, curves.iter().map(cell))
        });
    }
    let limited = curves.iter().flat_map(|curve| &curve.points);
    let limited = limited.filter(|point| point.tester_limited).count();
    let marked = match limited {
        0 => "",
        _ => "; * the tester did not send all frames or dropped some",
    };
    let trial_s = longest.trial_s;
    Some(table(
        format!(
            "Loss in % of the frames sent, by load (RFC 2544 26.3): {trial_s} s each, down until two in succession lose nothing{marked}"
        ),
        columns,
    ))
}

fn back_to_back(rows: &[BackToBack]) -> Option<Block> {
    let first = rows.first()?;
    let frames = |name: &str, of: fn(&BackToBack) -> Option<f64>| {
        let cells = rows.iter().map(|row| of(row).map(significant));
        Column::texts(name, "frames", cells)
    };
    let count = |name: &str, of: fn(&BackToBack) -> Option<f64>| {
        let cells = rows.iter().map(|row| of(row).map(|n| format!("{n:.0}")));
        Column::texts(name, "", cells)
    };
    let time = |name: &str, of: fn(&BackToBack) -> Option<f64>| seconds(name, rows.iter().map(of));
    let mut columns = keys(rows.iter().map(|row| &row.subject));
    columns.extend([
        rates("at", rows.iter().map(|row| Some(row.burst_fps))),
        frames("mean", |row| row.mean_frames),
        count("min", |row| {
            row.longest_frames.iter().min().map(|n| *n as f64)
        }),
        count("max", |row| {
            row.longest_frames.iter().max().map(|n| *n as f64)
        }),
        count("sd", |row| row.deviation_frames),
        time("implied", |row| row.implied_s),
        time("buffer", |row| row.corrected_s),
        frames("buffer", |row| row.buffer_frames),
    ]);
    let searches = rows.iter().map(|row| row.longest_frames.len()).max()?;
    let gap = if rows.iter().all(|row| row.is_line_rate) {
        "minimum gap"
    } else {
        "not at line rate: the tester's or the allowed rate"
    };
    Some(table(
        format!(
            "Back-to-back frames (RFC 9004): the longest burst without loss, {gap}; buffer is corrected for frames forwarded during the burst; {}, steps of {} %, a burst fails when it loses {} times",
            counted(searches, "search"),
            first.step_ratio * 100.0,
            first.tries
        ),
        columns,
    ))
}

fn latency(rows: &[DeviceLatency]) -> Option<Block> {
    let first = rows.first()?;
    let micros = |name: &str, of: fn(&DeviceLatency) -> Option<f64>| {
        Column::numbers(name, rows.iter().map(of), MICROSECOND)
    };
    let mut columns = keys(rows.iter().map(|row| &row.subject));
    if rows.iter().any(|row| row.subject.direction == "both") {
        let from = |row: &DeviceLatency| row.from.clone();
        columns.push(Column::words("from", rows.iter().map(from)));
    }
    columns.extend([
        rates("load", rows.iter().map(|row| row.load_fps)),
        micros("typical", |row| row.typical_ns.map(|of| of.median as f64)),
        micros("worst", |row| row.worst_ns.map(|of| of.median as f64)),
        micros("PDV", |row| row.pdv_ns.map(|of| of.median as f64)),
        micros("IPDV min", |row| {
            let all = row.streams.iter().filter_map(|one| one.ipdv_min_ns);
            all.min().map(|ns| ns as f64)
        }),
        micros("max", |row| {
            let all = row.streams.iter().filter_map(|one| one.ipdv_max_ns);
            all.max().map(|ns| ns as f64)
        }),
        Column::counts("lost", "frames", rows.iter().map(|row| Some(lost(row)))),
    ]);
    let streams = rows.iter().map(|row| row.streams.len()).max()?;
    Some(table(
        format!(
            "Latency at the throughput (RFC 8219 7): {} of {} s, frames from {} s on; worst is the 99.9th percentile",
            counted(streams, "stream"),
            first.stream_s,
            first.settle_s
        ),
        columns,
    ))
}

/// The number of repetitions, and how they are summarised.
fn counted(number: usize, what: &str) -> String {
    match (number, what) {
        (1, _) => format!("one {what}"),
        (_, "search") => format!("mean of {number} searches"),
        _ => format!("medians of {number} {what}s"),
    }
}

/// Two decimals below 10.
fn short_percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match percent {
        0.0 => "0".to_owned(),
        ..0.005 => "<.01".to_owned(),
        ..9.995 => format!("{percent:.2}"),
        _ => format!("{percent:.1}"),
    }
}

fn lost(row: &DeviceLatency) -> u64 {
    row.streams.iter().map(|one| one.lost_frames).sum()
}

fn recovery(rows: &[Recovery]) -> Option<Block> {
    let first = rows.first()?;
    let mut columns = keys(rows.iter().map(|row| &row.subject));
    columns.extend([
        rates("throughput", rows.iter().map(|row| row.throughput_fps)),
        rates("overload", rows.iter().map(|row| row.overload_fps)),
        rates("then", rows.iter().map(|row| row.reduced_fps)),
        seconds("recovery", rows.iter().map(|row| row.mean_s)),
        times(rows.iter().map(|row| row.attempts.len())),
    ]);
    Some(table(
        format!(
            "System recovery (RFC 2544 26.5): from the drop of the rate to the last loss, mean; {} s of overload, then {} s observed",
            first.overload_s, first.watched_s
        ),
        columns,
    ))
}

fn reset(rows: &[Reset]) -> Option<Block> {
    let first = rows.first()?;
    let by_loss = |row: &Reset| {
        let all: Option<Vec<f64>> = row.attempts.iter().map(|one| one.by_loss_s).collect();
        let all = all.filter(|all| !all.is_empty())?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    };
    let mut columns = keys(rows.iter().map(|row| &row.subject));
    columns.extend([
        rates("load", rows.iter().map(|row| row.load_fps)),
        seconds("by timestamps", rows.iter().map(|row| row.mean_s)),
        seconds("by loss", rows.iter().map(by_loss)),
        times(rows.iter().map(|row| row.attempts.len())),
    ]);
    let by = match &first.command {
        Some(command) => format!("by '{command}'"),
        None => "by hand".to_owned(),
    };
    Some(table(
        format!("Reset (RFC 6201) {by}: mean time without forwarding"),
        columns,
    ))
}

/// Why benchmarks have no number.
fn missing(output: &Output) -> Option<Block> {
    let measured = &output.benchmarks;
    let mut lines: Vec<Line> = Vec::new();
    let mut add = |what: &str, subject: &Subject, why: &Option<String>| {
        let (bytes, direction) = (subject.frame_bytes, &subject.direction);
        let text = |why| format!("{what}, {bytes} bytes, {direction}: {why}");
        lines.extend(why.as_ref().map(|why| Line::new(2, text(why))));
    };
    for one in &measured.back_to_back {
        add("back-to-back", &one.subject, &one.not_measured);
    }
    for one in &measured.latency {
        add("latency", &one.subject, &one.not_measured);
    }
    for one in &measured.recovery {
        add("recovery", &one.subject, &one.not_measured);
    }
    for one in &measured.reset {
        add("reset", &one.subject, &one.not_measured);
    }
    Block::lines("", lines)
}

fn keys<'a>(subjects: impl Iterator<Item = &'a Subject> + Clone) -> Vec<Column> {
    let size = |subject: &Subject| Some(u64::from(subject.frame_bytes));
    vec![
        Column::counts("size", "bytes", subjects.clone().map(size)),
        Column::words("dir", subjects.map(|subject| subject.direction.clone())),
    ]
}

fn rates(name: &str, values: impl Iterator<Item = Option<f64>>) -> Column {
    let values: Vec<_> = values.collect();
    let step = common_step(&values, PACKET_RATES);
    Column::numbers(name, values, step)
}

fn seconds(name: &str, values: impl Iterator<Item = Option<f64>>) -> Column {
    Column::numbers(name, values, MILLISECOND)
}

fn times(attempts: impl Iterator<Item = usize>) -> Column {
    Column::counts("of", "times", attempts.map(|count| Some(count as u64)))
}

fn table(heading: String, columns: Vec<Column>) -> Block {
    Block::Table(Table {
        heading,
        keys: 2,
        columns,
        tones: Vec::new(),
    })
}

const MILLISECOND: Step = (1e-3, "ms");

#[cfg(test)]
mod tests {
    use linerate_model::output::LatencyStream;

    use super::*;
    use crate::term::{self, Style};
    use linerate_model::output::{Benchmarks, LossPoint, RecoveryAttempt, ResetAttempt, Spread};

    fn measured() -> Benchmarks {
        let subject = Subject {
            frame_bytes: 1518,
            genome: None,
            direction: "both".to_owned(),
        };
        let spread = Some(Spread {
            median: 1_234_567,
            p1: 1,
            p99: 2,
        });
        Benchmarks {
            loss_curves: vec![LossCurve {
                subject: subject.clone(),
                max_load_fps: 14_880_952.4,
                trial_s: 60.0,
                points: (0..10).map(|at| point(1.0 - f64::from(at) * 0.1)).collect(),
            }],
            back_to_back: vec![BackToBack {
                subject: subject.clone(),
                burst_fps: 14_880_952.4,
                is_line_rate: true,
                longest_frames: vec![25_500, 27_000],
                mean_frames: Some(26_000.0),
                deviation_frames: Some(200.0),
                implied_s: Some(0.017),
                corrected_s: Some(0.0079),
                buffer_frames: Some(11_799.8),
                step_ratio: 0.01,
                tries: 2,
                ..BackToBack::default()
            }],
            latency: vec![DeviceLatency {
                subject: subject.clone(),
                from: "a".to_owned(),
                load_fps: Some(812_743.0),
                typical_ns: spread,
                worst_ns: spread,
                pdv_ns: spread,
                streams: vec![LatencyStream {
                    ipdv_min_ns: Some(-1_234_567),
                    ipdv_max_ns: Some(1_234_567),
                    ..LatencyStream::default()
                }],
                ..DeviceLatency::default()
            }],
            recovery: vec![Recovery {
                subject: subject.clone(),
                not_measured: Some(
                    "nothing was lost: the load did not overload the device".to_owned(),
                ),
                attempts: vec![RecoveryAttempt::default()],
                ..Recovery::default()
            }],
            reset: vec![Reset {
                subject,
                mean_s: Some(1.25),
                attempts: vec![ResetAttempt::default()],
                ..Reset::default()
            }],
        }
    }

    fn point(load_ratio: f64) -> LossPoint {
        LossPoint {
            load_ratio,
            loss_ratio: Some(load_ratio * 0.4321),
            tester_limited: load_ratio > 0.8,
            ..LossPoint::default()
        }
    }

    #[test]
    fn each_benchmark_has_its_table_within_eighty_columns() {
        let output = Output {
            benchmarks: measured(),
            ..Output::new("forward", "0.1.0")
        };
        let text = term::render(&output, &Style::default());
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for shown in [
            "43.2*",
            "Back-to-back frames (RFC 9004)",
            "minimum gap",
            "26000",
            "one stream of",
            "by hand",
            "1250",
            "recovery, 1518 bytes, both: nothing was lost",
        ] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
    }

    #[test]
    fn a_little_loss_is_not_none() {
        let shown = [0.0, 1e-6, 0.0123, 0.099_94, 0.5, 1.0].map(short_percent);
        assert_eq!(shown, ["0", "<.01", "1.23", "9.99", "50.0", "100.0"]);
    }
}
