// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rule from one point of view: fires, does not, or cannot tell.

use linerate_model::output::Value;

use super::Rule;
use super::condition::{Answer, Condition};

/// What a rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All of it holds.
    Fires,
    /// Some of it does not, or the rule is about something else.
    DoesNotFire,
    /// Nothing contradicts it and something holds, but these facts are missing.
    CannotTell(Vec<String>),
}

/// Asks a rule. What it needs and `ask` does not know makes it unable to tell, unless something
/// that is known already says no.
pub fn evaluate<'f>(rule: &Rule, ask: impl Fn(&str) -> Option<&'f Value>) -> Verdict {
    let all_hold = |conditions: &[Condition]| {
        conditions
            .iter()
            .all(|condition| condition.holds(&ask) == Some(true))
    };
    if !all_hold(&rule.applies) {
        return Verdict::DoesNotFire;
    }
    let mut answers: Vec<Answer> = rule
        .when
        .iter()
        .map(|condition| condition.holds(&ask))
        .collect();
    if !rule.any.is_empty() {
        answers.push(any(rule, &ask));
    }
    if answers.contains(&Some(false)) {
        Verdict::DoesNotFire
    } else if answers.contains(&None) {
        missing(rule, &ask)
    } else {
        Verdict::Fires
    }
}

/// One that holds is enough; all have to be false to say no.
fn any<'f>(rule: &Rule, ask: &impl Fn(&str) -> Option<&'f Value>) -> Answer {
    let answers: Vec<Answer> = rule
        .any
        .iter()
        .map(|condition| condition.holds(ask))
        .collect();
    if answers.contains(&Some(true)) {
        Some(true)
    } else if answers.contains(&None) {
        None
    } else {
        Some(false)
    }
}

fn missing<'f>(rule: &Rule, ask: &impl Fn(&str) -> Option<&'f Value>) -> Verdict {
    let asked = rule.when.iter().chain(&rule.any).flat_map(Condition::facts);
    let mut missing: Vec<String> = Vec::new();
    for name in asked.filter(|name| ask(name).is_none()) {
        if !missing.iter().any(|known| known == name) {
            missing.push(name.to_owned());
        }
    }
    Verdict::CannotTell(missing)
}
