// SPDX-License-Identifier: MIT OR Apache-2.0
//! A measured rate that stands in one piece: nuttcp, netperf, ttcp, a row of a table, a sentence.

use super::Protocol;

/// What was measured; what is not told is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// What the text calls it.
    pub name: Option<String>,
    /// The transport.
    pub protocol: Option<Protocol>,
    /// 4 or 6.
    pub ip_version: Option<u8>,
    /// Whether the machine of the text sent.
    pub sends: Option<bool>,
    /// Payload or IP packet size as the text means it.
    pub packet_bytes: Option<u32>,
    /// MTU, where it was set for the test.
    pub mtu: Option<u32>,
    /// Rate.
    pub bits_per_second: f64,
    /// Packets a second.
    pub packets_per_second: Option<f64>,
    /// Seconds.
    pub duration_s: Option<f64>,
    /// Datagrams or writes sent.
    pub sent: Option<u64>,
    /// Datagrams lost.
    pub lost: Option<u64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// Share of a processor in the kernel, 0 … 1.
    pub cpu_share: Option<f64>,
    /// Rate of each flow.
    pub flows_bits_per_second: Vec<f64>,
    /// Whether a device forwarded it (both ends are testers).
    pub forwarded: bool,
}
