// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes, what to do about them, and what could not be told.

use serde::{Deserialize, Serialize};

use super::host::Role;
use super::ledger::Evidence;

/// A cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The cause's stable name.
    pub cause: String,
    /// One sentence.
    pub title: String,
    /// `proven`, `consistent` or `weak`.
    pub strength: String,
    /// On which end.
    pub host: Role,
    /// At which interface; `null` where it is the whole host.
    pub interface: Option<String>,
    /// In which tests.
    pub test_ids: Vec<String>,
    /// What it accounts for.
    pub explains: Explains,
    /// The facts.
    pub evidence: Vec<Evidence>,
    /// What to do; `null` for informational ones.
    pub change: Option<Change>,
    /// How to see that it helped.
    pub verify: String,
    /// Why it is so.
    pub why: String,
    /// Who says so.
    pub source: String,
    /// Worth knowing, and nothing that is wrong: `change` is then `null`.
    pub informational: bool,
    /// Other findings' rules that say otherwise of the same evidence.
    pub conflicts: Vec<String>,
}

/// What a finding accounts for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explains {
    /// Lost packets.
    pub lost_packets: Option<u64>,
    /// Lost rate.
    pub bits_per_second: Option<f64>,
}

/// A change as commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// What to run.
    pub commands: Vec<String>,
    /// How to go back.
    pub undo: Vec<String>,
    /// What can go wrong.
    pub risk: String,
}

/// A rule that lacks evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CannotTell {
    /// The rule.
    pub rule: String,
    /// The cause that it would name.
    pub cause: String,
    /// The facts that are not known.
    pub facts: Vec<String>,
    /// What to read: the commands that would tell.
    pub missing: Vec<String>,
    /// The host in question tells more to who knows its token.
    pub needs_token: bool,
}
