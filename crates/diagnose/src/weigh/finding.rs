// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes that were weighed as findings of a document, together with those of the rules.

use linerate_knowledge::{Check, Remedy};
use linerate_model::order;
use linerate_model::output::{self, Evidence, Finding, Passage, Value, Weight};

use super::answer::{Degree, Named, name};
use super::observed::{Observed, Text};
use super::odd::odd;
use super::score::{Part, Says};

/// What is concluded from a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conclusion {
    /// The findings of the rules and of what was weighed, the best first.
    pub findings: Vec<Finding>,
    /// What is abnormal and explained by none of them.
    pub odd: Vec<Passage>,
    /// Why one stands before the other.
    pub weights: Vec<Weight>,
}

impl Conclusion {
    /// The commands that decide between what is not proven, the likeliest first.
    #[must_use]
    pub fn next_commands(&self) -> Vec<String> {
        let open = self.findings.iter().filter(|one| one.strength != "proven");
        let checks = open.filter_map(|one| one.check.as_ref());
        let mut commands: Vec<String> = Vec::new();
        for check in checks.take(NEXT_MOST) {
            let command = format!("{}   # {}", bare(&check.command), check.confirms);
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }
}

/// Without its note.
fn bare(command: &str) -> &str {
    command.split("   # ").next().unwrap_or(command)
}

/// Concludes from a text; `place` says where a line stands, to be quoted.
#[must_use]
pub fn conclude(text: &Text<'_>, place: &dyn Fn(u64) -> String) -> Conclusion {
    let observed = Observed::of(text);
    let named = name(&observed);
    Conclusion {
        odd: odd(&observed, &named),
        weights: named.iter().flat_map(weights).collect(),
        findings: together(&named, text.findings, place),
    }
}

/// What explains packets or a rate that were measured comes first; a cause that a rule found is the rule's finding, which
/// knows the figures.
fn together(named: &[Named], ruled: &[Finding], place: &dyn Fn(u64) -> String) -> Vec<Finding> {
    let (counted, other): (Vec<&Finding>, Vec<&Finding>) =
        ruled.iter().partition(|one| explains(one));
    let mut all: Vec<Finding> = counted.into_iter().cloned().collect();
    let first = all.len();
    for one in named {
        let is_known = all.iter().any(|known| known.cause == one.cause.id);
        let of_rules = other.iter().filter(|rule| rule.cause == one.cause.id);
        let of_rules: Vec<Finding> = of_rules.map(|rule| (*rule).clone()).collect();
        let is_weighed = of_rules.is_empty() && !is_known;
        all.extend(of_rules);
        all.extend(is_weighed.then(|| finding(one, place)));
    }
    let is_named = |rule: &&Finding| named.iter().any(|one| one.cause.id == rule.cause);
    let rest = other.into_iter().filter(|rule| !is_named(rule)).cloned();
    all.extend(rest);
    order::by_key(&mut all[first..], rank);
    all
}

/// The surest first; what only says how far the numbers can be trusted last.
fn rank(finding: &Finding) -> (bool, Option<usize>) {
    let strength = STRENGTHS.iter().position(|word| *word == finding.strength);
    (OF_NUMBERS.contains(&finding.cause.as_str()), strength)
}

/// Whether a finding accounts for something that was measured.
fn explains(finding: &Finding) -> bool {
    let explains = &finding.explains;
    explains.lost_packets > Some(0) || explains.bits_per_second > Some(0.0)
}

fn finding(named: &Named, place: &dyn Fn(u64) -> String) -> Finding {
    let (cause, fault) = (named.cause, named.fault);
    let interface = named.parts.iter().find_map(|part| part.interface.clone());
    let fill =
        |text: &str| text.replace("{interface}", interface.as_deref().unwrap_or("<interface>"));
    let (title, why) = fault.map_or((&cause.title, &cause.why), |one| (&one.title, &one.why));
    let (checks, remedy) = fault.map_or((&cause.check, &cause.change), |one| {
        (&one.check, &one.change)
    });
    let sources = fault.map_or(&cause.sources, |one| &one.sources);
    Finding {
        rule: fault.map_or(&cause.id, |one| &one.id).clone(),
        cause: cause.id.clone(),
        title: without_open(title, interface.as_deref()),
        strength: strength(named.degree).to_owned(),
        place: cause.place.clone(),
        check: check(checks, &fill),
        alternatives: named
            .alternatives
            .iter()
            .map(|(one, _)| one.id.clone())
            .collect(),
        evidence: evidence(named, place),
        change: (!named.is_harmless()).then(|| change(remedy, &fill)),
        why: without_open(why, interface.as_deref()),
        source: sources.join("; "),
        informational: named.is_harmless(),
        interface,
        ..Finding::default()
    }
}

/// A sentence that names no interface where none is known.
fn without_open(text: &str, interface: Option<&str>) -> String {
    text.replace("{interface}", interface.unwrap_or("the interface"))
}

fn strength(degree: Degree) -> &'static str {
    match degree {
        Degree::Proven => "proven",
        Degree::Likely => "consistent",
        Degree::Possible => "weak",
    }
}

fn check(check: &Check, fill: &dyn Fn(&str) -> String) -> Option<output::Check> {
    (!check.command.is_empty()).then(|| output::Check {
        command: fill(&check.command),
        confirms: fill(&check.confirms),
        refutes: fill(&check.refutes),
    })
}

/// Advice is a note of a shell, where there is no command.
fn change(remedy: &Remedy, fill: &dyn Fn(&str) -> String) -> output::Change {
    let is_advice = remedy.commands.is_empty();
    let advice = || vec![format!("# {}", remedy.side_effects)];
    let commands = if is_advice {
        advice()
    } else {
        remedy.commands.clone()
    };
    let effects = Some(&remedy.side_effects).filter(|text| !is_advice && !text.is_empty());
    let risk = effects.map_or(remedy.risk.clone(), |text| {
        format!("{}: {text}", remedy.risk)
    });
    output::Change {
        commands: commands.iter().map(|one| fill(one)).collect(),
        undo: remedy.undo.iter().map(|one| fill(one)).collect(),
        risk,
        figure: None,
        tradeoffs: Vec::new(),
    }
}

/// The strongest signs for it; what is only said comes last.
fn evidence(named: &Named, place: &dyn Fn(u64) -> String) -> Vec<Evidence> {
    let speaks = |is_said: bool| {
        let parts = named.parts.iter();
        parts.filter(move |part| part.db >= SHOWN_DB && part.is_said() == is_said)
    };
    let strongest = speaks(false).chain(speaks(true)).take(EVIDENCE_MOST);
    strongest.map(|part| quoted(part, place)).collect()
}

fn quoted(part: &Part, place: &dyn Fn(u64) -> String) -> Evidence {
    let without_line = match part.says {
        Says::Shown => "text",
        Says::Words => "words in common",
        Says::Wording => "typical wording",
    };
    Evidence {
        fact: part.line.map_or_else(|| without_line.to_owned(), place),
        value: Value::Text(part.what.clone()),
        unit: String::new(),
        source: format!("{:+.0} dB", part.db),
    }
}

fn weights(named: &Named) -> impl Iterator<Item = Weight> + '_ {
    let row = |what: &str, db: f64, line: Option<u64>| Weight {
        cause: named.cause.id.clone(),
        what: what.to_owned(),
        db: round(db),
        line,
    };
    let parts = named.parts.iter();
    let parts = parts.map(move |part| row(&part.what, part.db, part.line));
    let prior = row("how common it is", named.prior_db, None);
    let sum = row("sum, each further sign counted less", named.db, None);
    std::iter::once(prior)
        .chain(parts)
        .chain(std::iter::once(sum))
}

fn round(db: f64) -> f64 {
    (db * 10.0).round() / 10.0
}

/// Causes that say how far numbers can be trusted.
const OF_NUMBERS: &[&str] = &[
    "too-short-to-believe",
    "repeats-disagree",
    "more-than-one-thing-changed",
];
const STRENGTHS: &[&str] = &["proven", "consistent", "weak"];
const NEXT_MOST: usize = 3;
const EVIDENCE_MOST: usize = 4;
/// Less is printed as 0 dB.
const SHOWN_DB: f64 = 0.5;
