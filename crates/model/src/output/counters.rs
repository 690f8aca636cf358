// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both ends' kernels counted during a test.

use serde::{Deserialize, Serialize};

use super::host::Role;

/// Both ends' load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuPair {
    /// This side.
    pub local: Option<Cpu>,
    /// The peer.
    pub remote: Option<Cpu>,
}

/// Shares of the whole machine's time, 0…1, from `/proc/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// `user` + `nice`.
    pub user: f64,
    /// `system`.
    pub system: f64,
    /// `softirq`.
    pub softirq: f64,
    /// `irq`.
    pub irq: f64,
    /// `steal`.
    pub steal: f64,
    /// The busiest processor's busy share.
    pub busiest_cpu: f64,
}

/// A kernel counter that moved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MovedCounter {
    /// On which end.
    pub host: Role,
    /// Of which interface; `null` for counters of the whole host.
    pub interface: Option<String>,
    /// The kernel's name.
    pub name: String,
    /// By how much.
    pub delta: u64,
    /// Where it was read: `/proc/net/snmp`, `rtnl_link_stats64`, `ethtool -S` …
    pub source: String,
}
