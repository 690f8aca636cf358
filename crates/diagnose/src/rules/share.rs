// SPDX-License-Identifier: MIT OR Apache-2.0
//! The losses are shared out once: the surest finding gets what it claims, the next one what is left of the test and of
//! the stage. Packets that another finding already has are not counted again: they are listed as shared with it.

use std::cmp::Ordering;

use linerate_model::map::Map;
use linerate_model::order;
use linerate_model::output::LedgerEntry;

use super::claim::{Claim, Losses, Pool};
use super::finding::Fired;
use super::{Explains, Strength};

/// Gives each finding the packets that it explains and no other does.
pub(super) fn share_out(fired: &mut [Fired<'_>], losses: &Losses<'_>) {
    let mut turns: Vec<(usize, usize)> = Vec::new();
    for (index, one) in fired.iter().enumerate() {
        turns.extend((0..one.claims.len()).map(|claim| (index, claim)));
    }
    let claimed: Vec<u64> = fired.iter().map(claimed).collect();
    order::by(&mut turns, |one, other| {
        let claimed = || claimed[other.0].cmp(&claimed[one.0]);
        precedence(&fired[one.0], &fired[other.0], claimed)
    });
    let mut shares: Vec<Share> = fired.iter().map(|_| Share::default()).collect();
    let mut pools = Pools::new(losses);
    for (index, claim) in turns {
        let claim = &fired[index].claims[claim];
        let (own, shared) = pools.take(claim, index);
        let share = &mut shares[index];
        share.own += own;
        for (owner, packets) in shared {
            share.shared += packets;
            share.with.push(owner);
        }
    }
    let rules: Vec<String> = fired.iter().map(|one| one.rule.id.clone()).collect();
    for (one, share) in fired.iter_mut().zip(shares) {
        share.enter(one, &rules);
    }
}

/// The surest first; of these, one that counts its packets before one that takes a stage, or all.
fn precedence(one: &Fired<'_>, other: &Fired<'_>, claimed: impl FnOnce() -> Ordering) -> Ordering {
    let sure = |fired: &Fired<'_>| Strength::of_word(&fired.finding.strength);
    let wide = |fired: &Fired<'_>| match fired.rule.explains {
        Explains::Packets { .. } => 0,
        Explains::Stage(_) => 1,
        Explains::AllLost | Explains::Rate(_) | Explains::Nothing => 2,
    };
    sure(other)
        .cmp(&sure(one))
        .then_with(|| wide(one).cmp(&wide(other)))
        .then_with(claimed)
        .then_with(|| one.rule.id.cmp(&other.rule.id))
}

fn claimed(fired: &Fired<'_>) -> u64 {
    let claims = fired.claims.iter().map(|claim| claim.packets);
    claims.fold(0, u64::saturating_add)
}

/// What one finding got.
#[derive(Debug, Default)]
struct Share {
    own: u64,
    shared: u64,
    with: Vec<usize>,
}

impl Share {
    fn enter(self, fired: &mut Fired<'_>, rules: &[String]) {
        let explains = &mut fired.finding.explains;
        if explains.lost_packets.is_none() {
            return;
        }
        explains.lost_packets = Some(self.own);
        if self.shared == 0 {
            return;
        }
        explains.shared_packets = Some(self.shared);
        for rule in self.with.iter().filter_map(|owner| rules.get(*owner)) {
            if !explains.shared_with.contains(rule) {
                explains.shared_with.push(rule.clone());
            }
        }
        // One packet is not proven to have two causes.
        if self.own == 0 && fired.finding.strength == Strength::Proven.word() {
            fired.finding.strength = Strength::Consistent.word().to_owned();
        }
    }
}

/// What is unclaimed, and which finding has the rest.
struct Pools<'l> {
    losses: &'l Losses<'l>,
    left: Map<Pool, Left>,
}

/// Of one pool.
struct Left {
    all: u64,
    stages: Map<String, u64>,
    taken: Vec<Taken>,
}

struct Taken {
    by: usize,
    stage: Option<String>,
    packets: u64,
}

impl<'l> Pools<'l> {
    const fn new(losses: &'l Losses<'l>) -> Self {
        Self {
            losses,
            left: Map::new(),
        }
    }

    /// What is left for a claim, and what others already have of it.
    fn take(&mut self, claim: &Claim, by: usize) -> (u64, Vec<(usize, u64)>) {
        let entry = match &claim.pool {
            Pool::Test(id) => self.losses.of_test(id),
            Pool::Place(..) => None,
        };
        let fresh = || entry.map_or_else(Left::unknown, Left::of);
        let left = self.left.entry(claim.pool.clone()).or_insert_with(fresh);
        left.take(claim, entry, by)
    }
}

impl Left {
    /// Of a pool whose size is not known: as much as the largest claim.
    fn unknown() -> Self {
        Self {
            all: u64::MAX,
            stages: Map::new(),
            taken: Vec::new(),
        }
    }

    fn of(entry: &LedgerEntry) -> Self {
        Self {
            all: entry.lost_packets,
            ..Self::unknown()
        }
    }

    fn take(
        &mut self,
        claim: &Claim,
        entry: Option<&LedgerEntry>,
        by: usize,
    ) -> (u64, Vec<(usize, u64)>) {
        let most = most_at(claim, entry);
        let wanted = claim.packets.min(most);
        let owners = self.owners(claim);
        let room = match entry {
            Some(_) => self.room(claim, most),
            None => claim.packets.saturating_sub(sum(&owners)),
        };
        let own = wanted.min(room);
        self.book(claim, own, by);
        (own, split(wanted - own, owners))
    }

    /// Who already has packets that the claim may mean, with how many.
    fn owners(&self, claim: &Claim) -> Vec<(usize, u64)> {
        let overlaps = |taken: &&Taken| match (&taken.stage, &claim.stage) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let owners = self.taken.iter().filter(overlaps);
        owners.map(|taken| (taken.by, taken.packets)).collect()
    }

    /// What is left at the claim's stage, where at most `most` died.
    fn room(&mut self, claim: &Claim, most: u64) -> u64 {
        let stage = claim.stage.as_ref();
        let room = stage.map(|stage| *self.stages.entry(stage.clone()).or_insert(most));
        room.unwrap_or(self.all).min(self.all)
    }

    fn book(&mut self, claim: &Claim, packets: u64, by: usize) {
        if packets == 0 {
            return;
        }
        self.all -= packets;
        let stage = claim.stage.as_ref();
        if let Some(room) = stage.and_then(|stage| self.stages.get_mut(stage)) {
            *room = room.saturating_sub(packets);
        }
        self.taken.push(Taken {
            by,
            stage: claim.stage.clone(),
            packets,
        });
    }
}

fn sum(owners: &[(usize, u64)]) -> u64 {
    owners.iter().map(|(_, packets)| *packets).sum()
}

/// At most this many of a test died at the claim's stage: none at one that was watched and has no entry.
fn most_at(claim: &Claim, entry: Option<&LedgerEntry>) -> u64 {
    let (Some(entry), Some(stage)) = (entry, claim.stage.as_ref()) else {
        return entry.map_or(u64::MAX, |entry| entry.lost_packets);
    };
    if entry.blind.contains(stage) {
        return entry.lost_packets;
    }
    let found = entry.stages.iter().filter(|found| &found.stage == stage);
    found.map(|found| found.hi).sum()
}

/// Among those who have them.
fn split(mut packets: u64, owners: Vec<(usize, u64)>) -> Vec<(usize, u64)> {
    let mut shared = Vec::new();
    for (owner, has) in owners {
        let of_this = has.min(packets);
        if of_this > 0 {
            shared.push((owner, of_this));
        }
        packets -= of_this;
    }
    shared
}
