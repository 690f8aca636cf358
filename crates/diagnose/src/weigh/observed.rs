// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a text or a run shows: counters, values of outputs, messages, what its writer says. Each with its line.

use std::collections::BTreeSet;

use linerate_knowledge::{Level, Message, Open, Seen, Wording, messages, seen_in, wording};
use linerate_model::map::Map;
use linerate_model::output::{Fact, Finding, Passage};
use linerate_model::record::Record;
use linerate_model::sample::Sample;

use super::anomalies::anomalies;
use super::derived;
use super::places::{Places, words_of};
use super::situation;
use super::speech::Speech;
use super::unknown;
use super::written::Written;

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub struct Line<'t> {
    /// From 1.
    pub number: u64,
    /// Without quoting and prompt.
    pub text: &'t str,
}

/// What is weighed.
#[derive(Debug, Clone, Copy)]
pub struct Text<'t> {
    /// What was read of it.
    pub records: &'t [Record],
    /// What was computed of those.
    pub facts: &'t [Fact],
    /// What rules conclude from those facts.
    pub findings: &'t [Finding],
    /// All lines; none of a run.
    pub lines: &'t [Line<'t>],
    /// Where the author writes sentences.
    pub prose: &'t [Passage],
    /// The outputs that were read.
    pub read: &'t [Passage],
    /// How reports of each cause are worded.
    pub wording: &'t Wording,
}

/// Nothing, and the wording that the program knows.
impl Default for Text<'_> {
    fn default() -> Self {
        Self {
            records: &[],
            facts: &[],
            findings: &[],
            lines: &[],
            prose: &[],
            read: &[],
            wording: wording(),
        }
    }
}

/// Everything that was observed.
#[derive(Debug, Default)]
pub struct Observed<'t> {
    pub(super) counters: Vec<Counted>,
    pub(super) fields: Vec<Field>,
    pub(super) logged: Vec<Logged<'t>>,
    /// Failures in logs that no known message explains.
    pub(super) unknown: Vec<Line<'t>>,
    pub(super) lines: &'t [Line<'t>],
    /// Where literals of signs and names of chips are.
    pub(super) seen: Seen,
    pub(super) said: Speech,
    pub(super) situations: BTreeSet<&'static str>,
    pub(super) findings: &'t [Finding],
}

/// A counter's growth, or its value where there is one reading.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    pub(super) interface: Option<String>,
    pub(super) name: String,
    pub(super) value: u64,
    /// Packets at the same place in the same direction.
    pub(super) packets: Option<u64>,
    pub(super) line: Option<u64>,
}

/// A value that an output names.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) interface: Option<String>,
    /// Tool and field, as [`normal`] writes them.
    pub(super) name: String,
    /// As a person is shown it.
    pub(super) title: String,
    pub(super) value: String,
    pub(super) line: Option<u64>,
}

/// A known message.
#[derive(Debug, Clone)]
pub(super) struct Logged<'t> {
    pub(super) message: &'static Message,
    pub(super) interface: Option<String>,
    pub(super) line: Line<'t>,
}

impl<'t> Observed<'t> {
    /// Observes a text, or a run.
    #[must_use]
    pub fn of(text: &Text<'t>) -> Self {
        let known: Vec<Logged<'t>> = text.lines.iter().filter_map(logged).collect();
        let lines = known.iter().map(|one| one.line.number).collect();
        let unknown = unknown::failures(text.lines, text.read, &lines);
        let is_normal = |one: &Logged<'_>| one.message.level == Level::Normal;
        let (normal, logged): (Vec<_>, Vec<_>) = known.into_iter().partition(is_normal);
        let normal = normal.iter().map(|one| one.line.number).collect();
        let counters = counters(text);
        let mut observed = Self {
            fields: fields(text, &counters),
            counters,
            logged,
            unknown,
            lines: text.lines,
            seen: seen_in(text.lines.iter().map(|line| line.text)),
            said: Speech::of(text, &normal),
            situations: BTreeSet::new(),
            findings: text.findings,
        };
        observed.situations = situation::of(&observed);
        observed.fields.extend(anomalies(&observed));
        observed
    }
}

fn logged<'t>(line: &Line<'t>) -> Option<Logged<'t>> {
    let (message, found) = messages().find(line.text)?;
    Some(Logged {
        message,
        interface: found.first(Open::Interface).map(str::to_owned),
        line: *line,
    })
}

fn counters(text: &Text<'_>) -> Vec<Counted> {
    let of_record = |record: &Record| {
        let mut series: Map<(&str, Option<&str>), Vec<&Sample>> = Map::new();
        for sample in &record.samples {
            let place = (sample.source.as_str(), sample.interface.as_deref());
            series.entry(place).or_default().push(sample);
        }
        let grown = series.into_values().flat_map(|row| grown(&row));
        grown.collect::<Vec<_>>()
    };
    let mut all: Vec<Counted> = text.records.iter().flat_map(of_record).collect();
    let named: Vec<(String, String)> = all
        .iter()
        .map(|one| (one.name.clone(), one.value.to_string()))
        .collect();
    let of_counter = |one: &Counted| Written::of_counter(&one.name, one.value);
    let written: Vec<Option<Written>> = all.iter().map(of_counter).collect();
    let places = Places::of(
        text.lines,
        named.iter().flat_map(|(name, value)| words_of(name, value)),
    );
    let line = |((name, value), written): (&(String, String), &Option<Written>)| {
        let named = places.line(name, value);
        named.or_else(|| places.written(written.as_ref()?))
    };
    let lines: Vec<Option<u64>> = named.iter().zip(&written).map(line).collect();
    for (counted, line) in all.iter_mut().zip(lines) {
        counted.line = line;
    }
    all
}

fn grown(row: &[&Sample]) -> Vec<Counted> {
    let (Some(first), Some(last)) = (row.first(), row.last()) else {
        return Vec::new();
    };
    let value = |name: &str, now: u64| match first.counters.get(name) {
        Some(before) if row.len() > 1 => now.saturating_sub(*before),
        _ => now,
    };
    let packets = |direction: &str| {
        let name = format!("{direction}_packets");
        let now = *last.counters.get(&name)?;
        Some(value(&name, now))
    };
    let (received, sent) = (packets("rx"), packets("tx"));
    let counted = last.counters.iter().map(|(name, now)| Counted {
        interface: last.interface.clone(),
        name: name.clone(),
        value: value(name, *now),
        packets: if name.starts_with("tx") {
            sent
        } else {
            received
        },
        line: None,
    });
    counted.collect()
}

fn fields(text: &Text<'_>, counters: &[Counted]) -> Vec<Field> {
    let settings = || {
        let all = text.records.iter().flat_map(|record| &record.run.settings);
        all.flat_map(|setting| {
            setting
                .values
                .iter()
                .map(move |(name, value)| (setting, name, value))
        })
    };
    let written: Vec<Option<Written>> = settings()
        .map(|(setting, name, value)| Written::of_setting(&setting.source, name, value))
        .collect();
    let words = settings().flat_map(|(_, name, value)| words_of(last_word(name), value));
    let files = written.iter().flatten().map(|one| one.value.as_str());
    let places = Places::of(text.lines, words.chain(files));
    let shown = settings()
        .zip(&written)
        .map(|((setting, name, value), written)| Field {
            interface: setting.interface.clone(),
            name: normal(&format!("{} {name}", setting.source)),
            title: format!("{} {name}", setting.source),
            value: state(&setting.source, value).to_owned(),
            line: places
                .line(last_word(name), state(&setting.source, value))
                .or_else(|| places.written(written.as_ref()?)),
        });
    let facts = text.facts.iter().map(|fact| Field {
        interface: fact.interface.clone(),
        name: normal(&format!("fact {}", fact.name)),
        title: fact.name.clone(),
        value: fact.value.to_string(),
        line: None,
    });
    let mut all: Vec<Field> = shown.chain(facts).collect();
    let derived = derived::of(text.lines, &all, counters, text.records);
    all.extend(derived);
    all
}

/// A feature's state without `[fixed]`: whether it can be switched is no sign of a cause.
fn state<'v>(source: &str, value: &'v str) -> &'v str {
    match source {
        "ethtool -k" => value.split(" [").next().unwrap_or(value),
        _ => value,
    }
}

/// A field's name with its words in one order: `RX.current` and `current RX` are one.
pub(super) fn normal(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut words: Vec<&str> = lower.split([' ', '.', ':']).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.join(" ")
}

fn last_word(name: &str) -> &str {
    let before_kind = name.strip_suffix(".current").or(name.strip_suffix(".max"));
    before_kind.unwrap_or(name)
}
