// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a test: streams, intervals, loss bursts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fields::Fields;

/// One stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Flow {
    /// iperf3's stream id.
    pub id: u32,
    /// Port of this side.
    pub local_port: Option<u16>,
    /// Port of the peer.
    pub remote_port: Option<u16>,
    /// Rate that the sender handed to its kernel.
    pub offered_bits_per_second: Option<f64>,
    /// Receiver's rate.
    pub delivered_bits_per_second: Option<f64>,
    /// Payload bytes that the sender handed to its kernel.
    pub sent_bytes: Option<u64>,
    /// Payload bytes that the receiver took.
    pub received_bytes: Option<u64>,
    /// Datagrams sent.
    pub sent_packets: Option<u64>,
    /// Datagrams lost.
    pub lost_packets: Option<u64>,
    /// Retransmitted TCP segments.
    pub retransmits: Option<u64>,
    /// The sender's `TCP_INFO` at the end, by the kernel's names; of at most 16 streams.
    pub sender_tcp_info: BTreeMap<String, u64>,
    /// That of the receiver.
    pub receiver_tcp_info: BTreeMap<String, u64>,
}

/// One interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Interval {
    /// Seconds after the start of the test.
    pub start_s: f64,
    /// Seconds after the start of the test.
    pub end_s: f64,
    /// Sender's rate.
    pub sent_bits_per_second: Option<f64>,
    /// Receiver's rate.
    pub received_bits_per_second: Option<f64>,
    /// Datagrams sent.
    pub sent_packets: Option<u64>,
    /// Missing datagrams (negative if earlier gaps were filled).
    pub lost_packets: Option<i64>,
    /// Retransmitted TCP segments.
    pub retransmits: Option<u64>,
    /// TCP congestion window, all streams.
    pub cwnd_bytes: Option<u64>,
    /// TCP smoothed round-trip time, the largest.
    pub rtt_ns: Option<u64>,
}

/// A run of consecutive lost datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct LossBurst {
    /// Stream id.
    pub flow: u32,
    /// When the gap was detected, seconds after the start of the test.
    pub at_s: f64,
    /// First lost sequence, from 1.
    pub first_sequence: u64,
    /// Datagrams.
    pub packets: u64,
}
