// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that several lines of a text show together: `fact NAME` in the tables of causes. A fact that the lines do not
//! show is absent, never 0.

mod addressing;
mod bonds;
mod bridging;
mod capture;
mod captured;
mod cloud;
mod contradictions;
mod copies;
mod counted;
mod dhcp;
mod drops;
mod families;
mod filter;
mod flaps;
mod frames;
mod hardware_addresses;
mod hops;
mod interfaces;
mod iperf;
mod irqs;
mod link;
mod machine;
mod marks;
mod names;
mod nat;
mod neighbours;
mod offloads;
mod packets;
mod pci;
mod ping;
mod ping_runs;
mod ports;
mod processes;
mod profile;
mod radio;
mod rate;
mod round_trips;
mod routes;
mod services;
mod shown;
mod snapshots;
mod sockets;
mod softnet;
mod spoken;
mod tables;
mod timed;
mod tunnel;
mod usb;
mod way_points;
mod ways;
mod window;
mod windows_routes;
mod winmtr;

use linerate_model::record::Record;

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

/// The facts of the lines, fields, counters and records of a text, as fields.
pub(super) fn of(
    lines: &[Line<'_>],
    fields: &[Field],
    counters: &[Counted],
    records: &[Record],
) -> Vec<Field> {
    let ends = ends(lines);
    let of_lines: Vec<Fact> = READERS.iter().flat_map(|read| read(&ends)).collect();
    let fits = |fact: &Fact| !lines.is_empty() && of_lines.iter().all(|one| one.name != fact.name);
    let copied = copies::of_fields(fields).filter(fits);
    let of_text = of_lines
        .into_iter()
        .chain(copied)
        .chain(machine::of_fields(fields))
        .chain(filter::of_fields(fields))
        .chain(counted::facts(counters))
        .chain(drops::facts(records, lines));
    let all = of_text.map(|fact| (None, fact)).chain(link::facts(fields));
    let field = |(interface, fact): (Option<String>, Fact)| Field {
        interface,
        name: normal(&format!("fact {}", fact.name)),
        title: fact.name.to_owned(),
        value: fact.value,
        line: fact.line,
    };
    all.map(field).collect()
}

const READERS: [Reader; 35] = [
    bonds::facts,
    capture::facts,
    cloud::facts,
    contradictions::facts,
    dhcp::facts,
    filter::facts,
    flaps::facts,
    hops::facts,
    interfaces::facts,
    iperf::facts,
    irqs::facts,
    machine::facts,
    names::facts,
    neighbours::facts,
    offloads::facts,
    pci::facts,
    ping::facts,
    ping_runs::facts,
    ports::facts,
    processes::facts,
    profile::facts,
    radio::facts,
    round_trips::facts,
    routes::facts,
    services::facts,
    shown::facts,
    snapshots::facts,
    sockets::facts,
    softnet::facts,
    spoken::facts,
    tables::facts,
    timed::facts,
    tunnel::facts,
    tunnel::masters,
    usb::facts,
];

/// The beginning and the end of a long text: between them a log or a capture continues.
fn ends<'t>(lines: &[Line<'t>]) -> Vec<Line<'t>> {
    let before = &lines[..lines.len().min(FIRST_LINES)];
    let after = lines.len().saturating_sub(LAST_LINES).max(before.len());
    [before, &lines[after..]].concat()
}

const FIRST_LINES: usize = 20_000;
const LAST_LINES: usize = 10_000;

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

/// The assertions of a reader's tests, on what it finds in a text: `is`, or `has` and `lacks`.
#[cfg(test)]
macro_rules! assertions {
    (is, $read:ident) => {
        fn is(text: &str, name: &str, expected: Option<&str>) {
            let value = crate::weigh::derived::value_of(text, $read, name);
            assert_eq!(value.as_deref(), expected, "{name} of {text}");
        }
    };
    (has, $values:ident, $read:ident) => {
        fn has(text: &str, name: &str, value: &str) {
            crate::weigh::derived::assert_found(&$values(text, $read), name, Some(value));
        }
    };
    (has and lacks, $values:ident, $read:ident) => {
        assertions!(has, $values, $read);

        fn lacks(text: &str, name: &str) {
            crate::weigh::derived::assert_found(&$values(text, $read), name, None);
        }
    };
}
#[cfg(test)]
pub(super) use assertions;

/// The first value of that name.
#[cfg(test)]
pub(super) fn value_of(text: &str, read: Reader, name: &str) -> Option<String> {
    let mut found = values(text, read).into_iter();
    found.find_map(|(known, value)| (known == name).then_some(value))
}

/// Asserts that one of the values of that name is `value`, or that there is none.
#[cfg(test)]
pub(super) fn assert_found(found: &[(&'static str, String)], name: &str, value: Option<&str>) {
    let mut of_name = found.iter().filter(|(known, _)| *known == name);
    match value {
        Some(value) => assert!(of_name.any(|(_, is)| is == value), "{name} {found:?}"),
        None => assert!(of_name.next().is_none(), "{found:?}"),
    }
}
