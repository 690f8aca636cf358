// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `--json` document, schema `linerate.output/1`.
//!
//! The names are a contract: add, never rename. Base units, numbers as numbers, `null` for
//! unknown. Rates are payload bits a second (L4 goodput) unless a name says otherwise; `delivered`
//! is the receiver's count. `docs/json.md` describes every name.

use serde::{Deserialize, Serialize};

/// The schema that this version writes.
pub const SCHEMA: &str = "linerate.output/1";

/// One document, printed by every command with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    /// [`SCHEMA`].
    pub schema: String,
    /// The command: `check`, `tcp`, `udp`, `sweep` …
    pub kind: String,
    /// The process's exit code.
    pub exit_code: u8,
    /// Which program wrote this.
    pub tool: Tool,
    /// The command line.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// False when the wall clock was never set (before 2020).
    pub clock_trusted: bool,
    /// Wall time of the whole command, seconds.
    pub duration_s: f64,
    /// The command ended before its plan.
    pub partial: bool,
    /// Where the run is stored.
    pub run_dir: Option<String>,
    /// Local first.
    pub hosts: Vec<Host>,
    /// Every direction of every test.
    pub tests: Vec<Test>,
    /// Latency, by phase.
    pub latency: Vec<Latency>,
    /// One a direction (`check`).
    pub verdicts: Vec<Verdict>,
    /// Highest rates without loss.
    pub knees: Vec<Knee>,
    /// Where packets were lost.
    pub ledger: Vec<LedgerEntry>,
    /// Causes.
    pub findings: Vec<Finding>,
    /// Rules without their evidence.
    pub cannot_tell: Vec<CannotTell>,
    /// What `--expect` asked.
    pub expectations: Vec<Expectation>,
    /// What went wrong; `null` on success.
    pub error: Option<ErrorReport>,
}

/// The program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// Semantic version.
    pub version: String,
}

/// Which end of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Where the command ran.
    #[default]
    Local,
    /// The peer.
    Remote,
    /// A device between two ports.
    Device,
}

/// A machine as it described itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Which end.
    pub role: Role,
    /// `uname -n`.
    pub hostname: Option<String>,
    /// `/proc/sys/kernel/random/boot_id`: equal on both ends means one machine.
    pub boot_id: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// `uname -m`.
    pub arch: Option<String>,
    /// `/proc/cpuinfo`.
    pub cpu_model: Option<String>,
    /// Processors online.
    pub cpus: Option<u32>,
    /// The interfaces that carry the tests.
    pub interfaces: Vec<Interface>,
    /// Whether a linerate ran there (else a stock peer).
    pub agent: bool,
}

/// One network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Negotiated speed; `null` for virtual links.
    pub link_bits_per_second: Option<u64>,
    /// MTU.
    pub mtu: Option<u32>,
    /// A wire, or something that only looks like one.
    pub link_kind: Option<LinkKind>,
}

/// What carries the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// A real interface.
    Wire,
    /// A virtual Ethernet pair.
    Veth,
    /// A TUN/TAP device.
    Tap,
    /// The loopback.
    Loopback,
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

/// Which way the payload goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// This side sends.
    #[default]
    Up,
    /// This side receives.
    Down,
}

/// One direction of one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Test {
    /// Unique in the document.
    pub id: String,
    /// What a person calls it.
    pub name: String,
    /// Entries of one bidirectional test share it.
    pub group: String,
    /// Transport.
    pub protocol: Protocol,
    /// 4 or 6.
    pub af: u8,
    /// Which way.
    pub direction: Direction,
    /// Parallel streams in this direction.
    pub streams: u32,
    /// UDP payload, or TCP write size.
    pub payload_bytes: u32,
    /// Measured time, seconds.
    pub duration_s: f64,
    /// The asked payload rate of all streams.
    pub requested_bits_per_second: Option<f64>,
    /// What the sender handed to its kernel.
    pub offered_bits_per_second: Option<f64>,
    /// What the receiver got.
    pub delivered_bits_per_second: Option<f64>,
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
    /// Too late to be told from duplicates; they stand among the lost.
    pub late_packets: Option<u64>,
    /// Stamp does not check.
    pub corrupt_packets: Option<u64>,
    /// `lost / sent`.
    pub loss_ratio: Option<f64>,
    /// One-sided 95 % Clopper–Pearson bound of the loss ratio.
    pub loss_ratio_upper95: Option<f64>,
    /// RFC 3550 §6.4.1, the worst stream.
    pub jitter_ns: Option<f64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// TCP smoothed round-trip time, sampled each interval.
    pub rtt_ns: Option<Quantiles>,
    /// One-way delay, clocks' offset removed.
    pub delay_ns: Option<Quantiles>,
    /// Uncertainty of that offset.
    pub delay_error_ns: Option<u64>,
    /// How both sides moved the bytes.
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
    /// The sender's largest lag behind its schedule.
    pub sender_behind_ns_max: Option<u64>,
    /// Datagrams that the asked rate called for and that were never handed to the kernel.
    pub unsent_packets: Option<u64>,
    /// Datagrams that the sender's own kernel refused (`ENOBUFS`); not among the sent.
    pub refused_packets: Option<u64>,
    /// DSCP asked and seen on arrival.
    pub dscp: Option<Dscp>,
    /// Congestion control in use at the sender.
    pub congestion: Option<String>,
    /// TCP MSS in use at the sender.
    pub mss_bytes: Option<u32>,
    /// Interface of this side.
    pub local_interface: Option<String>,
    /// Interface of the peer.
    pub remote_interface: Option<String>,
    /// What carries it.
    pub link_kind: Option<LinkKind>,
    /// Load of the processors of both ends during the test.
    pub cpu: CpuPair,
    /// One a stream.
    pub flows: Vec<Flow>,
    /// One an interval, all streams together.
    pub intervals: Vec<Interval>,
    /// Losses in runs, each dated.
    pub loss_bursts: Vec<LossBurst>,
    /// Counters that moved during the test.
    pub counters: Vec<MovedCounter>,
    /// Whether the numbers may be used.
    pub valid: bool,
    /// Why not.
    pub invalid_reason: Option<String>,
    /// In which ways they can mislead.
    pub warnings: Vec<Warning>,
}

/// How bytes were moved: `plain`, `mmsg`, `gso`, `gro`, `copy`, `zerocopy`, `sendfile`, `trunc`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mode {
    /// Sender.
    pub tx: Option<String>,
    /// Receiver.
    pub rx: Option<String>,
    /// Datagrams of the declared burst.
    pub burst: Option<u32>,
}

/// Gaps between arrivals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spacing {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// A distribution in five numbers, nanoseconds (a one-way delay may be negative within its error).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quantiles {
    /// Smallest.
    pub min: i64,
    /// Median.
    pub p50: i64,
    /// 99th percentile.
    pub p99: i64,
    /// 99.9th percentile.
    pub p999: i64,
    /// Largest.
    pub max: i64,
}

/// `SO_RCVBUF` as asked and as granted, bytes of payload accounting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReceiveBuffer {
    /// Asked.
    pub asked: Option<u64>,
    /// Granted.
    pub granted: Option<u64>,
}

/// The DSCP, 0…63.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dscp {
    /// Asked with `--dscp`.
    pub requested: Option<u8>,
    /// Seen by the receiver.
    pub seen: Option<u8>,
}

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

/// One stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flow {
    /// iperf3's stream id.
    pub id: u32,
    /// Port of this side.
    pub local_port: Option<u16>,
    /// Port of the peer.
    pub remote_port: Option<u16>,
    /// Receiver's rate.
    pub delivered_bits_per_second: Option<f64>,
    /// Datagrams lost.
    pub lost_packets: Option<u64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
}

/// One interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interval {
    /// After the start of the test.
    pub start_s: f64,
    /// After the start of the test.
    pub end_s: f64,
    /// Sender's rate.
    pub sent_bits_per_second: Option<f64>,
    /// Receiver's rate.
    pub received_bits_per_second: Option<f64>,
    /// Datagrams sent.
    pub sent_packets: Option<u64>,
    /// Datagrams missed (negative when earlier gaps were filled).
    pub lost_packets: Option<i64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// TCP congestion window, all streams.
    pub cwnd_bytes: Option<u64>,
    /// TCP smoothed round-trip time, the largest.
    pub rtt_ns: Option<u64>,
}

/// A run of consecutive lost datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LossBurst {
    /// Stream id.
    pub flow: u32,
    /// When the gap was revealed, after the start of the test.
    pub at_s: f64,
    /// First lost sequence, from 1.
    pub first_sequence: u64,
    /// Datagrams.
    pub packets: u64,
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

/// A way in which a number can mislead, and what to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Warning {
    /// Stable name.
    pub id: String,
    /// One sentence.
    pub text: String,
    /// What to try.
    #[serde(rename = "try")]
    pub try_: String,
}

/// What runs beside the latency probe.
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// Beside which load.
    pub phase: Phase,
    /// `udp-probe` (ours, to a linerate) or `icmp-echo` (to the host of a stock server).
    pub method: String,
    /// Distribution; `null` when nothing came back.
    pub rtt_ns: Option<Quantiles>,
    /// Probes sent.
    pub sent: u64,
    /// Probes without an answer.
    pub lost: u64,
}

/// What limits a direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The sender could not offer more.
    Sender,
    /// A processor of the receiver is full.
    ReceiverCpu,
    /// The receiving socket's buffer overflows.
    ReceiverSocket,
    /// Something between.
    Path,
    /// The link's own rate.
    Link,
    /// Not known.
    #[default]
    Unknown,
}

/// The answer of `check`, one a direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// Which way.
    pub direction: Direction,
    /// The best payload rate that was measured.
    pub achieved_bits_per_second: f64,
    /// What the link's speed and framing allow for that payload.
    pub line_rate_bits_per_second: Option<f64>,
    /// Who holds it back.
    pub limit: Limit,
}

/// The highest rate without loss, with its bracket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Knee {
    /// The trials.
    pub test_ids: Vec<String>,
    /// Which way.
    pub direction: Direction,
    /// UDP payload.
    pub payload_bytes: u32,
    /// Highest rate that met the goal.
    pub lossless_bits_per_second: Option<f64>,
    /// Lowest confirmed rate that did not.
    pub lossy_bits_per_second: Option<f64>,
    /// The same in datagrams.
    pub lossless_pps: Option<f64>,
    /// The same in datagrams.
    pub lossy_pps: Option<f64>,
    /// What counts as without loss.
    pub goal_loss_ratio: f64,
    /// What ended the search: `loss`, `sender`, `range`, `trials`.
    pub limited_by: String,
    /// How many trials.
    pub trials: u32,
}

/// One test's losses by stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerEntry {
    /// Of which test.
    pub test_id: String,
    /// `datagrams`, `segments` or `frames`.
    pub unit: String,
    /// To be explained.
    pub lost_packets: u64,
    /// Explained.
    pub stages: Vec<Stage>,
    /// Not explained, at least.
    pub unattributed_lo: i64,
    /// Not explained, at most.
    pub unattributed_hi: i64,
    /// Stages without a readable counter.
    pub blind: Vec<String>,
}

/// A stage's share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stage {
    /// `tx-app` … `rx-app`.
    pub stage: String,
    /// On which end.
    pub host: Role,
    /// At which interface.
    pub interface: Option<String>,
    /// At least.
    pub lo: u64,
    /// At most.
    pub hi: u64,
    /// `exact`, `shared` or `balance`.
    pub kind: String,
    /// What says so.
    pub evidence: Vec<Evidence>,
}

/// One fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Its name.
    pub fact: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Where it was read.
    pub source: String,
}

/// A cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The cause's stable name.
    pub cause: String,
    /// One sentence.
    pub title: String,
    /// `proven`, `consistent` or `weak`.
    pub strength: String,
    /// On which end.
    pub host: Role,
    /// In which tests.
    pub test_ids: Vec<String>,
    /// What it accounts for.
    pub explains: Explains,
    /// The facts.
    pub evidence: Vec<Evidence>,
    /// What to do; `null` for informational ones.
    pub change: Option<Change>,
    /// How to see that it helped.
    pub verify: String,
    /// Why it is so.
    pub why: String,
    /// Who says so.
    pub source: String,
}

/// What a finding accounts for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explains {
    /// Lost packets.
    pub lost_packets: Option<u64>,
    /// Lost rate.
    pub bits_per_second: Option<f64>,
}

/// A change as commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// What to run.
    pub commands: Vec<String>,
    /// How to go back.
    pub undo: Vec<String>,
    /// What can go wrong.
    pub risk: String,
}

/// A rule that lacks evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CannotTell {
    /// The rule.
    pub rule: String,
    /// What to read.
    pub missing: Vec<String>,
}

/// What `--expect` asked, and whether it was met.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expectation {
    /// As typed.
    pub expression: String,
    /// The answer.
    pub met: bool,
}

/// An error for machines; the same three sentences that a person reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorReport {
    /// What failed, on what.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to try.
    #[serde(rename = "try")]
    pub try_: String,
}

impl Output {
    /// An empty document of a command.
    #[must_use]
    pub fn new(kind: &str, version: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            kind: kind.to_owned(),
            tool: Tool {
                version: version.to_owned(),
            },
            ..Self::default()
        }
    }
}
