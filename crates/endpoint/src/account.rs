// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exact account that each side keeps of each stream; it travels in the `linerate` key of the
//! results. Base units: packets, payload bytes, nanoseconds.
//!
//! A side fills `tx` of the streams it sends and `rx` of the streams it receives. Against a stock
//! peer the far side's account is rebuilt from the standard result keys, with the rest absent.

use linerate_method::sequence::{LossBurst, SequenceTotals};
use linerate_model::credible::Doubts;
use linerate_model::fields::Fields;
use linerate_model::output::{Arrived, Cpu, IoMode, Quantiles, ThreadTime};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything one side measured in one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct SideAccount {
    /// One entry a stream, in stream order.
    pub streams: Vec<StreamAccount>,
    /// Load of this side's processors over the test; `None` where `/proc/stat` cannot be read.
    pub cpu: Option<Cpu>,
    /// Name of the interface that carries the test on this side.
    pub interface: Option<String>,
    /// The test broke before the results: only intermediate reports are known.
    pub partial: bool,
    /// The server's limit of a stream's socket buffer, if it is less than requested.
    pub buffer_cut_to_bytes: Option<u64>,
    /// Why this far end's figures were discarded.
    #[serde(skip)]
    pub impossible: Option<String>,
    /// Its other impossible reports: counters, and itself.
    #[serde(skip)]
    pub doubts: Doubts,
    /// Discarded messages of this far end, more than its streams and the time allow.
    #[serde(skip)]
    pub unasked_messages: u64,
}

/// One stream as one side saw it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct StreamAccount {
    /// iperf3's stream id: 1, 3, 4, 5 …
    pub id: u32,
    /// Port of this side.
    pub port: Option<u16>,
    /// Its thread may not use the CPU of `-A`.
    pub unpinned: bool,
    /// CPU time of its thread; of a stock peer that of its process, in its first stream.
    pub cpu: Option<ThreadTime>,
    /// Present on the sending side.
    pub tx: Option<TxAccount>,
    /// Present on the receiving side.
    pub rx: Option<RxAccount>,
    /// TCP: `TCP_INFO` of this side at the end, by the kernel's names; of the first streams.
    pub tcp_info: BTreeMap<String, u64>,
}

/// What a sender knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TxAccount {
    /// Datagrams that the kernel accepted after the warm-up (UDP), writes (TCP).
    pub packets: u64,
    /// Payload bytes that the kernel accepted, after the warm-up.
    pub bytes: u64,
    /// Datagrams of the warm-up (`-O`), not in `packets`.
    pub omitted_packets: u64,
    /// From the start signal to the last send.
    pub duration_ns: u64,
    /// Datagrams due at the requested rate that were not handed to the kernel.
    pub unsent_packets: u64,
    /// The largest lag behind the schedule.
    pub behind_ns_max: Option<u64>,
    /// Datagrams that the own qdisc or device refused (`ENOBUFS`); they are not in `packets`.
    pub refused_packets: u64,
    /// How it sent; `None` of a stock peer.
    pub mode: Option<IoMode>,
    /// Datagrams of the declared burst.
    pub burst_packets: Option<u32>,
    /// TCP retransmitted segments, after the warm-up.
    pub retransmits: Option<u64>,
    /// Those of the warm-up.
    pub omitted_retransmits: u64,
    /// TCP smoothed round-trip times, one a sample.
    pub rtt_ns: Option<Quantiles>,
    /// Congestion control in use.
    pub congestion: Option<String>,
    /// The MSS that the kernel uses.
    pub mss_bytes: Option<u32>,
    /// TCP: the rate at which its congestion control let it send, bytes per second, median of the samples
    /// (`tcpi_pacing_rate`).
    pub pacing_bytes_per_second: Option<u64>,
    /// TCP: for how long there was something to send (`tcpi_busy_time`).
    pub busy_ns: Option<u64>,
    /// TCP: for how long of that the peer's window held it back (`tcpi_rwnd_limited`).
    pub rwnd_limited_ns: Option<u64>,
    /// TCP: for how long of that its own send buffer did (`tcpi_sndbuf_limited`).
    pub sndbuf_limited_ns: Option<u64>,
    /// Per interval.
    pub intervals: Vec<TxInterval>,
    /// The system's error that ended it early.
    pub failure: Option<String>,
}

/// One interval of a sender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TxInterval {
    /// Start, after the start signal.
    pub start_ns: u64,
    /// End, after the start signal.
    pub end_ns: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Datagrams.
    pub packets: u64,
    /// TCP: retransmitted segments.
    pub retransmits: Option<u64>,
    /// TCP: congestion window.
    pub cwnd_bytes: Option<u64>,
    /// TCP: smoothed round-trip time.
    pub rtt_ns: Option<u64>,
}

/// What a receiver knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct RxAccount {
    /// Payload bytes of unique datagrams (UDP) or of the stream (TCP), after the warm-up.
    pub bytes: u64,
    /// Unique datagrams after the warm-up.
    pub packets: u64,
    /// UDP from a sender that does not mark its warm-up (`-O`): its highest sequence; not in any other count.
    pub omitted_packets: u64,
    /// Those of them that were missing.
    pub omitted_lost: u64,
    /// The measured time: UDP first to last arrival plus one gap, or the test's duration where losses hide its edges; TCP the
    /// test's duration.
    pub duration_ns: u64,
    /// The sequence account; `None` for TCP.
    pub sequence: Option<SequenceTotals>,
    /// RFC 3550 interarrival jitter, the last value.
    pub jitter_ns: Option<f64>,
    /// Gaps between arrivals.
    pub spacing_ns: Option<Quantiles>,
    /// Histogram of the gaps: upper bound in ns, count.
    pub spacing_histogram: Vec<(u64, u64)>,
    /// The most payload bytes in any 1 ms.
    pub window_bytes_max: Option<u64>,
    /// Transit time quantiles relative to `transit_base_ns`; the clocks' offset is still in it.
    pub transit_ns: Option<Quantiles>,
    /// What to add to `transit_ns`.
    pub transit_base_ns: i64,
    /// The drift of the clocks that is not in `transit_ns`, nanoseconds a second; `None`: it was not removed.
    pub transit_drift_ppb: Option<i64>,
    /// How much of that drift may be left in a quantile.
    pub transit_drift_left_ns: u64,
    /// Datagrams whose stamp does not check.
    pub corrupt_packets: u64,
    /// Datagrams that this socket dropped because its buffer was full (`SO_MEMINFO`, `SO_RXQ_OVFL`).
    pub socket_drops: Option<u64>,
    /// The kernel counts coalesced datagrams (`UDP_GRO`) as one drop: the count is a lower bound.
    pub socket_drops_at_least: bool,
    /// The most that its thread was ready to run and waited for a CPU within 20 ms (`run_delay`, /proc/thread-self/schedstat).
    pub run_delay_ns_max: Option<u64>,
    /// CPU time of its thread, from the first wait for a datagram to the end.
    pub cpu_ns: Option<u64>,
    /// Requested size of the receive buffer.
    pub buffer_asked_bytes: Option<u64>,
    /// Granted size of the receive buffer.
    pub buffer_granted_bytes: Option<u64>,
    /// How it received; `None` of a stock peer.
    pub mode: Option<IoMode>,
    /// The DSCP seen on arrival.
    pub dscp_seen: Option<u8>,
    /// Datagrams by the codepoint of their ECN field, if a TOS was requested.
    pub ecn: Option<Arrived>,
    /// Loss bursts, dated by the arrival that revealed them.
    pub bursts: Vec<LossBurst>,
    /// Bursts beyond those listed.
    pub bursts_dropped: u64,
    /// Per interval; empty in the results of a server, which sent them during the test.
    pub intervals: Vec<RxInterval>,
    /// The system's error that ended it early.
    pub failure: Option<String>,
}

/// One interval of a receiver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct RxInterval {
    /// Start, after the start signal.
    pub start_ns: u64,
    /// End, after the start signal.
    pub end_ns: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Unique datagrams.
    pub packets: u64,
    /// Datagrams missing so far, less those of the intervals before.
    pub lost: i64,
}
