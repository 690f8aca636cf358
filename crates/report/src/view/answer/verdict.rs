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
        let (way, rate, unit) = (way(one.direction), &rates.cells[at], rates.unit);
        let share = &shares[at];
        let text = format!(
            "{way:<4} {rate} {unit}  {share:>width$}  {}",
            judged(output, one)
        );
        let tone = match one.limit {
            Limit::Link => Tone::Good,
            _ => Tone::Plain,
        };
        Line::new(2, text.replace("    ", "  ")).hang(5).tone(tone)
    };
    all.iter().enumerate().map(line).collect()
}

fn share(verdict: &Verdict) -> String {
    let ratio = verdict.line_rate_ratio();
    ratio.map_or_else(String::new, |ratio| {
        format!("{:.0} % of the line", ratio * 100.0)
    })
}

/// The limit, and the finding that explains it.
fn judged(output: &Output, verdict: &Verdict) -> String {
    let limit = match verdict.limit {
        Limit::Link => return "OK".to_owned(),
        Limit::Unknown => "below the line, limit unknown".to_owned(),
        limit => format!("limited by {}", knees::limit(limit)),
    };
    let limit = match (verdict.limit, verdict.line_rate_bits_per_second) {
        (Limit::Unknown, None) => "limit unknown".to_owned(),
        _ => limit,
    };
    let causes = output
        .findings
        .iter()
        .filter(|finding| !finding.informational);
    let about = |(_, finding): &(usize, &Finding)| concerns(output, finding, verdict.direction);
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
