// SPDX-License-Identifier: MIT OR Apache-2.0
//! All rules over a record: each from every point of view that it has, what fired of it joined to one
//! finding a place, and the findings in the order of what they explain.

use linerate_model::map::Map;
use linerate_model::output::{CannotTell, Finding, Host, LedgerEntry};

use super::claim::Losses;
use super::finding::Fired;
use super::share::share_out;
use super::{Explains, Rule, Verdict, evaluate, rank};
use crate::facts::{Facts, known};
use crate::viewpoint::{Viewpoint, viewpoints};
use linerate_model::record::Record;

/// What the rules say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// Causes, what explains most first.
    pub findings: Vec<Finding>,
    /// Rules that lack evidence.
    pub cannot_tell: Vec<CannotTell>,
}

/// Asks every rule; those of last resort about what the others leave.
#[must_use]
pub fn judge(rules: &[Rule], record: &Record, ledger: &[LedgerEntry], facts: &Facts) -> Judged {
    let mut fired = Vec::new();
    let mut cannot_tell = Vec::new();
    let losses = Losses::of(ledger);
    let mut of_scope: Map<&str, Vec<Viewpoint>> = Map::new();
    let (fallbacks, named): (Vec<&Rule>, Vec<&Rule>) = rules.iter().partition(|rule| rule.fallback);
    for rule in named {
        let views = of_scope
            .entry(rule.scope.word())
            .or_insert_with(|| viewpoints(record, rule.scope));
        let verdicts = verdicts(rule, views.iter(), facts);
        fired.extend(Fired::join(rule, &verdicts, record, &losses, facts));
        let fires = |(verdict, _): &(Verdict, _)| *verdict == Verdict::Fires;
        // What would only be worth knowing is worth no further question.
        if !rule.informational && !verdicts.iter().any(fires) {
            cannot_tell.extend(cannot_tell_of(rule, &verdicts, record, facts));
        }
    }
    rank::keep_surest(&mut fired);
    for rule in fallbacks {
        let views = viewpoints(record, rule.scope);
        let views = views
            .iter()
            .filter(|view| is_left(rule, view, &losses, &fired));
        let verdicts = verdicts(rule, views, facts);
        fired.extend(Fired::join(rule, &verdicts, record, &losses, facts));
    }
    share_out(&mut fired, &losses);
    Judged {
        findings: rank::order(fired, record),
        cannot_tell,
    }
}

/// What a rule says from each point of view.
fn verdicts<'v>(
    rule: &Rule,
    views: impl Iterator<Item = &'v Viewpoint>,
    facts: &Facts,
) -> Vec<(Verdict, &'v Viewpoint)> {
    let asked = views.map(|view| {
        let ask = |name: &str| Some(&facts.get(name, view)?.value);
        (evaluate(rule, ask), view)
    });
    asked.collect()
}

/// Whether more than a few of the test's losses are at the rule's stage, and no finding claims any of them there.
fn is_left(rule: &Rule, view: &Viewpoint, losses: &Losses<'_>, fired: &[Fired<'_>]) -> bool {
    let Explains::Stage(stage) = &rule.explains else {
        return false;
    };
    if !losses.are_many_at(stage, view) {
        return false;
    }
    let mut claims = fired.iter().flat_map(|one| &one.claims);
    !claims.any(|claim| claim.covers(stage, view))
}

/// A rule of which something holds and something is not known. One of which nothing is known at all
/// has nothing to do with this record.
fn cannot_tell_of(
    rule: &Rule,
    verdicts: &[(Verdict, &Viewpoint)],
    record: &Record,
    facts: &Facts,
) -> Option<CannotTell> {
    let undecided: Vec<(&Vec<String>, &Viewpoint)> = verdicts
        .iter()
        .filter_map(|(verdict, viewpoint)| match verdict {
            Verdict::CannotTell(missing) if something_holds(rule, viewpoint, facts) => {
                Some((missing, *viewpoint))
            }
            _ => None,
        })
        .collect();
    let (missing, viewpoint) = *undecided.first()?;
    let mut test_ids: Vec<String> = Vec::new();
    for (_, viewpoint) in &undecided {
        // Both ends of a test follow each other.
        if viewpoint.test_id.as_ref() != test_ids.last() {
            test_ids.extend(viewpoint.test_id.clone());
        }
    }
    let mut commands: Vec<String> = Vec::new();
    for name in missing {
        let command = known(name).map_or("", |known| known.tells);
        let interface = viewpoint.interface.as_deref().unwrap_or("<interface>");
        let command = command.replace("{interface}", interface);
        if !command.is_empty() && !commands.contains(&command) {
            commands.push(command);
        }
    }
    Some(CannotTell {
        rule: rule.id.clone(),
        cause: rule.cause.clone(),
        facts: missing.clone(),
        missing: commands,
        needs_token: needs_token(record, viewpoint),
        test_ids,
    })
}

/// Whether a host that the rule looks at withholds how it is set up. What is bound to no host may be
/// missing of any.
fn needs_token(record: &Record, viewpoint: &Viewpoint) -> bool {
    let asked = |host: &&Host| viewpoint.host.is_none_or(|role| role == host.role);
    let mut hosts = record.run.hosts.iter().filter(asked);
    hosts.any(|host| host.withheld.is_some())
}

fn something_holds(rule: &Rule, viewpoint: &Viewpoint, facts: &Facts) -> bool {
    let all = rule.when.iter().chain(&rule.any);
    let mut held = all.filter(|condition| {
        condition.holds(|name| Some(&facts.get(name, viewpoint)?.value)) == Some(true)
    });
    held.next().is_some()
}

#[cfg(test)]
mod tests;
