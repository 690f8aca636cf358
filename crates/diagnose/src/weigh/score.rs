// SPDX-License-Identifier: MIT OR Apache-2.0
//! The score of one cause: the evidence for and against it.

use std::collections::BTreeSet;

use linerate_knowledge::{Alike, Cause, Fault, Mention, Shared, Shows, Sign, Spoken, causes, glob};
use linerate_model::map::Map;
use linerate_model::order;

use super::observed::{Counted, Field, Observed, normal};

/// Evidence for or against a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What was seen: a message, `rx_crc_errors = 51`, a symptom.
    pub what: String,
    /// Decibans.
    pub db: f64,
    /// Its line, if it is known.
    pub line: Option<u64>,
    /// The interface, if it names one.
    pub interface: Option<String>,
    /// What kind of evidence it is.
    pub says: Says,
}

/// What kind of evidence a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// A message, counter, setting or symptom.
    Shown,
    /// Words that belong to the cause.
    Words,
    /// The wording and what is mentioned as a whole.
    Wording,
}

impl Part {
    /// Whether it is only what the author says.
    pub(super) fn is_said(&self) -> bool {
        self.says != Says::Shown
    }
}

/// All parts of one cause, the strongest first.
#[derive(Debug, Clone)]
pub(super) struct Scored {
    pub(super) cause: &'static Cause,
    /// The known fault of which it is an instance.
    pub(super) fault: Option<&'static Fault>,
    /// How common it is, decibans.
    pub(super) prior_db: f64,
    pub(super) parts: Vec<Part>,
}

impl Scored {
    /// Decibans, without the lines that others explain.
    pub(super) fn db(&self, explained: &BTreeSet<u64>) -> f64 {
        self.sum_db(explained, |_| true)
    }

    /// Decibans of what shows it, without what is only said: nothing of how common it is is in that.
    pub(super) fn shown_db(&self, explained: &BTreeSet<u64>) -> f64 {
        let shown = self.sum_db(explained, |part| !part.is_said());
        shown - self.prior_db + self.cause.prior_db
    }

    fn sum_db(&self, explained: &BTreeSet<u64>, takes: impl Fn(&Part) -> bool) -> f64 {
        let parts = || self.parts.iter().filter(|part| takes(part));
        let counts = |part: &Part| match part.line {
            Some(line) if !part.is_said() && explained.contains(&line) => part.db * EXPLAINED,
            _ => part.db,
        };
        let losses = parts().map(|part| part.db.min(0.0));
        let single = parts().filter(|part| part.says != Says::Wording);
        let gains = single.map(counts).filter(|db| *db > 0.0);
        let wording = parts().filter(|part| part.says == Says::Wording);
        let wording: f64 = wording.map(|part| part.db.max(0.0)).sum();
        self.prior_db + losses.sum::<f64>() + together(gains.collect()) + wording
    }

    /// Whether a text says enough of it where nothing shows it.
    pub(super) fn is_said(&self) -> bool {
        let of = |says: Says| {
            let parts = self.parts.iter().filter(move |part| part.says == says);
            parts.map(|part| part.db.max(0.0))
        };
        let wording: f64 = of(Says::Wording).sum();
        together(of(Says::Words).collect()) + wording >= SAID_DB
    }

    /// Whether evidence other than words and set-up supports it that no other cause explains.
    pub(super) fn is_shown(&self, explained: &BTreeSet<u64>) -> bool {
        let fresh = |part: &&Part| !part.line.is_some_and(|line| explained.contains(&line));
        let mut strong = self.parts.iter().filter(fresh);
        strong.any(|part| part.db >= SHOWS && !part.is_said())
    }

    /// The strongest sign.
    pub(super) fn strongest_db(&self) -> f64 {
        let single = self.parts.iter().filter(|part| part.says != Says::Wording);
        single.map(|part| part.db).fold(0.0, f64::max)
    }

    /// Whether a sign contradicts it.
    pub(super) fn is_disputed(&self) -> bool {
        let mut single = self.parts.iter().filter(|part| part.says != Says::Wording);
        single.any(|part| part.db < 0.0)
    }
}

/// Signs of one cause hang together: each further one counts less, the strongest first.
fn together(mut gains: Vec<f64>) -> f64 {
    order::by(&mut gains, |one, other| other.total_cmp(one));
    let mut weight = 1.0;
    let mut sum = 0.0;
    for gain in gains {
        sum += gain * weight;
        weight *= FURTHER;
    }
    sum
}

/// What is known of all signs at once.
pub(super) struct Judge<'o, 't> {
    observed: &'o Observed<'t>,
    /// What messages, rules and words support: a cause and its parts.
    supported: Map<&'o str, Vec<Part>>,
    fields: Map<&'o str, Vec<&'o Field>>,
    counters: Map<&'o str, Vec<&'o Counted>>,
    kernel: Option<(u32, u32)>,
}

/// Groups by name.
fn by<T>(all: &[T], name: fn(&T) -> &str) -> Map<&str, Vec<&T>> {
    let mut groups: Map<&str, Vec<&T>> = Map::new();
    for one in all {
        groups.entry(name(one)).or_default().push(one);
    }
    groups
}

/// Those whose name is `name`, which may be a pattern.
fn named<'o, T>(groups: &Map<&'o str, Vec<&'o T>>, name: &str) -> Vec<&'o T> {
    if !name.contains('*') {
        return groups.get(name).cloned().unwrap_or_default();
    }
    let fitting = groups.iter().filter(|(known, _)| glob(name, known));
    fitting.flat_map(|(_, all)| all.iter().copied()).collect()
}

/// The kernel's version, if the text names it.
fn kernel(fields: &Map<&str, Vec<&Field>>) -> Option<(u32, u32)> {
    let names = [
        "fact kernel_release",
        "uname release",
        "/proc/version release",
    ];
    let fields = names.iter().flat_map(|name| named(fields, &normal(name)));
    fields.into_iter().find_map(|field| version(&field.value))
}

/// What a rule's conclusion counts.
fn of_rule(strength: &str) -> f64 {
    match strength {
        "proven" => 20.0,
        "consistent" => 12.0,
        _ => 4.0,
    }
}

/// What the words of a text say for each cause that they speak of.
fn spoken_of(observed: &Observed<'_>) -> impl Iterator<Item = (&'static str, Part)> {
    let mut of_cause: Map<usize, Vec<(&'static Spoken, u64)>> = Map::new();
    for (spoken, line) in &observed.said.spoken {
        for cause in &spoken.causes {
            of_cause.entry(*cause).or_default().push((*spoken, *line));
        }
    }
    let weight = observed.said.weight;
    let part = move |mut all: Vec<(&'static Spoken, u64)>| {
        order::by(&mut all, |(one, _), (other, _)| other.db.total_cmp(&one.db));
        let texts: Vec<&str> = all.iter().map(|(one, _)| one.text).collect();
        let db = weight * together(all.iter().map(|(one, _)| one.db).collect());
        said(&texts.join(", "), db, all.first().map(|(_, line)| *line))
    };
    let all = of_cause.into_iter();
    all.map(move |(cause, spoken)| (causes()[cause].id.as_str(), part(spoken)))
}

/// What a text shares with the description of each cause.
fn described<'o>(observed: &'o Observed<'_>) -> impl Iterator<Item = (&'static str, Part)> + 'o {
    let weight = observed.said.weight;
    let part = move |shared: &Shared| {
        let most = shared.words.len().min(WORDS_SHOWN);
        said(&shared.words[..most].join(" "), weight * shared.db, None)
    };
    let all = observed.said.shared.iter();
    all.map(move |(cause, shared)| (causes()[*cause].id.as_str(), part(shared)))
}

/// How much it reads like what people write of each cause.
fn alike<'o>(observed: &'o Observed<'_>) -> impl Iterator<Item = (&'static str, Part)> + 'o {
    let part = |alike: &Alike| wording(&alike.words.join(" "), ALIKE * alike.db);
    let all = observed.said.alike.iter();
    all.map(move |(cause, alike)| (causes()[*cause].id.as_str(), part(alike)))
}

/// How well what it mentions fits each cause.
fn mentioned<'o>(observed: &'o Observed<'_>) -> impl Iterator<Item = (&'static str, Part)> + 'o {
    let part = |mention: &Mention| {
        let what = format!("mentions {}", mention.circumstances.join(" "));
        wording(what.trim_end(), mention.db)
    };
    let all = observed.said.mentioned.iter();
    all.map(move |(cause, mention)| (causes()[*cause].id.as_str(), part(mention)))
}

impl<'o, 't> Judge<'o, 't> {
    pub(super) fn new(observed: &'o Observed<'t>) -> Self {
        let mut supported: Map<&'o str, Vec<Part>> = Map::new();
        for logged in &observed.logged {
            for (cause, db) in &logged.message.supports {
                let parts = supported.entry(cause.as_str()).or_default();
                parts.push(Part {
                    what: logged.line.text.trim().to_owned(),
                    db: *db,
                    line: Some(logged.line.number),
                    interface: logged.interface.clone(),
                    says: Says::Shown,
                });
            }
        }
        for finding in observed.findings.iter().filter(|one| !one.informational) {
            let parts = supported.entry(finding.cause.as_str()).or_default();
            parts.push(Part {
                what: format!("rule {}: {}", finding.rule, finding.title),
                db: of_rule(&finding.strength),
                line: None,
                interface: finding.interface.clone(),
                says: Says::Shown,
            });
        }
        let words = spoken_of(observed).chain(described(observed));
        let wording = alike(observed).chain(mentioned(observed));
        for (cause, part) in words.chain(wording) {
            supported.entry(cause).or_default().push(part);
        }
        let fields = by(&observed.fields, |field| field.name.as_str());
        Self {
            observed,
            supported,
            kernel: kernel(&fields),
            fields,
            counters: by(&observed.counters, |counted| counted.name.as_str()),
        }
    }

    /// `None` where its situation is not there.
    pub(super) fn cause(&self, cause: &'static Cause) -> Option<Scored> {
        self.is_possible(&cause.requires).then(|| {
            let mut parts = self.signs(&cause.evidence);
            parts.extend(
                self.supported
                    .get(cause.id.as_str())
                    .cloned()
                    .unwrap_or_default(),
            );
            Scored {
                cause,
                fault: None,
                prior_db: cause.prior_db * self.prior_counts(),
                parts: once_a_line(parts),
            }
        })
    }

    /// Where wording is judged, that has most of what is common.
    fn prior_counts(&self) -> f64 {
        if self.observed.said.alike.is_empty() {
            1.0
        } else {
            PRIOR_OF_WORDED
        }
    }

    fn is_possible(&self, requires: &[String]) -> bool {
        let there = |name: &String| self.observed.situations.contains(name.as_str());
        requires.iter().all(there)
    }

    /// A known fault: its chip, driver or kernel must be named.
    pub(super) fn fault(&self, fault: &'static Fault, of: &Scored) -> Option<Scored> {
        if !self.is_possible(&fault.requires) || !self.is_its_kernel(fault) {
            return None;
        }
        let mut parts = of.parts.clone();
        parts.push(self.identity(fault)?);
        let signs = self.signs(&fault.signs);
        signs.iter().any(|part| part.db > 0.0).then_some(())?;
        parts.extend(signs);
        Some(Scored {
            cause: of.cause,
            fault: Some(fault),
            prior_db: of.prior_db,
            parts: once_a_line(parts),
        })
    }

    /// By what a fault's chip or driver is recognised.
    fn identity(&self, fault: &Fault) -> Option<Part> {
        let found = |names: &[String], db: f64| {
            let named = |name: &&String| !self.observed.seen.of(name).is_empty();
            Some(said(names.iter().find(named)?, db, None))
        };
        let chip = found(&fault.devices, 6.0).or_else(|| found(&fault.chips, 6.0));
        let any = chip.or_else(|| found(&fault.drivers, 3.0));
        any.or_else(|| (!fault_is_bound(fault)).then(|| said("the kernel's version", 1.0, None)))
    }

    /// False where a kernel is known and outside the range.
    fn is_its_kernel(&self, fault: &Fault) -> bool {
        let Some(kernel) = self.kernel else {
            let (from, fixed) = &fault.kernel;
            return fault_is_bound(fault) || (from.is_none() && fixed.is_none());
        };
        let (from, fixed) = &fault.kernel;
        let after = from
            .as_deref()
            .and_then(version)
            .is_none_or(|from| kernel >= from);
        let before = fixed
            .as_deref()
            .and_then(version)
            .is_none_or(|fixed| kernel < fixed);
        after && before
    }

    /// What the text shows of each sign. Counters of one cause are alternatives: where one shows it, the zeros of others
    /// say nothing.
    fn signs(&self, signs: &[Sign]) -> Vec<Part> {
        let each = signs.iter().filter_map(|one| Some((one, self.sign(one)?)));
        let each: Vec<(&Sign, Part)> = each.collect();
        let is_counter = |sign: &Sign| matches!(sign.shows, Shows::Counter { .. });
        let counted = each
            .iter()
            .any(|(sign, part)| is_counter(sign) && part.db >= CLEAR_DB);
        let says = |(sign, part): &(&Sign, Part)| part.db > 0.0 || !(counted && is_counter(sign));
        let says = each.into_iter().filter(says);
        says.map(|(_, part)| part).collect()
    }

    fn sign(&self, sign: &Sign) -> Option<Part> {
        match &sign.shows {
            Shows::Message(pattern) => {
                let lines = &self.observed.lines;
                let places = self.observed.seen.of(pattern.longest_literal()).iter();
                let mut likely = places.filter_map(|at| lines.get(*at));
                let line = likely.find(|line| pattern.find(line.text).is_some())?;
                Some(part(line.text.trim(), sign.db, Some(line.number), None))
            }
            Shows::Counter {
                name,
                above,
                share_above,
            } => self.counter(sign, name, *above, *share_above),
            Shows::Field { name, test } => {
                let name = normal(name);
                let named = named(&self.fields, &name);
                let passing = named
                    .iter()
                    .find(|field| test.passes(&field.value) == Some(true));
                let failing = || {
                    named
                        .iter()
                        .find(|field| test.passes(&field.value) == Some(false))
                };
                let (field, db) = passing
                    .map(|field| (field, sign.db))
                    .or_else(|| failing().map(|field| (field, sign.not_db)))?;
                let what = format!("{} = {}", field.title, field.value);
                Some(part(&what, db, field.line, field.interface.clone()))
                    .filter(|part| part.db != 0.0)
            }
            Shows::Symptom(id) => {
                let line = self.observed.said.symptoms.get(id.as_str())?;
                Some(said(id, self.observed.said.weight * sign.db, Some(*line)))
            }
        }
    }

    fn counter(&self, sign: &Sign, name: &str, above: f64, share: Option<f64>) -> Option<Part> {
        let all = named(&self.counters, name);
        let passes = |counted: &Counted| match (share, counted.packets) {
            (None, _) => Some(counted.value as f64 > above),
            (Some(_), _) if counted.value == 0 => Some(false),
            (Some(share), Some(packets)) => {
                Some(counted.value as f64 > share * packets.max(1) as f64)
            }
            (Some(_), None) => None,
        };
        let largest = all.iter().filter(|counted| passes(counted) == Some(true));
        let seen = largest
            .max_by_key(|counted| counted.value)
            .map(|counted| (counted, sign.db));
        let absent = || {
            all.iter()
                .find(|counted| passes(counted) == Some(false))
                .map(|counted| (counted, sign.not_db))
        };
        let (counted, db) = seen.or_else(absent)?;
        let what = format!("{} = {}", counted.name, counted.value);
        Some(part(&what, db, counted.line, counted.interface.clone())).filter(|part| part.db != 0.0)
    }
}

fn part(what: &str, db: f64, line: Option<u64>, interface: Option<String>) -> Part {
    Part {
        what: what.to_owned(),
        db,
        line,
        interface,
        says: Says::Shown,
    }
}

/// What only names something.
fn said(what: &str, db: f64, line: Option<u64>) -> Part {
    Part {
        says: Says::Words,
        ..part(what, WORDS * db, line, None)
    }
}

/// The wording of a text as a whole.
fn wording(what: &str, db: f64) -> Part {
    Part {
        says: Says::Wording,
        ..part(what, db, None, None)
    }
}

fn fault_is_bound(fault: &Fault) -> bool {
    !(fault.drivers.is_empty() && fault.devices.is_empty() && fault.chips.is_empty())
}

/// `6.1.55-generic`: the first two numbers.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Of several signs in one line the strongest; strongest first.
fn once_a_line(mut parts: Vec<Part>) -> Vec<Part> {
    order::by(&mut parts, |one, other| {
        other.db.abs().total_cmp(&one.db.abs())
    });
    let mut lines = BTreeSet::new();
    let is_first = |part: &Part| part.is_said() || part.line.is_none_or(|line| lines.insert(line));
    parts.retain(is_first);
    let mut said = BTreeSet::new();
    parts.retain(|part| said.insert(part.what.clone()));
    parts
}

/// What a line still says for a cause once another one explains it.
const EXPLAINED: f64 = 0.3;
/// What words count: half of what they would if the wording of the whole text did not say much of the same.
const WORDS: f64 = 0.5;
/// What the likeness of the wording counts: the model is learnt so that it is too careful.
const ALIKE: f64 = 1.5;
/// What is left of how common a cause is where its wording is judged.
const PRIOR_OF_WORDED: f64 = 0.3;
/// From here on a sign is clear.
const CLEAR_DB: f64 = 6.0;
/// Words of a description that are shown.
const WORDS_SHOWN: usize = 8;
/// What each further sign of a cause counts of the one before.
const FURTHER: f64 = 0.7;
/// What must be said of a cause that nothing shows, decibans.
const SAID_DB: f64 = 7.0;
/// The weakest sign that shows a cause, decibans: four times as likely. What is usual of a set-up is weaker.
const SHOWS: f64 = 6.0;
