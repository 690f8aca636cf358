// SPDX-License-Identifier: MIT OR Apache-2.0
//! A measured rate given as a whole: nuttcp, netperf, ttcp, a row of a table, a sentence.

use super::Protocol;

/// A measured transfer; `None` where the text does not state a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Its name in the text.
    pub name: Option<String>,
    /// The transport.
    pub protocol: Option<Protocol>,
    /// 4 or 6.
    pub ip_version: Option<u8>,
    /// Whether this machine sent.
    pub sends: Option<bool>,
    /// Payload or IP packet size, as in the text.
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
    /// TCP segments retransmitted.
    pub retransmits: Option<u64>,
    /// Share of a processor in the kernel, 0 … 1.
    pub cpu_share: Option<f64>,
    /// Rate of each flow.
    pub flows_bits_per_second: Vec<f64>,
    /// Whether a device forwarded it (both ends are testers).
    pub forwarded: bool,
}
