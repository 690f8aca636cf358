// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows from the tests: latency, knees, warnings, verdicts; last, as it is what the user asks for, where
//! packets were lost and why; expectations.

use linerate_model::output::{
    Expectation, Latency, Output, Phase, Quantiles, Test, Verdict, Warning,
};
use linerate_model::units::format::{BIT_RATES, MICROSECOND, with_unit};

use super::{
    Align, Block, Column, Line, Table, Tone, findings, knees, ledger, moved, name, relevant, way,
};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let blocks = [
        latency(output),
        knees::block(output),
        invalid(output),
        warnings(output),
        moved::all(output),
        verdicts(output),
        ledger::block(output),
    ];
    let ends = [expectations(output), Block::lines("", stored(output))];
    blocks
        .into_iter()
        .flatten()
        .chain(findings::blocks(output))
        .chain(ends.into_iter().flatten())
        .collect()
}

pub(super) fn latency(output: &Output) -> Option<Block> {
    let rows = &output.latency;
    let rtt = |name, part: fn(Quantiles) -> i64| {
        let value = |row: &Latency| row.rtt_ns.map(|rtt| part(rtt) as f64);
        Column::numbers(name, rows.iter().map(value), MICROSECOND)
    };
    let counts = |row: &Latency| format!("{}/{}", row.lost, row.sent);
    let columns = vec![
        Column::words("load", rows.iter().map(|row| phase(row.phase).to_owned())),
        Column {
            unit: "probes".to_owned(),
            align: Align::Right,
            ..Column::words("lost/sent", rows.iter().map(counts))
        },
        rtt("min", |rtt| rtt.min),
        rtt("p50", |rtt| rtt.p50),
        rtt("p99", |rtt| rtt.p99),
        rtt("p99.9", |rtt| rtt.p999),
        rtt("max", |rtt| rtt.max),
    ];
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            heading: latency_heading(rows),
            keys: 1,
            columns,
            tones: Vec::new(),
        })
    })
}

fn latency_heading(rows: &[Latency]) -> String {
    let echo = rows.iter().any(|row| row.method == "icmp-echo");
    let probe = if echo { "ICMP echo" } else { "the probe" };
    format!("latency: round trips of {probe}, by load")
}

pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Up => "up",
        Phase::Down => "down",
        Phase::Both => "both",
    }
}

pub(super) fn invalid(output: &Output) -> Option<Block> {
    let tests = relevant(output).into_iter().filter(|test| !test.valid);
    let line = |test: &Test| {
        let reason = test
            .invalid_reason
            .as_deref()
            .unwrap_or("no reason was recorded");
        Line::new(
            2,
            format!("INVALID {} {}: {reason}", name(test), way(test.direction)),
        )
        .tone(Tone::Bad)
    };
    Block::lines("invalid", tests.map(line))
}

/// Each kind of warning once, with the text of its first test and the names of all its tests.
pub(super) fn warnings(output: &Output) -> Option<Block> {
    let mut distinct: Vec<(&Warning, Vec<String>)> = Vec::new();
    for test in relevant(output) {
        let title = format!("{} {}", name(test), way(test.direction));
        for warning in &test.warnings {
            match distinct
                .iter_mut()
                .find(|(known, _)| known.id == warning.id)
            {
                Some((_, tests)) => tests.push(title.clone()),
                None => distinct.push((warning, vec![title.clone()])),
            }
        }
    }
    let lines = |(warning, tests): (&Warning, Vec<String>)| warning_lines(warning, &tests);
    Block::lines("warnings", distinct.into_iter().flat_map(lines))
}

fn warning_lines(warning: &Warning, tests: &[String]) -> Vec<Line> {
    let whose = match tests {
        [first, second, _, ..] => format!("{first}, {second} and {} more", tests.len() - 2),
        few => few.join(", "),
    };
    let text = format!("warning: {} ({whose}): {}", warning.id, warning.text);
    let mut lines = vec![Line::new(2, text).tone(Tone::Warn)];
    lines.extend(Line::labelled(4, "try", &warning.try_));
    lines
}

pub(super) fn verdicts(output: &Output) -> Option<Block> {
    Block::lines(
        "verdict: L4 goodput",
        output.verdicts.iter().flat_map(verdict),
    )
}

fn verdict(verdict: &Verdict) -> Vec<Line> {
    let achieved = with_unit(verdict.achieved_bits_per_second, BIT_RATES);
    let of_line = match (verdict.line_rate_ratio(), verdict.line_rate_bits_per_second) {
        (Some(ratio), Some(line)) => {
            let line = with_unit(line, BIT_RATES);
            format!("{:.1} % of the line rate of {line}", ratio * 100.0)
        }
        _ => "line rate unknown".to_owned(),
    };
    let (way, limit) = (way(verdict.direction), knees::limit(verdict.limit));
    let mut lines = vec![Line::new(
        2,
        format!("{way}: {achieved}, {of_line}; limited by {limit}"),
    )];
    lines.extend(Line::labelled(4, "why", &verdict.why));
    lines.extend(Line::labelled(4, "try", &verdict.try_));
    lines
}

pub(super) fn expectations(output: &Output) -> Option<Block> {
    Block::lines("expectations", output.expectations.iter().map(expectation))
}

fn expectation(expectation: &Expectation) -> Line {
    let (word, tone) = if expectation.met {
        ("met", Tone::Good)
    } else {
        ("NOT MET", Tone::Bad)
    };
    let measured = expectation.measured();
    let measured = measured.map_or_else(String::new, |number| format!(": {number}"));
    Line::new(2, format!("{word}: {}{measured}", expectation.expression)).tone(tone)
}

fn stored(output: &Output) -> Option<Line> {
    let directory = output.run_dir.as_ref()?;
    Some(Line::new(0, format!("stored in {directory}")))
}
