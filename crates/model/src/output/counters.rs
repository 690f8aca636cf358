// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernel counters and CPU load of both ends during a test.

use serde::Serialize;

use crate::fields::Fields;

use super::host::Role;

/// CPU load of both ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CpuPair {
    /// This side.
    pub local: Option<Cpu>,
    /// The peer.
    pub remote: Option<Cpu>,
}

/// Shares of all CPU time, 0…1, from `/proc/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
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
    /// Busy share of the busiest CPU.
    pub busiest_cpu: f64,
}

impl Cpu {
    /// Every share, in the order of the fields.
    #[must_use]
    pub fn shares(&self) -> [f64; 6] {
        [
            self.user,
            self.system,
            self.softirq,
            self.irq,
            self.steal,
            self.busiest_cpu,
        ]
    }
}

/// A kernel counter that increased.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct MovedCounter {
    /// The host.
    pub host: Role,
    /// The interface; `null` for counters of the whole host.
    pub interface: Option<String>,
    /// The kernel's name.
    pub name: String,
    /// The increase.
    pub delta: u64,
    /// Where it was read: `/proc/net/snmp`, `rtnl_link_stats64`, `ethtool -S` …
    pub source: String,
}
