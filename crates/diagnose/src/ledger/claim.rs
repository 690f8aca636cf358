// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one witness says of one stage.

use linerate_model::output::{Evidence, Role, Value};

use super::span::Span;
use linerate_knowledge::Stage;

/// How good the evidence is; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Counted for this test alone.
    Exact,
    /// A counter that others count into too.
    Shared,
    /// Two counts of what came through differ.
    Balance,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Shared => "shared",
            Self::Balance => "balance",
        }
    }
}

/// This many of the lost packets died there. Two claims never count one packet twice.
#[derive(Debug, Clone)]
pub(super) struct Claim<S = Stage> {
    pub(super) stage: S,
    pub(super) host: Role,
    pub(super) interface: Option<String>,
    pub(super) kind: Kind,
    pub(super) seen: Span,
    pub(super) evidence: Vec<Evidence>,
}

/// All that was said.
#[derive(Debug, Clone, Default)]
pub(super) struct Claims {
    pub(super) all: Vec<Claim>,
    complete: Vec<Stage>,
}

impl Claims {
    /// Adds a claim. Where a witness saw everything, it only supports that one.
    pub(super) fn add(&mut self, mut claim: Claim) {
        if self.is_complete(claim.stage) {
            claim.kind = Kind::Exact;
            claim.seen = Span::default();
            claim.evidence.retain(moved);
        }
        self.all.push(claim);
    }

    /// Adds the claim of a witness that saw every packet of the test that died at the stage.
    pub(super) fn complete(&mut self, claim: Claim) {
        let stage = claim.stage;
        self.add(claim);
        self.complete.push(stage);
    }

    /// Whether a witness saw every packet of the test that died at the stage.
    pub(super) fn is_complete(&self, stage: Stage) -> bool {
        self.complete.contains(&stage)
    }
}

/// A counter and what it grew by.
pub(super) fn evidence(fact: &str, value: u64, unit: &str, source: &str) -> Evidence {
    Evidence {
        fact: fact.to_owned(),
        value: Value::Number(value as f64),
        unit: unit.to_owned(),
        source: source.to_owned(),
    }
}

/// Whether a counter moved at all.
pub(super) fn moved(evidence: &Evidence) -> bool {
    evidence.value.number().is_none_or(|value| value != 0.0)
}
