// SPDX-License-Identifier: MIT OR Apache-2.0
//! One direction of one test: requested, offered and delivered.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::counters::{CpuPair, MovedCounter, StreamCpu};
use super::distribution::{Quantiles, Spacing};
use super::host::LinkKind;
use super::mode::Mode;
use super::stream::{Flow, Interval, LossBurst};

/// One direction of one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Test {
    /// Unique in the document.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// Shared by the entries of one bidirectional test.
    pub group: String,
    /// Transport.
    pub protocol: Protocol,
    /// 4 or 6.
    pub af: u8,
    /// The direction.
    pub direction: Direction,
    /// Parallel streams in this direction.
    pub streams: u32,
    /// UDP payload, or TCP write size.
    pub payload_bytes: u32,
    /// Measured time, seconds.
    pub duration_s: f64,
    /// Requested payload rate of all streams.
    pub requested_bits_per_second: Option<f64>,
    /// Rate that the sender handed to its kernel.
    pub offered_bits_per_second: Option<f64>,
    /// Rate at the receiver (goodput).
    pub delivered_bits_per_second: Option<f64>,
    /// Payload bytes that the sender handed to its kernel.
    pub sent_bytes: Option<u64>,
    /// Payload bytes that the receiver took.
    pub received_bytes: Option<u64>,
    /// Datagrams sent (TCP: null, as all packet counts).
    pub sent_packets: Option<u64>,
    /// Unique datagrams received.
    pub received_packets: Option<u64>,
    /// `sent - received`.
    pub lost_packets: Option<u64>,
    /// Copies beyond the first.
    pub duplicate_packets: Option<u64>,
    /// RFC 4737 §3.
    pub reordered_packets: Option<u64>,
    /// RFC 4737 §4.2.2, packets.
    pub reorder_extent_max: Option<u64>,
    /// Too late to distinguish from duplicates; they count as lost.
    pub late_packets: Option<u64>,
    /// Datagrams with an invalid stamp.
    pub corrupt_packets: Option<u64>,
    /// `lost / sent`.
    pub loss_ratio: Option<f64>,
    /// One-sided 95 % Clopper–Pearson bound of the loss ratio.
    pub loss_ratio_upper95: Option<f64>,
    /// RFC 3550 §6.4.1, the worst stream.
    pub jitter_ns: Option<f64>,
    /// Retransmitted TCP segments.
    pub retransmits: Option<u64>,
    /// TCP smoothed round-trip time, sampled each interval.
    pub rtt_ns: Option<Quantiles>,
    /// One-way delay, corrected for the clock offset.
    pub delay_ns: Option<Quantiles>,
    /// Uncertainty of that offset.
    pub delay_error_ns: Option<u64>,
    /// What the far clock gained on ours, removed from the delay; 0 if less than the probes show.
    pub clock_drift_ppm: Option<f64>,
    /// The I/O modes of both ends.
    pub mode: Mode,
    /// Gaps between arrivals.
    pub spacing_ns: Option<Spacing>,
    /// Histogram of the gaps: `[upper bound ns, count]`.
    pub spacing_histogram: Vec<(u64, u64)>,
    /// Most payload bytes within any 1 ms at the receiver, one stream.
    pub window_bytes_max: Option<u64>,
    /// The receiving sockets' buffer.
    pub receive_buffer_bytes: Option<ReceiveBuffer>,
    /// Datagrams that the receiving sockets dropped (`SO_RXQ_OVFL`, `SO_MEMINFO`).
    pub socket_drops: Option<u64>,
    /// The kernel counts coalesced datagrams (`UDP_GRO`) as one drop: `socket_drops` is a lower bound.
    pub socket_drops_at_least: bool,
    /// The most that a receiving thread was ready to run and waited for a CPU within 20 ms, or in one longer wait (`run_delay`
    /// of /proc/thread-self/schedstat).
    pub receiver_run_delay_ns_max: Option<u64>,
    /// The share of the test's time that a receiving thread ran, the busiest one's.
    pub receiver_cpu_ratio_max: Option<f64>,
    /// The sender's largest lag behind schedule.
    pub sender_behind_ns_max: Option<u64>,
    /// Datagrams due at the requested rate but not handed to the kernel.
    pub unsent_packets: Option<u64>,
    /// Datagrams that the sender's kernel refused (`ENOBUFS`); not counted as sent.
    pub refused_packets: Option<u64>,
    /// DSCP, requested and on arrival.
    pub dscp: Option<Dscp>,
    /// ECN: what was requested, and what arrived; null where nothing of it is known.
    pub ecn: Option<Ecn>,
    /// Congestion control in use at the sender.
    pub congestion: Option<String>,
    /// TCP MSS in use at the sender.
    pub mss_bytes: Option<u32>,
    /// The MSS with which the control connection stalled, where one with short segments worked: long packets vanish on the
    /// path.
    pub stalled_mss_bytes: Option<u32>,
    /// TCP: the rate at which the sender's congestion control lets it send (`tcpi_pacing_rate`), median of the samples, all
    /// streams.
    pub pacing_bits_per_second: Option<f64>,
    /// TCP: time with something to send, all streams (`tcpi_busy_time`).
    pub busy_time_us: Option<u64>,
    /// Of that, time held back by the receiver's window (`tcpi_rwnd_limited`).
    pub rwnd_limited_us: Option<u64>,
    /// Of that, time held back by the own send buffer (`tcpi_sndbuf_limited`).
    pub sndbuf_limited_us: Option<u64>,
    /// Address of this side.
    pub local_address: Option<String>,
    /// Address of the peer.
    pub remote_address: Option<String>,
    /// Interface of this side.
    pub local_interface: Option<String>,
    /// Interface of the peer.
    pub remote_interface: Option<String>,
    /// The kind of the link.
    pub link_kind: Option<LinkKind>,
    /// CPU load of both ends during the test.
    pub cpu: CpuPair,
    /// CPU time of the threads that sent and received.
    pub stream_cpu: StreamCpu,
    /// One entry per stream.
    pub flows: Vec<Flow>,
    /// One entry per interval, for all streams together.
    pub intervals: Vec<Interval>,
    /// Runs of consecutive losses.
    pub loss_bursts: Vec<LossBurst>,
    /// Counters that increased during the test.
    pub counters: Vec<MovedCounter>,
    /// Whether the numbers may be used.
    pub valid: bool,
    /// Why not.
    pub invalid_reason: Option<String>,
    /// How the numbers can mislead.
    pub warnings: Vec<Warning>,
}

/// The transport.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

/// The direction of the payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// This side sends.
    #[default]
    Up,
    /// This side receives.
    Down,
}

/// `SO_RCVBUF`, requested and granted, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct ReceiveBuffer {
    /// Requested.
    pub asked: Option<u64>,
    /// Granted.
    pub granted: Option<u64>,
}

/// The DSCP, 0…63.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct Dscp {
    /// Requested with `--dscp`.
    pub requested: Option<u8>,
    /// Seen by the receiver.
    pub seen: Option<u8>,
}

/// Explicit congestion notification (RFC 3168) of one test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Ecn {
    /// UDP: the codepoint that `--tos` requested.
    pub requested: Option<Codepoint>,
    /// UDP: how the datagrams arrived, copies included.
    pub arrived: Option<Arrived>,
    /// TCP: whether the connections negotiated it (`TCPI_OPT_ECN`).
    pub negotiated: Option<bool>,
    /// TCP: whether the receiver saw a segment as ECT (`TCPI_OPT_ECN_SEEN`).
    pub ect_seen: Option<bool>,
    /// TCP: segments delivered, all streams (`tcpi_delivered`).
    pub delivered_segments: Option<u64>,
    /// TCP: of these, segments that the receiver reported as marked CE (`tcpi_delivered_ce`).
    pub delivered_ce_segments: Option<u64>,
}

/// A codepoint of the ECN field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    /// 00: the sender does not use ECN.
    NotEct,
    /// 01: ECT(1).
    Ect1,
    /// 10: ECT(0).
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

impl Codepoint {
    /// That of a TOS or traffic class byte.
    #[must_use]
    pub const fn of_tos(tos: u8) -> Self {
        match tos & 0b11 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// Datagrams by the codepoint with which they arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Arrived {
    /// Not-ECT.
    pub not_ect_packets: u64,
    /// ECT(1).
    pub ect1_packets: u64,
    /// ECT(0).
    pub ect0_packets: u64,
    /// CE.
    pub ce_packets: u64,
}

/// How numbers can mislead, and what to try.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Warning {
    /// Stable name.
    pub id: String,
    /// One sentence.
    pub text: String,
    /// What to try.
    #[serde(rename = "try")]
    pub try_: String,
}
