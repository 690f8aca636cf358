// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernel counters and CPU load of both ends during a test.

use serde::{Deserialize, Serialize};

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

/// CPU time of the threads that carried a test's streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Fields)]
pub struct StreamCpu {
    /// Of the sender.
    pub tx: Option<ThreadTime>,
    /// Of the receiver.
    pub rx: Option<ThreadTime>,
}

/// CPU time of threads: the sum is exact (`CLOCK_THREAD_CPUTIME_ID`), the parts are those of getrusage(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Fields)]
pub struct ThreadTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel; softirqs that ran meanwhile are in it, unless the kernel accounts for them separately
    /// (`CONFIG_IRQ_TIME_ACCOUNTING`).
    pub system_ns: u64,
    /// Hardware events; `null` where none were requested or counted.
    pub events: Option<ThreadEvents>,
    /// Why requested events are missing.
    pub events_missing: Option<EventsMissing>,
}

/// Why hardware events were not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventsMissing {
    /// The processor, or the virtual machine, has no counters of them.
    NoCounters,
    /// `kernel.perf_event_paranoid`, or the container, does not allow it.
    NotAllowed,
    /// The kernel has no perf_event_open(2).
    NoPerf,
    /// Other programs had the counters all the time.
    TooFew,
    /// Not known to this version.
    #[serde(other)]
    Unknown,
}

impl ThreadTime {
    /// All of it.
    #[must_use]
    pub const fn ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// The sum; its events are known if both are.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |one: u64, other: u64| one.saturating_add(other);
        let both = self.events.zip(other.events);
        Self {
            user_ns: sum(self.user_ns, other.user_ns),
            system_ns: sum(self.system_ns, other.system_ns),
            events: both.map(|(one, other)| ThreadEvents {
                cycles: sum(one.cycles, other.cycles),
                instructions: sum(one.instructions, other.instructions),
                cache_misses: sum(one.cache_misses, other.cache_misses),
            }),
            events_missing: self.events_missing.or(other.events_missing),
        }
    }
}

/// Events that the processor counted while threads ran (perf_event_open(2)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Fields)]
pub struct ThreadEvents {
    /// `PERF_COUNT_HW_CPU_CYCLES`.
    pub cycles: u64,
    /// `PERF_COUNT_HW_INSTRUCTIONS`.
    pub instructions: u64,
    /// `PERF_COUNT_HW_CACHE_MISSES`.
    pub cache_misses: u64,
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
