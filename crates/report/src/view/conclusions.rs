// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows from the tests: latency, knees, what can mislead, causes, verdicts, expectations.

use linerate_model::output::{
    Change, Expectation, Finding, Knee, Limit, Output, Phase, Quantiles, Verdict, Warning,
};
use linerate_model::units::format::{BIT_RATES, MICROSECOND, PACKET_RATES, percent, with_unit};

use super::{Align, Block, Column, Line, Table, Tone, name, relevant, way};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let blocks = [
        latency(output),
        lines(
            "highest rate without loss: L4 goodput",
            output.knees.iter().flat_map(knee),
        ),
        lines("invalid", invalid(output).into_iter()),
        lines("warnings", warnings(output).into_iter()),
        lines("findings", output.findings.iter().flat_map(finding)),
        lines("verdict: L4 goodput", output.verdicts.iter().map(verdict)),
        lines("expectations", output.expectations.iter().map(expectation)),
        lines("", stored(output).into_iter()),
    ];
    blocks.into_iter().flatten().collect()
}

fn lines(heading: &str, lines: impl Iterator<Item = Line>) -> Option<Block> {
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| Block::Lines {
        heading: heading.to_owned(),
        lines,
    })
}

fn latency(output: &Output) -> Option<Block> {
    let rows = &output.latency;
    let rtt = |name, part: fn(Quantiles) -> i64| {
        let values: Vec<_> = rows
            .iter()
            .map(|row| row.rtt_ns.map(|rtt| part(rtt) as f64))
            .collect();
        Column::numbers(name, &values, MICROSECOND)
    };
    let counts = |row: &linerate_model::output::Latency| format!("{}/{}", row.lost, row.sent);
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

fn latency_heading(rows: &[linerate_model::output::Latency]) -> String {
    let echo = rows.iter().any(|row| row.method == "icmp-echo");
    let probe = if echo { "ICMP echo" } else { "the probe" };
    format!("latency: round trips of {probe}, by load")
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Up => "up",
        Phase::Down => "down",
        Phase::Both => "both",
    }
}

fn knee(knee: &Knee) -> Vec<Line> {
    let rate = |rate: f64| with_unit(rate, BIT_RATES);
    let bracket = match (knee.lossless_bits_per_second, knee.lossy_bits_per_second) {
        (Some(lossless), Some(lossy)) => {
            format!("{} (lossless) … {} (lossy)", rate(lossless), rate(lossy))
        }
        (Some(lossless), None) => format!("{} (lossless), no loss was seen", rate(lossless)),
        (None, Some(lossy)) => format!("none was found; {} is lossy", rate(lossy)),
        (None, None) => "could not be told".to_owned(),
    };
    let goal = if knee.goal_loss_ratio > 0.0 {
        format!(" (at most {} % lost)", percent(knee.goal_loss_ratio))
    } else {
        String::new()
    };
    let direction = way(knee.direction);
    let mut details = vec![format!("payload {} bytes", knee.payload_bytes)];
    details.extend(knee.lossless_pps.map(|pps| with_unit(pps, PACKET_RATES)));
    details.push(format!("{} trials", knee.trials));
    details.extend(ended_by(&knee.limited_by));
    vec![
        Line::new(2, format!("{direction}: {bracket}{goal}")),
        Line::new(4, details.join(", ")),
    ]
}

/// Why a search stopped where it did; loss is what it looks for and needs no word.
fn ended_by(limit: &str) -> Option<String> {
    match limit {
        "" | "loss" => None,
        "range" => Some("to the end of the asked range".to_owned()),
        "sender" => Some("beyond that the sender could not offer".to_owned()),
        "trials" => Some("stopped for want of trials".to_owned()),
        other => Some(format!("ended by {other}")),
    }
}

fn invalid(output: &Output) -> Vec<Line> {
    let tests = relevant(output).into_iter().filter(|test| !test.valid);
    let line = |test: &linerate_model::output::Test| {
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
    tests.map(line).collect()
}

/// Each kind of warning once, in the words of its first test, with the tests that it is of.
fn warnings(output: &Output) -> Vec<Line> {
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
    distinct
        .iter()
        .flat_map(|(warning, tests)| warning_lines(warning, tests))
        .collect()
}

fn warning_lines(warning: &Warning, tests: &[String]) -> Vec<Line> {
    let whose = match tests {
        [first, second, _, ..] => format!("{first}, {second} and {} more", tests.len() - 2),
        few => few.join(", "),
    };
    let text = format!("warning: {} ({whose}): {}", warning.id, warning.text);
    let mut lines = vec![Line::new(2, text).tone(Tone::Warn)];
    if !warning.try_.is_empty() {
        lines.push(Line::new(4, format!("try: {}", warning.try_)));
    }
    lines
}

fn finding(finding: &Finding) -> Vec<Line> {
    let mut lines = vec![Line::new(
        2,
        format!("{} ({}, {})", finding.title, finding.strength, finding.rule),
    )];
    if !finding.why.is_empty() {
        lines.push(Line::new(4, format!("why: {}", finding.why)));
    }
    if let Some(Change { commands, .. }) = &finding.change {
        lines.extend(
            commands
                .iter()
                .map(|command| Line::new(4, format!("try: {command}"))),
        );
    }
    lines
}

fn verdict(verdict: &Verdict) -> Line {
    let achieved = with_unit(verdict.achieved_bits_per_second, BIT_RATES);
    let of_line = match (verdict.line_rate_ratio(), verdict.line_rate_bits_per_second) {
        (Some(ratio), Some(line)) => {
            let line = with_unit(line, BIT_RATES);
            format!("{:.1} % of the line rate of {line}", ratio * 100.0)
        }
        _ => "line rate not known".to_owned(),
    };
    Line::new(
        2,
        format!(
            "{}: {achieved}, {of_line}; {}",
            way(verdict.direction),
            limit(verdict.limit)
        ),
    )
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Link => "limited by the link's own rate",
        Limit::Path => "limited by the path",
        Limit::ReceiverCpu => "limited by the receiver's processor",
        Limit::ReceiverSocket => "limited by the receiving socket's buffer",
        Limit::Sender => "limited by the sender",
        Limit::Unknown => "limited by something unknown",
    }
}

fn expectation(expectation: &Expectation) -> Line {
    let (word, tone) = if expectation.met {
        ("met", Tone::Good)
    } else {
        ("NOT MET", Tone::Bad)
    };
    Line::new(2, format!("{word}: {}", expectation.expression)).tone(tone)
}

fn stored(output: &Output) -> Option<Line> {
    let directory = output.run_dir.as_ref()?;
    Some(Line::new(0, format!("stored in {directory}")))
}
