// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of `samples.jsonl`: counters of one source as the kernel gave them. Raw is raw: a
//! missing counter is absent, never 0; names are the kernel's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::output::Role;

/// What one source said at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// On which end it was read.
    pub host: Role,
    /// That end's `CLOCK_MONOTONIC`, nanoseconds. Not comparable between hosts.
    pub t_ns: u64,
    /// That end's wall clock, nanoseconds since 1970; `null` when not read.
    pub wall_ns: Option<i64>,
    /// Where it was read: `/proc/net/snmp`, `rtnl_link_stats64`, `ethtool -S` …
    pub source: String,
    /// Of which interface; `null` for counters of the whole host.
    pub interface: Option<String>,
    /// The kernel's name of each counter, and its value.
    pub counters: BTreeMap<String, u64>,
}

impl Sample {
    /// Whether both are of the same source, so that one may be subtracted from the other.
    #[must_use]
    pub fn same_source(&self, other: &Self) -> bool {
        (self.host, &self.source, &self.interface) == (other.host, &other.source, &other.interface)
    }
}
