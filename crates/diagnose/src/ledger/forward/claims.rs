// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one counter of a device says of one stage, and what all of them say together.

use linerate_model::output::{Evidence, Role, Stage, Value};

use super::FORWARD_STAGES;
use linerate_model::order;

/// So many of the lost frames died there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub(super) stage: &'static str,
    pub(super) interface: Option<String>,
    /// The difference of two counts of what came through, not a count of drops.
    pub(super) balance: bool,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) evidence: Vec<Evidence>,
}

impl Claim {
    /// A counter of drops, of which others may be.
    pub(super) fn shared(
        stage: &'static str,
        (source, interface, name): (&str, Option<&str>, &str),
        least: u64,
        most: u64,
    ) -> Self {
        Self {
            stage,
            interface: interface.map(str::to_owned),
            balance: false,
            least,
            most,
            evidence: vec![evidence(name, most, source)],
        }
    }
}

/// A counter and what it grew by.
pub(super) fn evidence(name: &str, frames: u64, source: &str) -> Evidence {
    Evidence {
        fact: name.to_owned(),
        value: Value::Number(frames as f64),
        unit: "frames".to_owned(),
        source: source.to_owned(),
    }
}

/// One a stage, in the order of a frame's way. Counters of one stage may count one frame twice (a sum and
/// its part), so they lost at least what the largest says and at most what all say.
pub(super) fn joined(claims: Vec<Claim>) -> Vec<Claim> {
    let mut stages: Vec<Claim> = Vec::new();
    for claim in claims {
        match stages.iter_mut().find(|known| known.stage == claim.stage) {
            None => stages.push(claim),
            Some(known) => known.join(claim),
        }
    }
    order::by_key(&mut stages, |one| {
        FORWARD_STAGES.iter().position(|stage| *stage == one.stage)
    });
    stages
}

impl Claim {
    fn join(&mut self, other: Self) {
        if other.most > self.most {
            self.interface.clone_from(&other.interface);
        }
        // Of a balance the counters of drops are a part; else either may be a part of the other.
        self.most = if self.balance == other.balance {
            self.most.saturating_add(other.most)
        } else {
            self.most.max(other.most)
        };
        self.least = self.least.max(other.least);
        self.balance &= other.balance;
        self.evidence.extend(other.evidence);
    }
}

impl From<Claim> for Stage {
    fn from(claim: Claim) -> Self {
        let kind = if claim.balance { "balance" } else { "shared" };
        Self {
            stage: claim.stage.to_owned(),
            host: Role::Device,
            interface: claim.interface,
            lo: claim.least,
            hi: claim.most,
            kind: kind.to_owned(),
            evidence: claim.evidence,
        }
    }
}
