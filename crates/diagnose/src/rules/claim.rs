// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rule that fired claims to explain, before the losses are shared out: packets of a test, at a stage of it or
//! anywhere, or packets that a counter outside any test shows.

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_model::output::{Fact, LedgerEntry, Role};

use super::{Explains, Rule};
use crate::facts::Facts;
use crate::viewpoint::Viewpoint;

/// The ledger, by test.
#[derive(Debug)]
pub(super) struct Losses<'l> {
    entries: Map<&'l str, &'l LedgerEntry>,
}

/// Packets that may be claimed by several rules but were lost once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pool {
    /// Those of a test.
    Test(String),
    /// Those that a counter of this place shows.
    Place(Option<Role>, Option<String>, String),
}

/// A claim on packets of a pool.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) pool: Pool,
    /// Where in the test; `None` is anywhere.
    pub(super) stage: Option<String>,
    pub(super) packets: u64,
}

impl Claim {
    /// Whether packets are claimed that died at this stage, of whichever test, or anywhere in the test seen from here.
    pub(super) fn covers(&self, stage: &str, view: &Viewpoint) -> bool {
        let there = match (&self.pool, self.stage.as_deref()) {
            (Pool::Test(_), Some(own)) => own == stage,
            (Pool::Test(id), None) => view.test_id.as_ref() == Some(id),
            (Pool::Place(host, _, what), _) => *host == view.host && what == stage,
        };
        self.packets > 0 && there
    }
}

impl<'l> Losses<'l> {
    pub(super) fn of(ledger: &'l [LedgerEntry]) -> Self {
        let entries = ledger.iter().map(|entry| (entry.test_id.as_str(), entry));
        Self {
            entries: entries.gather(),
        }
    }

    pub(super) fn of_test(&self, id: &str) -> Option<&'l LedgerEntry> {
        self.entries.get(id).copied()
    }

    /// Whether a twentieth of what the point of view sees lost was certainly lost at this stage: fewer are by-products of
    /// another fault (a damaged header that IP drops).
    pub(super) fn are_many_at(&self, stage: &str, viewpoint: &Viewpoint) -> bool {
        let entries = self.seen_from(viewpoint);
        let lost: u64 = entries.iter().map(|entry| entry.lost_packets).sum();
        let there: u64 = entries.iter().map(|entry| certainly_at(entry, stage)).sum();
        there.saturating_mul(MANY_PART) >= lost
    }

    /// The entries that a point of view sees: its test's, or all.
    fn seen_from(&self, viewpoint: &Viewpoint) -> Vec<&'l LedgerEntry> {
        match viewpoint.test_id.as_deref() {
            Some(id) => self.of_test(id).into_iter().collect(),
            None => self.entries.values().copied().collect(),
        }
    }
}

/// What a rule claims from these points of view.
pub(super) fn claims(
    rule: &Rule,
    viewpoints: &[&Viewpoint],
    losses: &Losses<'_>,
    facts: &Facts,
) -> Vec<Claim> {
    let mut counted: Vec<*const Fact> = Vec::new();
    let mut all = Vec::new();
    for viewpoint in viewpoints {
        match &rule.explains {
            Explains::Stage(stage) if rule.fallback => {
                all.extend(claimed(stage, viewpoint, losses, certainly_at));
            }
            Explains::Stage(stage) => all.extend(claimed(stage, viewpoint, losses, found_at)),
            Explains::AllLost => all.extend(anywhere(viewpoint, losses)),
            Explains::Packets { fact, stage } => match (facts.get(fact, viewpoint), stage) {
                // A count that is no single test's (pasted, since boot) is the same one from each point of view.
                (Some(fact), _) if counted.contains(&std::ptr::from_ref(fact)) => {}
                (Some(fact), stage) => {
                    counted.push(fact);
                    all.push(counted_by(fact, stage.as_deref(), viewpoint, losses, facts));
                }
                (None, Some(stage)) => all.extend(claimed(stage, viewpoint, losses, found_at)),
                (None, None) => {}
            },
            Explains::Rate(_) | Explains::Nothing => {}
        }
    }
    all
}

/// What one point of view claims, packets.
pub(super) fn weight(
    rule: &Rule,
    viewpoint: &Viewpoint,
    losses: &Losses<'_>,
    facts: &Facts,
) -> u64 {
    let claims = claims(rule, &[viewpoint], losses, facts);
    claims.iter().map(|claim| claim.packets).sum()
}

fn claimed(
    stage: &str,
    viewpoint: &Viewpoint,
    losses: &Losses<'_>,
    packets: fn(&LedgerEntry, &str) -> u64,
) -> Vec<Claim> {
    let entries = losses.seen_from(viewpoint).into_iter();
    let claim = |entry: &LedgerEntry| Claim {
        pool: Pool::Test(entry.test_id.clone()),
        stage: Some(stage.to_owned()),
        packets: packets(entry, stage),
    };
    entries.map(claim).collect()
}

fn certainly_at(entry: &LedgerEntry, stage: &str) -> u64 {
    let found = entry.stages.iter().filter(|found| found.stage == stage);
    found.map(|found| found.lo).sum()
}

/// A difference of two counters explains only what it proves: it may leave room for all of the losses.
fn found_at(entry: &LedgerEntry, stage: &str) -> u64 {
    let found = entry.stages.iter().filter(|found| found.stage == stage);
    let packets = found.map(|found| match found.kind.as_str() {
        "balance" => found.lo,
        _ => found.hi,
    });
    packets.sum()
}

fn anywhere(viewpoint: &Viewpoint, losses: &Losses<'_>) -> Vec<Claim> {
    let entries = losses.seen_from(viewpoint).into_iter();
    let claim = |entry: &LedgerEntry| Claim {
        pool: Pool::Test(entry.test_id.clone()),
        stage: None,
        packets: entry.lost_packets,
    };
    entries.map(claim).collect()
}

/// What was counted during a test may be of other traffic too: at most what was lost.
fn counted_by(
    fact: &Fact,
    stage: Option<&str>,
    viewpoint: &Viewpoint,
    losses: &Losses<'_>,
    facts: &Facts,
) -> Claim {
    let packets = fact.value.number().unwrap_or(0.0) as u64;
    let Some(id) = &fact.test_id else {
        let what = stage.unwrap_or(&fact.name).to_owned();
        return Claim {
            pool: Pool::Place(viewpoint.host, viewpoint.interface.clone(), what),
            stage: None,
            packets,
        };
    };
    let reported = || facts.get("lost_packets", viewpoint)?.value.number();
    let lost = match losses.of_test(id) {
        Some(entry) => entry.lost_packets,
        None => reported().map_or(u64::MAX, |lost| lost as u64),
    };
    Claim {
        pool: Pool::Test(id.clone()),
        stage: stage.map(str::to_owned),
        packets: packets.min(lost),
    }
}

/// More than a twentieth are many.
const MANY_PART: u64 = 20;
