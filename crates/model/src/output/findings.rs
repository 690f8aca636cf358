// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes, what to do about them, and rules that lack evidence.

use serde::Serialize;

use crate::fields::Fields;

use super::host::Role;
use super::ledger::Evidence;

/// A cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The cause's stable name.
    pub cause: String,
    /// One sentence.
    pub title: String,
    /// `proven`, `consistent` or `weak`.
    pub strength: String,
    /// The host.
    pub host: Role,
    /// The interface; `null` for the whole host.
    pub interface: Option<String>,
    /// The tests.
    pub test_ids: Vec<String>,
    /// What it accounts for.
    pub explains: Explains,
    /// The facts.
    pub evidence: Vec<Evidence>,
    /// What to do; `null` for informational ones.
    pub change: Option<Change>,
    /// How to verify the change.
    pub verify: String,
    /// The explanation.
    pub why: String,
    /// The source.
    pub source: String,
    /// Informational, not a fault: `change` is `null`.
    pub informational: bool,
    /// Rules of other findings that contradict it.
    pub conflicts: Vec<String>,
    /// Where it is, of a cause that was weighed: `host`, `partner`, `path`, `switch`, `vm-host`, `program`.
    pub place: String,
    /// The command that decides.
    pub check: Option<Check>,
    /// Causes that explain the same almost as well.
    pub alternatives: Vec<String>,
}

/// A command whose output confirms or refutes a cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Check {
    /// What to run.
    pub command: String,
    /// What it then shows.
    pub confirms: String,
    /// What it shows otherwise.
    pub refutes: String,
}

/// Evidence for or against a cause of a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Weight {
    /// The cause.
    pub cause: String,
    /// The sign.
    pub what: String,
    /// Decibans: 10 is ten times as likely.
    pub db: f64,
    /// Its line, from 1.
    pub line: Option<u64>,
}

/// What a finding accounts for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Explains {
    /// Lost packets that no other finding explains: added up, never more than were lost.
    pub lost_packets: Option<u64>,
    /// Lost packets that it would explain as well and that are counted at other findings.
    pub shared_packets: Option<u64>,
    /// The rules of those.
    pub shared_with: Vec<String>,
    /// Lost rate.
    pub bits_per_second: Option<f64>,
}

/// A change, as commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Change {
    /// What to run.
    pub commands: Vec<String>,
    /// How to go back.
    pub undo: Vec<String>,
    /// The risk.
    pub risk: String,
    /// What decides whether it helped, where it is not the rate or the loss: a metric of `ab`.
    pub figure: Option<String>,
    /// Metrics that it is expected to make worse: what fills a path also fills its queues.
    pub tradeoffs: Vec<String>,
}

/// A rule that lacks evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CannotTell {
    /// The rule.
    pub rule: String,
    /// Its cause.
    pub cause: String,
    /// The unknown facts.
    pub facts: Vec<String>,
    /// The commands that would provide them.
    pub missing: Vec<String>,
    /// The host would report more with its token.
    pub needs_token: bool,
    /// The tests of which it cannot tell; empty if it looks at none.
    pub test_ids: Vec<String>,
}
