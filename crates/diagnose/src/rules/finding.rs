// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rule that fired → a finding: its texts filled in, the facts that say so, the tests in which, and
//! what it accounts for.

use linerate_model::map::Map;
use linerate_model::output::{Evidence, Explains as Explained, Fact, Finding, Role, Value};
use linerate_model::units::format::{BIT_RATES, with_unit};

use super::claim::{self, Claim, Losses, claims};
use super::remedy::{self, InForce};
use super::{Condition, Explains, Rule, Verdict, template};
use crate::facts::Facts;
use crate::viewpoint::Viewpoint;
use linerate_model::order;
use linerate_model::record::Record;

/// A finding and the rule behind it.
pub(super) struct Fired<'r> {
    pub(super) rule: &'r Rule,
    pub(super) finding: Finding,
    pub(super) claims: Vec<Claim>,
}

impl<'r> Fired<'r> {
    /// One finding for each place (host and interface) at which the rule fired, its tests together. What is of a machine is
    /// one finding where both ends are that machine.
    pub(super) fn join(
        rule: &'r Rule,
        verdicts: &[(Verdict, &Viewpoint)],
        record: &Record,
        losses: &Losses<'_>,
        facts: &Facts,
    ) -> Vec<Self> {
        let mut places: Map<(Option<Role>, Option<&str>), Vec<&Viewpoint>> = Map::new();
        for (_, viewpoint) in verdicts
            .iter()
            .filter(|(verdict, _)| *verdict == Verdict::Fires)
        {
            let place = match rule.of_machine && record.one_machine() {
                true => (None, None),
                false => (viewpoint.host, viewpoint.interface.as_deref()),
            };
            places.entry(place).or_default().push(viewpoint);
        }
        let fired = |viewpoints: &Vec<&Viewpoint>| {
            let claims = claims(rule, viewpoints, losses, facts);
            let finding = finding(rule, viewpoints, record, &claims, losses, facts)?;
            Some(Self {
                rule,
                finding,
                claims,
            })
        };
        places.values().filter_map(fired).collect()
    }
}

fn finding(
    rule: &Rule,
    viewpoints: &[&Viewpoint],
    record: &Record,
    claims: &[Claim],
    losses: &Losses<'_>,
    facts: &Facts,
) -> Option<Finding> {
    let viewpoints = worst_first(viewpoints, |viewpoint| {
        weight(rule, viewpoint, losses, facts)
    });
    let worst = *viewpoints.first()?;
    let bare = |name: &str| match name {
        "interface" => worst.interface.clone(),
        name => Some(facts.get(name, worst)?.value.to_string()),
    };
    let said = |text: &str, interface: Option<String>| {
        template::sentence(text, |name| match name {
            "interface" => interface.clone(),
            name => Some(in_words(facts.get(name, worst)?)),
        })
    };
    let say = |text: &str| {
        let interface = worst.interface.clone();
        said(text, interface.or_else(|| Some(INTERFACE.to_owned())))
    };
    let in_force = InForce {
        record,
        host: worst.host.unwrap_or(Role::Local),
    };
    let change = remedy::change(rule, bare, |reading| in_force.value(reading));
    Some(Finding {
        rule: rule.id.clone(),
        cause: rule.cause.clone(),
        title: say(&rule.title),
        strength: rule.strength.word().to_owned(),
        host: worst.host.unwrap_or(Role::Local),
        interface: worst.interface.clone(),
        test_ids: viewpoints
            .iter()
            .filter_map(|viewpoint| viewpoint.test_id.clone())
            .collect(),
        explains: explained(rule, &viewpoints, record, claims, facts),
        evidence: evidence(rule, worst, facts),
        change,
        verify: said(&rule.verify, worst.interface.clone()),
        why: say(&rule.why),
        source: rule.sources.join("; "),
        informational: rule.informational,
        conflicts: Vec::new(),
        ..Finding::default()
    })
}

fn worst_first<'v>(
    viewpoints: &[&'v Viewpoint],
    weight: impl Fn(&Viewpoint) -> f64,
) -> Vec<&'v Viewpoint> {
    let weighed = viewpoints.iter();
    let weighed = weighed.map(|viewpoint| (weight(viewpoint), *viewpoint));
    let mut weighed: Vec<(f64, &Viewpoint)> = weighed.collect();
    order::by(&mut weighed, |one, other| other.0.total_cmp(&one.0));
    let sorted = weighed.into_iter();
    sorted.map(|(_, viewpoint)| viewpoint).collect()
}

/// In a sentence where only one can be meant; a command has to name it.
const INTERFACE: &str = "the interface";

/// As a person says it; a command takes the bare number.
fn in_words(fact: &Fact) -> String {
    match fact.value.number() {
        Some(rate) if fact.unit == "bit/s" => with_unit(rate, BIT_RATES),
        Some(share) if fact.unit == "ratio" => percent(share),
        _ => fact.value.to_string(),
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        10.0.. => format!("{percent:.0} %"),
        1.0.. => format!("{percent:.1} %"),
        _ => format!("{} %", Value::Number(percent)),
    }
}

/// The facts that the conditions asked for, as they were in this place.
fn evidence(rule: &Rule, viewpoint: &Viewpoint, facts: &Facts) -> Vec<Evidence> {
    let asked = rule
        .applies
        .iter()
        .chain(&rule.when)
        .chain(&rule.any)
        .flat_map(Condition::facts);
    let mut evidence: Vec<Evidence> = Vec::new();
    for name in asked {
        let Some(fact) = facts
            .get(name, viewpoint)
            .filter(|_| !evidence.iter().any(|known| known.fact == name))
        else {
            continue;
        };
        evidence.push(Evidence {
            fact: name.to_owned(),
            value: fact.value.clone(),
            unit: fact.unit.clone(),
            source: fact.source.clone(),
        });
    }
    evidence
}

/// What the finding accounts for; its packets are shared out when all findings are known.
fn explained(
    rule: &Rule,
    viewpoints: &[&Viewpoint],
    record: &Record,
    claims: &[Claim],
    facts: &Facts,
) -> Explained {
    match &rule.explains {
        Explains::Nothing => Explained::default(),
        Explains::Rate(name) => {
            let rates = viewpoints
                .iter()
                .map(|viewpoint| number(name, viewpoint, facts));
            Explained {
                bits_per_second: Some(rates.fold(0.0, f64::max)),
                ..Explained::default()
            }
        }
        Explains::Stage(_) | Explains::AllLost | Explains::Packets { .. } => {
            // A record without an account of a test has nothing to take packets from.
            let counted = !record.run.tests.is_empty()
                || !record.trials.is_empty()
                || matches!(rule.explains, Explains::Packets { .. });
            let packets = claims.iter().map(|claim| claim.packets);
            Explained {
                lost_packets: counted.then(|| packets.fold(0, u64::saturating_add)),
                ..Explained::default()
            }
        }
    }
}

fn number(fact: &str, viewpoint: &Viewpoint, facts: &Facts) -> f64 {
    let fact = facts.get(fact, viewpoint);
    fact.and_then(|fact| fact.value.number()).unwrap_or(0.0)
}

/// What one point of view accounts for: packets, or bit/s.
fn weight(rule: &Rule, viewpoint: &Viewpoint, losses: &Losses<'_>, facts: &Facts) -> f64 {
    match &rule.explains {
        Explains::Rate(fact) => number(fact, viewpoint, facts),
        Explains::Nothing => 0.0,
        _ => claim::weight(rule, viewpoint, losses, facts) as f64,
    }
}
