// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of one test, and its events while it runs.

use std::net::SocketAddr;

use linerate_model::failure::Failure;
use linerate_model::output::{Direction, Host, Interval, Latency, Phase, Test};
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;

/// Everything that one test measured.
#[derive(Debug, Clone, Default)]
pub struct TestOutcome {
    /// One entry a direction.
    pub tests: Vec<Test>,
    /// Round trips probed during the load.
    pub latency: Vec<Latency>,
    /// Both ends, local first.
    pub hosts: Vec<Host>,
    /// It ended early.
    pub partial: bool,
    /// What ended it early, other than the user; what was measured until then stands.
    pub error: Option<Failure>,
    /// Who answered.
    pub peer: Peer,
    /// The server's own report, if asked for.
    pub server_output: Option<String>,
}

/// Who answered at the other end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Peer {
    /// A linerate server, with its version.
    Linerate {
        /// Its version.
        version: String,
    },
    /// A stock iperf3 or iperf2 server: the far end's counters are unknown.
    #[default]
    Stock,
}

/// Receives the events of a test; never in the data path.
pub trait Observer {
    /// Takes note of one event, in order.
    fn observe(&mut self, event: &Event<'_>);
}

/// What happens during a test.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The server answered.
    Connected {
        /// Who it is.
        peer: &'a Peer,
        /// Where it is.
        address: SocketAddr,
    },
    /// A stream is connected.
    Stream {
        /// iperf3's stream id.
        id: u32,
        /// This end.
        local: SocketAddr,
        /// The other end.
        remote: SocketAddr,
    },
    /// The streams stand and the clock runs.
    Started,
    /// An interval of one direction ended.
    Interval {
        /// Which direction.
        direction: Direction,
        /// What was measured in it.
        interval: &'a Interval,
    },
    /// The part of one stream in an interval, where there are several.
    StreamInterval {
        /// iperf3's stream id.
        id: u32,
        /// Which direction.
        direction: Direction,
        /// What was measured in it.
        interval: &'a Interval,
    },
    /// Payload that this end has sent (`Up`) or received (`Down`) since the start, several times before the first interval
    /// ends.
    SoFar {
        /// Which direction.
        direction: Direction,
        /// Bytes, the warm-up's included.
        bytes: u64,
        /// Since the start.
        elapsed_ns: u64,
    },
    /// Raw counters of one host, a sample a source: at rest before the load where the plan wants it,
    /// then at both ends of the test and once a second.
    Samples(&'a [Sample]),
    /// Settings of one host, one per source; once, if the plan requests them.
    Settings(&'a [Setting]),
    /// The state of one host after the test, if it is not the one that the plan knows.
    State(&'a [Setting]),
    /// The probe's round-trip times during one load.
    Latency {
        /// During which load.
        phase: Phase,
        /// The occupied buckets: upper bound in ns, count.
        buckets: &'a [(u64, u64)],
        /// When answered (`CLOCK_MONOTONIC`), and the time it took; of many the slowest of each stretch.
        over_time: &'a [(u64, u64)],
    },
    /// The user requested a stop: packets in flight are awaited, unless it is requested again.
    Stopping,
    /// Something that `-v` shows: a fallback taken, an option refused.
    Note(&'a str),
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn observe(&mut self, _: &Event<'_>) {}
}
