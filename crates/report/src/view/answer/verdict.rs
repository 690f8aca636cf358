// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line a direction: the rate, its share of the line, what limits it.

use linerate_model::output::{Direction, Finding, Limit, Output, Verdict};
use linerate_model::units::format::{BIT_RATES, column};

use crate::view::{Block, Line, Tone, conclusions, knees, way};

pub(super) fn block(output: &Output) -> Vec<Block> {
    let lines = Block::lines("", lines(output));
    [conclusions::invalid(output), lines]
        .into_iter()
        .flatten()
        .collect()
}

/// The verdicts, their rates in one unit.
pub(super) fn lines(output: &Output) -> Vec<Line> {
    let all = &output.verdicts;
    let rates: Vec<_> = all
        .iter()
        .map(|one| Some(one.achieved_bits_per_second))
        .collect();
    let rates = column(&rates, BIT_RATES);
    let shares: Vec<String> = all.iter().map(share).collect();
    let width = shares.iter().map(String::len).max().unwrap_or(0);
    let line = |(at, one): (usize, &Verdict)| {
        let rate = format!(
            "{:<4} {} {}",
            way(one.direction),
            rates.cells[at],
            rates.unit
        );
        let share = format!("{:>width$}", shares[at]);
        let parts = [rate, share, judged(output, one)];
        let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let tone = match one.limit {
            Limit::Link => Tone::Good,
            _ => Tone::Plain,
        };
        Line::new(2, known.join("  ")).hang(5).tone(tone)
    };
    all.iter().enumerate().map(line).collect()
}

fn share(verdict: &Verdict) -> String {
    let ratio = verdict.line_rate_ratio();
    ratio.map_or_else(String::new, |ratio| {
        format!("{:.0} % of the line", ratio * 100.0)
    })
}

/// The limit, and the first finding about this direction that is more than possible.
fn judged(output: &Output, verdict: &Verdict) -> String {
    let limit = match (verdict.limit, verdict.line_rate_bits_per_second) {
        (Limit::Link, _) => return "OK".to_owned(),
        (Limit::Unknown, None) => "limit unknown".to_owned(),
        (Limit::Unknown, Some(_)) => "below the line, limit unknown".to_owned(),
        (limit, _) => format!("limited by {}", knees::limit(limit)),
    };
    let causes = output
        .findings
        .iter()
        .filter(|finding| !finding.informational);
    let about = |(_, finding): &(usize, &Finding)| {
        finding.strength != "weak" && concerns(output, finding, verdict.direction)
    };
    match causes.enumerate().find(about) {
        Some((at, _)) => format!("{limit} (see {})", at + 1),
        None => limit,
    }
}

/// Whether one of the finding's tests has this direction.
fn concerns(output: &Output, finding: &Finding, direction: Direction) -> bool {
    let mut tests = finding.test_ids.iter().filter_map(|id| output.test(id));
    tests.any(|test| test.direction == direction)
}
