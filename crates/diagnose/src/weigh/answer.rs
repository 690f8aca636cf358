// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fewest causes that explain what is abnormal, the best first, each with its degree.

use std::collections::BTreeSet;

use linerate_knowledge::{Cause, Fault, causes, faults};
use linerate_model::order::{self, Gather as _};

use super::observed::Observed;
use super::score::{Judge, Part, Scored};

/// How sure a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Degree {
    /// It is known to cause such symptoms.
    Possible,
    /// Mechanism and circumstances fit, alternatives do not.
    Likely,
    /// A counter or message says so.
    Proven,
}

/// A cause that was named.
#[derive(Debug, Clone)]
pub struct Named {
    /// The cause.
    pub cause: &'static Cause,
    /// The known fault of which it is an instance.
    pub fault: Option<&'static Fault>,
    /// How sure it is.
    pub degree: Degree,
    /// Its score, decibans.
    pub db: f64,
    /// What of that is how common it is.
    pub prior_db: f64,
    /// Evidence for and against it.
    pub parts: Vec<Part>,
    /// Causes that explain the same almost as well, with their scores.
    pub alternatives: Vec<(&'static Cause, f64)>,
}

impl Named {
    /// Whether nothing is wrong: it explains an observation that looks abnormal and is not.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        HARMLESS.contains(&self.cause.id.as_str())
    }
}

/// Names the causes of what was observed.
#[must_use]
pub fn name(observed: &Observed<'_>) -> Vec<Named> {
    let judge = Judge::new(observed);
    let is_complaint = observed.said.is_complaint;
    let mut left = scored(&judge);
    let mut explained = BTreeSet::new();
    let mut named: Vec<Named> = Vec::new();
    while named.len() < MOST {
        let takes_said = is_complaint && named.len() < SAID_MOST && !named.iter().any(is_settled);
        let Some(next) = best(&left, &explained, takes_said) else {
            break;
        };
        let chosen = left.swap_remove(next);
        left.retain(|other| !exclude(&other.cause.id, &chosen.cause.id));
        named.push(judged(&chosen, &left, &explained));
        explained.extend(lines_of(&chosen));
    }
    order::by_key(&mut named, |one| std::cmp::Reverse(one.degree));
    let is_well = named.iter().all(Named::is_harmless);
    named.retain(|one| is_well || one.cause.id != WELL);
    named
}

/// Whether two causes cannot both be true.
fn exclude(one: &str, other: &str) -> bool {
    one == other || OPPOSITES.contains(&(one, other)) || OPPOSITES.contains(&(other, one))
}

/// Whether what is only said adds nothing to it.
fn is_settled(named: &Named) -> bool {
    named.degree == Degree::Proven || named.cause.id == WELL
}

/// Each cause, or the known fault of it that fits best.
fn scored(judge: &Judge<'_, '_>) -> Vec<Scored> {
    let none = BTreeSet::new();
    let of_cause = |cause: &'static Cause| {
        let general = judge.cause(cause)?;
        let known = faults().iter().filter(|fault| fault.cause == cause.id);
        let known = known.filter_map(|fault| judge.fault(fault, &general));
        let best = known.max_by(|one, other| one.db(&none).total_cmp(&other.db(&none)));
        Some(best.unwrap_or(general))
    };
    causes().iter().filter_map(of_cause).collect()
}

/// What nothing shows and a complaint speaks of enough is possible, too.
fn best(left: &[Scored], explained: &BTreeSet<u64>, takes_said: bool) -> Option<usize> {
    let is_there = |one: &Scored| one.is_shown(explained) || (takes_said && one.is_said());
    let named = left.iter().enumerate();
    let named = named.filter(|(_, one)| is_there(one) && one.db(explained) > LEAST_DB);
    let best =
        named.max_by(|(_, one), (_, other)| one.db(explained).total_cmp(&other.db(explained)));
    best.map(|(at, _)| at)
}

fn judged(chosen: &Scored, left: &[Scored], explained: &BTreeSet<u64>) -> Named {
    let db = chosen.db(explained);
    let mine: BTreeSet<u64> = lines_of(chosen).gather();
    let shares = |other: &&Scored| lines_of(other).any(|line| mine.contains(&line));
    let rivals = left.iter().filter(shares);
    let rivals = rivals.map(|other| (other.cause, other.db(explained)));
    let mut alternatives: Vec<(&'static Cause, f64)> =
        rivals.filter(|(_, rival)| *rival > db - CLOSE_DB).collect();
    order::by(&mut alternatives, |one, other| other.1.total_cmp(&one.1));
    alternatives.truncate(ALTERNATIVES);
    Named {
        cause: chosen.cause,
        fault: chosen.fault,
        degree: degree(chosen, chosen.shown_db(explained), alternatives.is_empty()),
        db,
        prior_db: chosen.prior_db,
        parts: chosen.parts.clone(),
        alternatives,
    }
}

/// The lines that show a cause.
fn lines_of(scored: &Scored) -> impl Iterator<Item = u64> {
    let parts = scored.parts.iter();
    let show = parts.filter(|part| part.db > 0.0 && !part.is_said());
    show.filter_map(|part| part.line)
}

/// What is only said does not count.
fn degree(chosen: &Scored, shown_db: f64, alone: bool) -> Degree {
    let is_general = GENERAL.contains(&chosen.cause.id.as_str());
    if chosen.strongest_db() >= PROOF_DB && !chosen.is_disputed() && !is_general {
        Degree::Proven
    } else if shown_db >= LIKELY_DB && alone {
        Degree::Likely
    } else {
        Degree::Possible
    }
}

/// Causes of which one denies the other.
const OPPOSITES: &[(&str, &str)] = &[
    ("napi-budget-exhausted", "napi-budget-used-up-without-loss"),
    ("flow-control-off", "flow-control-at-work"),
    ("icmp-answers-limited", "loss-on-the-path"),
    ("tcp-buffers-large-enough", "tcp-window-too-small"),
];
/// That nothing is wrong; where something else is, it is not said.
const WELL: &str = "nothing-wrong";
/// Causes that are no fault.
const HARMLESS: &[&str] = &[
    "dropped-frames-without-handler",
    "napi-budget-used-up-without-loss",
    "flow-control-at-work",
    "flow-control-off",
    "link-rate-reached",
    "partner-is-slower",
    "icmp-answers-limited",
    "capture-artefact",
    "nothing-wrong",
];
/// Causes that say who is at fault and not what: no message proves them.
const GENERAL: &[&str] = &[
    "driver-fault",
    "kernel-regression",
    "hardware-broken",
    "partner-fault",
];
/// More findings are no answer.
const MOST: usize = 5;
/// Of what is only said, no more.
const SAID_MOST: usize = 3;
const ALTERNATIVES: usize = 2;
const LEAST_DB: f64 = -5.0;
/// Rivals as near as this are shown.
const CLOSE_DB: f64 = 5.0;
const LIKELY_DB: f64 = 10.0;
/// A message or counter that names the mechanism.
const PROOF_DB: f64 = 20.0;
