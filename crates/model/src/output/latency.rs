// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round-trip times, idle and under load.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::distribution::Quantiles;

/// The load during the latency probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// This side sends.
    Up,
    /// This side receives.
    Down,
    /// Both.
    Both,
}

/// Round-trip times of the probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Latency {
    /// The load.
    pub phase: Phase,
    /// `udp-probe` (ours, to a linerate) or `icmp-echo` (to the host of a stock server).
    pub method: String,
    /// Distribution; `null` without an answer.
    pub rtt_ns: Option<Quantiles>,
    /// Probes sent.
    pub sent: u64,
    /// Probes without an answer.
    pub lost: u64,
}
