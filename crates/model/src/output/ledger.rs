// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loss ledger: where packets were lost, stage by stage, with evidence.

use serde::Serialize;

use crate::fields::Fields;

use super::fact::Value;
use super::host::Role;

/// The losses of one test by stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct LedgerEntry {
    /// The test.
    pub test_id: String,
    /// `datagrams`, `segments` or `frames`.
    pub unit: String,
    /// Lost packets.
    pub lost_packets: u64,
    /// Attributed to stages.
    pub stages: Vec<Stage>,
    /// Not attributed, at least.
    pub unattributed_lo: i64,
    /// Not attributed, at most.
    pub unattributed_hi: i64,
    /// Stages without a readable counter.
    pub blind: Vec<String>,
    /// Sources that could not be read, with the reason.
    pub unread: Vec<Unread>,
}

/// A source that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Unread {
    /// Its name.
    pub source: String,
    /// The host.
    pub host: Role,
    /// Why not.
    pub why: String,
    /// What to try; may be empty.
    #[serde(rename = "try")]
    pub try_: String,
}

/// The losses at one stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Stage {
    /// `tx-app` … `rx-app`.
    pub stage: String,
    /// The host.
    pub host: Role,
    /// The interface.
    pub interface: Option<String>,
    /// At least.
    pub lo: u64,
    /// At most.
    pub hi: u64,
    /// `exact`, `shared` or `balance`.
    pub kind: String,
    /// The evidence.
    pub evidence: Vec<Evidence>,
}

/// One fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
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
