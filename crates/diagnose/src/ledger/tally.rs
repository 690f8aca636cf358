// SPDX-License-Identifier: MIT OR Apache-2.0
//! All claims of one path, stage by stage, cut down to what was lost.
//!
//! Always: `Σ lo ≤ lost`, and `Σ lo + unattributed_hi = lost`.

use linerate_model::map::Map;
use linerate_model::output::{Evidence, LedgerEntry, Role, Stage as Entry};

use super::claim::{Claim, Kind, moved};
use super::span::Span;
use linerate_knowledge::Stage;

/// A place on a path, in the order of a packet's way.
pub(super) trait PathStage: Copy + Ord {
    /// As the document names it.
    fn word(self) -> &'static str;
}

impl PathStage for Stage {
    fn word(self) -> &'static str {
        Self::word(self)
    }
}

/// What is known of one stage.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    pub(super) host: Role,
    pub(super) interface: Option<String>,
    pub(super) kind: Kind,
    pub(super) seen: Span,
    largest: u64,
    pub(super) evidence: Vec<Evidence>,
}

/// What is known of each stage.
#[derive(Debug, Clone)]
pub(super) struct Tallies<S>(pub(super) Map<S, Tally>);

impl Tally {
    /// A stage of which nothing is claimed yet.
    pub(super) const fn new(host: Role, interface: Option<String>, kind: Kind) -> Self {
        Self {
            host,
            interface,
            kind,
            seen: Span::new(0, 0),
            largest: 0,
            evidence: Vec::new(),
        }
    }

    fn join<S>(&mut self, claim: Claim<S>) {
        if claim.seen.hi > self.largest {
            self.largest = claim.seen.hi;
            self.kind = claim.kind;
            self.interface = claim.interface.or(self.interface.take());
        } else if self.interface.is_none() {
            self.interface = claim.interface;
        }
        self.seen = self.seen.plus(claim.seen);
        for one in claim.evidence {
            if !self.evidence.contains(&one) {
                self.evidence.push(one);
            }
        }
    }
}

impl<S: PathStage> Tallies<S> {
    /// Claims of one stage never overlap: they are added.
    pub(super) fn of(claims: impl IntoIterator<Item = Claim<S>>) -> Self {
        let mut tallies = Map::new();
        for claim in claims {
            let first = || Tally::new(claim.host, claim.interface.clone(), claim.kind);
            tallies.entry(claim.stage).or_insert_with(first).join(claim);
        }
        Self(tallies)
    }

    /// The entry of a path that lost this many; the caller sets its test and unit.
    pub(super) fn entry(mut self, lost: u64) -> LedgerEntry {
        self.share_out(lost);
        self.narrow(lost);
        let least = self.least();
        let most = self
            .0
            .values()
            .fold(0_u64, |sum, tally| sum.saturating_add(tally.seen.hi));
        LedgerEntry {
            lost_packets: lost,
            stages: self
                .0
                .into_iter()
                .map(|(stage, tally)| line(stage, tally))
                .collect(),
            unattributed_lo: signed(lost.saturating_sub(most)),
            unattributed_hi: signed(lost - least),
            ..LedgerEntry::default()
        }
    }

    /// No more than was lost, the best evidence first.
    fn share_out(&mut self, lost: u64) {
        let mut left = lost;
        for kind in [Kind::Exact, Kind::Shared, Kind::Balance] {
            for tally in self.0.values_mut().filter(|tally| tally.kind == kind) {
                tally.seen.lo = tally.seen.lo.min(left);
                left -= tally.seen.lo;
            }
        }
    }

    /// What other stages lost at least was not lost at this one.
    fn narrow(&mut self, lost: u64) {
        let least = self.least();
        for tally in self.0.values_mut() {
            let elsewhere = least - tally.seen.lo;
            tally.seen = tally.seen.at_most(lost - elsewhere);
        }
    }

    /// Claimed by exact evidence.
    pub(super) fn exact(&self) -> u64 {
        let exact = self.0.values().filter(|tally| tally.kind == Kind::Exact);
        exact.map(|tally| tally.seen.lo).sum()
    }

    /// Exact evidence that claims more than was lost also counts packets that were not lost, at whichever stage.
    pub(super) fn doubt(&mut self, excess: u64) {
        if excess == 0 {
            return;
        }
        let claims = |tally: &&mut Tally| tally.kind == Kind::Exact && tally.seen.lo > 0;
        for tally in self.0.values_mut().filter(claims) {
            tally.kind = Kind::Shared;
            tally.seen = Span::new(tally.seen.lo.saturating_sub(excess), tally.seen.hi);
        }
    }

    fn least(&self) -> u64 {
        self.0.values().map(|tally| tally.seen.lo).sum()
    }
}

/// A count with a sign, for the document.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Where packets died, counters that did not move say nothing more.
fn line(stage: impl PathStage, mut tally: Tally) -> Entry {
    if tally.seen.hi > 0 && tally.evidence.iter().any(moved) {
        tally.evidence.retain(moved);
    }
    Entry {
        stage: stage.word().to_owned(),
        host: tally.host,
        interface: tally.interface,
        lo: tally.seen.lo,
        hi: tally.seen.hi,
        kind: tally.kind.word().to_owned(),
        evidence: tally.evidence,
    }
}
