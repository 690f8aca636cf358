// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a packet and a byte cost the processors of each end (`cost`).

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::counters::EventsMissing;
use super::host::Role;
use super::mode::Mode;
use super::test::Protocol;

/// The CPU time of one end for packets of one size, of all tests with them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Cost {
    /// The end.
    pub host: Role,
    /// What it did with the packets.
    pub direction: CostDirection,
    /// Transport.
    pub protocol: Protocol,
    /// 4 or 6.
    pub af: u8,
    /// UDP payload of a datagram, TCP payload of a full segment.
    pub payload_bytes: u32,
    /// The tests.
    pub test_ids: Vec<String>,
    /// The I/O modes of both ends.
    pub mode: Mode,
    /// Packets per second that the tests asked for; `null`: unlimited.
    pub requested_pps: Option<f64>,
    /// Packets that the end sent, or received: datagrams, or segments of the MSS.
    pub packets: u64,
    /// Whose time `cpu_ns_per_packet` is.
    pub basis: CostBasis,
    /// CPU time per packet.
    pub cpu_ns_per_packet: f64,
    /// CPU time per 1024 bytes of payload.
    pub cpu_ns_per_kib: f64,
    /// Of all packets, in user mode.
    pub user_ns: f64,
    /// Of all packets, in the kernel for a program. Where `basis` is not `machine`, the softirqs that ran meanwhile are in it.
    pub system_ns: f64,
    /// Of all packets, in softirqs, of the whole machine.
    pub softirq_ns: Option<f64>,
    /// Of all packets, in hard interrupts, of the whole machine.
    pub irq_ns: Option<f64>,
    /// CPU time of the threads that sent or received, per packet: exact.
    pub stream_ns_per_packet: Option<f64>,
    /// CPU time of the whole machine without its background, per packet.
    pub machine_ns_per_packet: Option<f64>,
    /// Where both ends are this machine: its time without that of both ends' threads, per packet. Softirqs and interrupts
    /// of no thread, and the threads that control a test: both ends share it. Less than 0 within `resolution_ns`.
    pub shared_ns_per_packet: Option<f64>,
    /// By how much the machine's time per packet may be wrong, because `/proc/stat` counts ticks.
    pub resolution_ns: Option<f64>,
    /// The share of all CPU time that the machine used before the load.
    pub background_ratio: Option<f64>,
    /// The share of all CPU time that a hypervisor took for itself or others during the tests (`steal` in `/proc/stat`).
    pub stolen_ratio: Option<f64>,
    /// Processor cycles per packet, of the threads that sent or received.
    pub cycles_per_packet: Option<f64>,
    /// Instructions per packet, likewise.
    pub instructions_per_packet: Option<f64>,
    /// Cache misses per packet, likewise.
    pub cache_misses_per_packet: Option<f64>,
    /// Why these three are not known.
    pub events_missing: Option<EventsMissing>,
    /// Both ends are this machine: machine-wide times are of both.
    pub shared_host: bool,
    /// The processors whose time increased with the load, busiest first.
    pub processors: Vec<CostProcessor>,
}

/// What an end does with packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostDirection {
    /// It sends them.
    #[default]
    Tx,
    /// It receives them.
    Rx,
}

/// Whose CPU time is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostBasis {
    /// The whole machine's, without its background (`/proc/stat`).
    Machine,
    /// The threads' that sent or received (`CLOCK_THREAD_CPUTIME_ID`).
    #[default]
    Streams,
    /// A stock peer's process, as it reports it.
    Process,
}

/// One processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct CostProcessor {
    /// Its number.
    pub cpu: u32,
    /// Busy time per packet, without background.
    pub ns_per_packet: f64,
    /// Of its busy time, the share in softirqs.
    pub softirq_ratio: f64,
}

/// Time as a line over the payload: `ns = ns_per_packet + ns_per_byte × bytes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CostFit {
    /// The end.
    pub host: Role,
    /// What it did with the packets.
    pub direction: CostDirection,
    /// Transport.
    pub protocol: Protocol,
    /// 4 or 6.
    pub af: u8,
    /// Whose time it is.
    pub basis: CostBasis,
    /// Tests that the line was fitted to.
    pub tests: u32,
    /// Of each packet, whatever its size.
    pub ns_per_packet: Estimate,
    /// Of each byte of payload.
    pub ns_per_byte: Estimate,
    /// Standard deviation of the measured times from the line, as a share of the line.
    pub residual_ratio: f64,
    /// The largest payload.
    pub largest_payload_bytes: u32,
    /// The share of `ns_per_packet` in the time of a packet of that payload.
    pub packet_share: Estimate,
    /// What the time of such a packet depends on.
    pub bound: Bound,
}

/// Where the processors of a host were during a test, by what the kernel's functions do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CostProfile {
    /// The host whose processors were sampled.
    pub host: Role,
    /// What it did with the packets; on one machine it did both.
    pub direction: CostDirection,
    /// Transport.
    pub protocol: Protocol,
    /// 4 or 6.
    pub af: u8,
    /// UDP payload of a datagram, TCP payload of a full segment.
    pub payload_bytes: u32,
    /// The test, which is not part of `costs`.
    pub test_ids: Vec<String>,
    /// Both ends are this machine: the samples are of both.
    pub shared_host: bool,
    /// How often a second each processor was sampled.
    pub hz: u64,
    /// The processors that carried the packets.
    pub processors: Vec<u32>,
    /// Samples of these processors that were not idle.
    pub samples: u64,
    /// Of these processors, samples that were idle.
    pub idle_samples: u64,
    /// Samples that the ring had no room for, of all processors.
    pub lost_samples: u64,
    /// By what the function does, the largest first.
    pub families: Vec<CostShare>,
    /// By context: `process`, `softirq`, `hardirq`, `user`.
    pub contexts: Vec<CostShare>,
    /// The largest functions that are of no family.
    pub others: Vec<CostFunction>,
    /// Why there are no samples.
    pub missing: Option<SamplingMissing>,
}

/// A part of the samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CostShare {
    /// What it is.
    pub name: String,
    /// Samples of it.
    pub samples: u64,
    /// Their share of all.
    pub ratio: Estimate,
}

/// A function of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CostFunction {
    /// Its name.
    pub function: String,
    /// The module that has it; `null`: the kernel's image.
    pub module: Option<String>,
    /// Samples of it.
    pub samples: u64,
}

/// Why processors were not sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SamplingMissing {
    /// `kernel.perf_event_paranoid`, or the container, does not allow it.
    NotAllowed,
    /// The kernel has no perf_event_open(2).
    NoPerf,
    /// The kernel shows no addresses of its functions (`kernel.kptr_restrict`).
    NoSymbols,
    /// Not known to this version.
    #[serde(other)]
    Unknown,
}

/// A value and its two-sided 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The interval.
    pub ci95: [f64; 2],
}

/// What the time of a full-size packet depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// More than half of it is per packet.
    Packets,
    /// More than half of it is per byte.
    Bytes,
    /// The interval has both, or no line describes the times.
    #[default]
    Neither,
}
