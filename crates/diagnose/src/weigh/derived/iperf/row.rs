// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of all runs, as `iperf` and `iperf3` print them.

use super::LINE_MOST;
use crate::weigh::observed::Line;

/// A row of one interval.
#[derive(Debug, Clone)]
pub(in super::super) struct Row<'t> {
    /// `5`, `SUM`.
    pub(super) id: &'t str,
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    /// Bits a second.
    pub(in super::super) rate: f64,
    /// Lost and all datagrams.
    pub(super) lost: Option<(f64, f64)>,
    pub(super) is_udp: bool,
    pub(super) is_receiver: bool,
    pub(in super::super) line: u64,
    /// Of which run, from 0.
    pub(super) run: usize,
    /// The text above, before and after it.
    pub(super) labels: [&'t str; 3],
}

impl Row<'_> {
    /// Whether it covers a whole run.
    pub(super) fn is_total(&self) -> bool {
        self.from_s < 0.5 && self.to_s > 1.5
    }

    /// Whether another run begins with `next`.
    pub(super) fn is_before(&self, next: &Self) -> bool {
        self.is_total()
            && self.id == next.id
            && next.from_s < 0.5
            && (!next.is_total() || self.has_other_label(next))
    }

    /// Rows of the sender and of the receiver of one run differ in nothing else.
    pub(super) fn has_other_label(&self, next: &Self) -> bool {
        self.labels[1] != next.labels[1] || self.is_receiver == next.is_receiver
    }

    /// Whether a label has one of the marks and none of the others.
    pub(super) fn is_labelled(&self, marks: &[&str], others: &[&str]) -> bool {
        let has = |marks: &[&str]| {
            self.labels
                .iter()
                .any(|label| marks.iter().any(|mark| label.contains(mark)))
        };
        has(marks) && !has(others)
    }

    pub(super) fn is_sum(&self) -> bool {
        self.id == "SUM"
    }
}

/// The rows of all runs.
pub(in super::super) fn rows<'t>(lines: &[Line<'t>]) -> Vec<Row<'t>> {
    let mut all: Vec<Row<'t>> = Vec::new();
    let (mut run, mut is_udp, mut above) = (0, false, "");
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text.trim_start();
        if begins(text) {
            run += 1;
            is_udp = text.contains("UDP") || text.contains(" -u");
        }
        is_udp |= text.starts_with("[ ID]") && text.contains("Datagrams");
        if let Some(mut row) = row(line) {
            run += usize::from(
                all.last()
                    .is_some_and(|last| last.run == run && last.is_before(&row)),
            );
            (row.run, row.is_udp, row.labels[0]) = (run, row.is_udp || is_udp, above);
            all.push(row);
        } else if is_label(text) {
            above = text;
        }
    }
    all
}

/// Whether a run begins.
fn begins(text: &str) -> bool {
    BEGINS.iter().any(|mark| text.starts_with(mark)) || text.contains("iperf")
}

fn is_label(text: &str) -> bool {
    let is_own = text.starts_with(['[', '-']) || text.starts_with("iperf Done");
    !text.is_empty() && !is_own && text.len() < LABEL_MOST
}

/// `[  5]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec    0  sender`, of any version; what stands before it is a label.
fn row<'t>(line: &Line<'t>) -> Option<Row<'t>> {
    let text = line.text;
    let (before, rest) = text.contains("bits/sec").then(|| text.split_once('['))??;
    let (id, rest) = rest.split_once(']')?;
    let rest = rest
        .trim_start()
        .trim_start_matches("[TX-C]")
        .trim_start_matches("[RX-C]");
    let (span, after) = rest.split_once(" sec")?;
    let (from, to) = span.trim().split_once('-')?;
    let (rates, tail) = after.split_once("bits/sec")?;
    let rates: Vec<&str> = rates.split_whitespace().collect();
    let (prefix, digits) = unit_and_number(&rates)?;
    Some(Row {
        id: id.trim(),
        from_s: from.trim().parse().ok()?,
        to_s: to.trim().parse().ok()?,
        rate: digits * prefix,
        lost: lost(tail),
        is_udp: lost(tail).is_some(),
        is_receiver: tail.contains("receiver"),
        line: line.number,
        run: 0,
        labels: ["", before, tail],
    })
}

/// `940 M`
fn unit_and_number(words: &[&str]) -> Option<(f64, f64)> {
    let (last, before) = words.split_last()?;
    let scale = |prefix: &str| match prefix {
        "K" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    };
    match scale(last) {
        Some(scale) => Some((scale, before.last()?.parse().ok()?)),
        None => Some((1.0, last.parse().ok()?)),
    }
}

/// `0.020 ms  36/17267 (0.21%)`, `36/ 17267 (0.21%)`
fn lost(tail: &str) -> Option<(f64, f64)> {
    let (before, _) = tail.split_once('(')?;
    let (lost, all) = before.split_once('/')?;
    let lost = lost.split_whitespace().next_back()?.parse().ok()?;
    let all: f64 = all.trim().parse().ok()?;
    (all > 0.0).then_some((lost, all))
}

const LABEL_MOST: usize = 160;

const BEGINS: &[&str] = &[
    "Connecting to host",
    "Client connecting",
    "Server listening",
    "Accepted connection",
];
