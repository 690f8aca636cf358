// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to measure and what to serve, in base units. A plan cannot hold what the command line
//! refuses: its fields are in range when it is made.

use crate::stream_config::StreamConfig;
use linerate_model::output::{IoMode, Protocol};
use linerate_wire::iperf3::PORT;
use linerate_wire::linerate::token::Secret;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// One test: one or two directions of one protocol between two hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct TestPlan {
    /// Name of the test in the results; unique within a run.
    pub name: String,
    /// Tests that belong together (the two directions of a bidirectional test).
    pub group: String,
    /// Name or address of the server.
    pub host: String,
    /// Port of the server, TCP and UDP.
    pub port: u16,
    /// Which addresses of `host` may be used.
    pub family: Family,
    /// What carries the data.
    pub protocol: Protocol,
    /// Who sends.
    pub direction: Direction,
    /// Streams per direction: 1 … 128.
    pub streams: u16,
    /// Length of the measured part. It ends the test unless `bytes` or `blocks` is set.
    pub duration_ms: u64,
    /// Ends the test after this many payload bytes.
    pub bytes: Option<u64>,
    /// Ends the test after this many writes or datagrams.
    pub blocks: Option<u64>,
    /// Warm-up before the measured part.
    pub omit_ms: u64,
    /// Length of the reported intervals; 0 = none.
    pub interval_ms: u64,
    /// UDP payload, or TCP write size. `None`: UDP the control connection's MSS, TCP 128 KiB.
    pub payload_bytes: Option<u32>,
    /// Payload rate of each stream; `None` is unlimited.
    pub bits_per_second: Option<u64>,
    /// Datagrams sent back to back; `None` = 200 µs of line time, 8 … 128.
    pub burst: Option<u32>,
    /// Requested socket buffers at both ends; `None` = 4 MiB for UDP, the kernel's choice for TCP.
    pub window_bytes: Option<u32>,
    /// Rate at which the kernel paces each stream (`SO_MAX_PACING_RATE`).
    pub fq_bits_per_second: Option<u64>,
    /// TCP maximum segment size.
    pub mss: Option<u32>,
    /// TCP congestion control.
    pub congestion: Option<String>,
    /// `TCP_NODELAY`.
    pub nodelay: bool,
    /// Differentiated services code point, 0 … 63. Exclusive with `tos`.
    pub dscp: Option<u8>,
    /// The whole TOS octet or traffic class. Exclusive with `dscp`.
    pub tos: Option<u8>,
    /// First local port of the data streams.
    pub client_port: Option<u16>,
    /// CPU of this side, and of the server.
    pub affinity: Option<(u32, Option<u32>)>,
    /// Local interface to bind to.
    pub bind_device: Option<String>,
    /// Local address to bind to.
    pub bind_address: Option<IpAddr>,
    /// 64-bit sequence numbers in stock UDP datagrams.
    pub counters_64bit: bool,
    /// Forbid fragmentation of IPv4 datagrams.
    pub dont_fragment: bool,
    /// How the sender sends.
    pub tx_mode: IoMode,
    /// How the receiver receives.
    pub rx_mode: IoMode,
    /// Idle time before the load, in which both ends only read their counters.
    pub control_ms: u64,
    /// Read the settings of both ends.
    pub settings: bool,
    /// Read the state of both ends again after the test, and report it where it is not the one that is known.
    pub state: Option<KnownState>,
    /// Probe the latency during the load.
    pub probe: bool,
    /// The test shows what packets cost: threads count hardware events, and a paced sender sleeps without spinning.
    pub for_cost: bool,
    /// A trial of a search: a sender that falls short is a result, not a fault.
    pub trial: bool,
    /// Free text for the results.
    pub title: Option<String>,
    /// Ask the server for its own report.
    pub server_output: bool,
    /// How long to wait for the server to answer.
    pub connect_timeout_ms: u64,
    /// Ends a test in which nothing arrives for this time, where this side receives; `None`: by heartbeats alone.
    pub receive_timeout_ms: Option<u64>,
    /// Ends a TCP stream whose data is not acknowledged for this time; `None`: 10 s.
    pub send_timeout_ms: Option<u64>,
    /// `host` is an iperf2 server: it has no control connection.
    pub iperf2: bool,
    /// Gives access to all counters and settings of the server's host.
    pub token: Option<Secret>,
    /// What tests of the same run learnt of the path.
    pub path: PathNotes,
}

/// The state of both ends that earlier tests of a run have read: [`linerate_model::state::StateVector::digest`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownState {
    /// Of this host; 0 if none was read.
    pub local: u64,
    /// Of the server's.
    pub remote: u64,
}

/// What tests have learnt of the path to a server. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct PathNotes {
    /// The MSS with which a control connection stalled; 0 where none did.
    stalled_mss: Arc<AtomicU32>,
    /// Whether the server has accepted a connection.
    answered: Arc<AtomicBool>,
}

impl PathNotes {
    /// Whether the server has accepted a connection in this run.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Notes that it has.
    pub fn note_answer(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// The MSS with which a control connection stalled: the next one is to use short segments.
    #[must_use]
    pub fn stalled_mss_bytes(&self) -> Option<u32> {
        Some(self.stalled_mss.load(Ordering::Relaxed)).filter(|mss| *mss > 0)
    }

    /// Notes it, or that it was not the length of the segments.
    pub fn note_stalled_mss(&self, mss_bytes: Option<u32>) {
        self.stalled_mss
            .store(mss_bytes.unwrap_or(0), Ordering::Relaxed);
    }
}

/// Plans for the same test are equal, whatever was learnt meanwhile.
impl PartialEq for PathNotes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl TestPlan {
    /// iperf3's id of the only stream in a direction; `None` where there are several.
    #[must_use]
    pub fn only_stream(&self, goes_down: bool) -> Option<u32> {
        let second = goes_down && self.direction == Direction::Both;
        (self.streams == 1).then(|| StreamConfig::id(u32::from(second)))
    }

    /// One TCP stream up for 10 s: the defaults of iperf3.
    pub fn tcp(host: impl Into<String>) -> Self {
        Self {
            name: "tcp".into(),
            group: "tcp".into(),
            host: host.into(),
            port: PORT,
            family: Family::Any,
            protocol: Protocol::Tcp,
            direction: Direction::Up,
            streams: 1,
            duration_ms: 10_000,
            bytes: None,
            blocks: None,
            omit_ms: 0,
            interval_ms: 1_000,
            payload_bytes: None,
            bits_per_second: None,
            burst: None,
            window_bytes: None,
            fq_bits_per_second: None,
            mss: None,
            congestion: None,
            nodelay: false,
            dscp: None,
            tos: None,
            client_port: None,
            affinity: None,
            bind_device: None,
            bind_address: None,
            counters_64bit: true,
            dont_fragment: false,
            tx_mode: IoMode::Auto,
            rx_mode: IoMode::Auto,
            control_ms: 0,
            settings: false,
            state: None,
            probe: true,
            for_cost: false,
            trial: false,
            title: None,
            server_output: false,
            connect_timeout_ms: 5_000,
            receive_timeout_ms: None,
            send_timeout_ms: None,
            iperf2: false,
            token: None,
            path: PathNotes::default(),
        }
    }

    /// One UDP stream up at 1.048576 Mbit/s for 10 s: the defaults of iperf3.
    pub fn udp(host: impl Into<String>) -> Self {
        Self {
            name: "udp".into(),
            group: "udp".into(),
            protocol: Protocol::Udp,
            bits_per_second: Some(UDP_DEFAULT_BITS_PER_SECOND),
            ..Self::tcp(host)
        }
    }
}

/// Which addresses may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Family {
    /// Whatever the name resolves to, in the resolver's order.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// Who sends; "up" is from this side to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// This side sends.
    Up,
    /// The server sends (`-R`).
    Down,
    /// Both send at once (`--bidir`).
    Both,
}

/// What a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeOptions {
    /// TCP and UDP port.
    pub port: u16,
    /// Local address; `None` = all.
    pub bind: Option<IpAddr>,
    /// Local interface; `None` = all.
    pub bind_device: Option<String>,
    /// IPv4, IPv6 or both.
    pub family: Family,
    /// End after one test.
    pub one_off: bool,
    /// Highest total rate of a test.
    pub max_bits_per_second: Option<u64>,
    /// Longest test, warm-up included.
    pub max_duration_s: Option<u64>,
    /// Most streams of one test, both directions together.
    pub max_streams: u16,
    /// Most tests at once.
    pub max_tests: u16,
    /// End after this time without a test.
    pub idle_timeout_s: Option<u64>,
    /// Do not log a line per test.
    pub quiet: bool,
    /// Log to this file instead of stderr.
    pub log_file: Option<PathBuf>,
    /// Serve iperf2's clients instead of iperf3's and ours.
    pub iperf2: bool,
    /// Answers HTTP requests for its metrics here.
    pub metrics: Option<SocketAddr>,
    /// Gives clients access to all counters and settings of this host.
    pub token: Option<Secret>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            port: PORT,
            bind: None,
            bind_device: None,
            family: Family::Any,
            one_off: false,
            max_bits_per_second: None,
            max_duration_s: None,
            max_streams: 256,
            max_tests: 16,
            idle_timeout_s: None,
            quiet: false,
            log_file: None,
            iperf2: false,
            metrics: None,
            token: None,
        }
    }
}

/// iperf2's port.
pub const IPERF2_PORT: u16 = 5001;
/// iperf3's default for UDP, 1024 × 1024 bit/s: what it calls 1 Mbit/s.
pub const UDP_DEFAULT_BITS_PER_SECOND: u64 = 1_048_576;
