// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where packets were lost, stage by stage, and the facts that say so.

use serde::{Deserialize, Serialize};

use super::fact::Value;
use super::host::Role;

/// One test's losses by stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerEntry {
    /// Of which test.
    pub test_id: String,
    /// `datagrams`, `segments` or `frames`.
    pub unit: String,
    /// To be explained.
    pub lost_packets: u64,
    /// Explained.
    pub stages: Vec<Stage>,
    /// Not explained, at least.
    pub unattributed_lo: i64,
    /// Not explained, at most.
    pub unattributed_hi: i64,
    /// Stages without a readable counter.
    pub blind: Vec<String>,
    /// Sources that would have told more, and why they could not be read.
    pub unread: Vec<Unread>,
}

/// A source that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unread {
    /// Its name.
    pub source: String,
    /// On which end.
    pub host: Role,
    /// Why not.
    pub why: String,
    /// What would help; may be empty.
    #[serde(rename = "try")]
    pub try_: String,
}

/// A stage's share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stage {
    /// `tx-app` … `rx-app`.
    pub stage: String,
    /// On which end.
    pub host: Role,
    /// At which interface.
    pub interface: Option<String>,
    /// At least.
    pub lo: u64,
    /// At most.
    pub hi: u64,
    /// `exact`, `shared` or `balance`.
    pub kind: String,
    /// What says so.
    pub evidence: Vec<Evidence>,
}

/// One fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Its name.
    pub fact: String,
    /// Its value.
    pub value: Value,
    /// Its unit.
    pub unit: String,
    /// Where it was read.
    pub source: String,
}
