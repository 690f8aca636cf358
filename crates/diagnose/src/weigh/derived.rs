// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that several lines of a text show together: `fact NAME` in the tables of causes. A fact that the lines do not
//! show is absent, never 0.

mod capture;
mod cloud;
mod contradictions;
mod counted;
mod filter;
mod hops;
mod interfaces;
mod iperf;
mod link;
mod names;
mod neighbours;
mod ping;
mod rate;
mod round_trips;
mod routes;
mod sockets;
mod spoken;

use super::observed::{Counted, Field, Line, normal};

/// A fact of a text.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// A line that shows it.
    pub(super) line: Option<u64>,
}

impl Fact {
    fn new(name: &'static str, value: impl ToString, line: u64) -> Self {
        Self {
            name,
            value: value.to_string(),
            line: Some(line),
        }
    }
}

/// Reads facts from lines.
type Reader = fn(&[Line<'_>]) -> Vec<Fact>;

/// The facts of the lines, fields and counters of a text, as fields.
pub(super) fn of(lines: &[Line<'_>], fields: &[Field], counters: &[Counted]) -> Vec<Field> {
    let readers: [Reader; 14] = [
        capture::facts,
        cloud::facts,
        contradictions::facts,
        filter::facts,
        hops::facts,
        interfaces::facts,
        iperf::facts,
        names::facts,
        neighbours::facts,
        ping::facts,
        round_trips::facts,
        routes::facts,
        sockets::facts,
        spoken::facts,
    ];
    let of_lines = readers.iter().flat_map(|read| read(lines));
    let all = of_lines
        .chain(link::facts(fields))
        .chain(counted::facts(counters));
    let field = |fact: Fact| Field {
        interface: None,
        name: normal(&format!("fact {}", fact.name)),
        title: fact.name.to_owned(),
        value: fact.value,
        line: fact.line,
    };
    all.map(field).collect()
}

/// The number that follows `mark`.
fn number_after(text: &str, mark: &str) -> Option<f64> {
    let (_, rest) = text.split_once(mark)?;
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// How alike the distances between `times` are, 1 if they all are the same: of four times or more, each after the one
/// before by at least `least`.
fn regularity(times: &[f64], least: f64) -> Option<f64> {
    let gaps: Vec<f64> = times
        .windows(2)
        .filter_map(|pair| Some(pair.last()? - pair.first()?))
        .collect();
    let enough = gaps.len() >= GAPS_LEAST || is_twice(&gaps);
    let usable = enough && gaps.iter().all(|gap| *gap >= least);
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    usable.then(|| (1.0 - variance.sqrt() / mean).max(0.0))
}

/// Whether two long gaps are the very same.
fn is_twice(gaps: &[f64]) -> bool {
    matches!(gaps, [one, other] if one == other && *one >= 10.0)
}

const GAPS_LEAST: usize = 3;

#[cfg(test)]
pub(super) fn values(text: &str, read: Reader) -> Vec<(&'static str, String)> {
    let lines = text.lines().zip(1..);
    let lines: Vec<Line<'_>> = lines.map(|(text, number)| Line { number, text }).collect();
    let facts = read(&lines).into_iter();
    facts.map(|fact| (fact.name, fact.value)).collect()
}
