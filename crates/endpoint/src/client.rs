// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client: one test against a linerate or a stock iperf3 server.

mod closing;
mod conversation;
mod ending;
mod explain;
mod live;
mod peer_reports;
mod request;
mod running;
mod sampling;
mod streams;

use super::account::SideAccount;
use super::control::Control;
use super::heartbeat::Heartbeat;
use super::probe::Prober;
use super::sampler::{Audience, Sampler, UdpSockets};
use super::stream_config::StreamConfig;
use super::streams::Streams;
use super::token::ClientAuth;
use super::{Direction, Event, Observer, Peer, TestOutcome, TestPlan, connect};
use explain::{Again, Ended};
use linerate_linux::clock::monotonic_ns;
use linerate_linux::signal::Interrupt;
use linerate_linux::{random, tcp};
use linerate_method::clock_offset::ClockOffset;
use linerate_model::failure::Failure;
use linerate_model::output::Host;
use linerate_wire::iperf3::client::{ClientEvent, ClientSession};
use linerate_wire::iperf3::cookie::Cookie;
use live::Live;
use peer_reports::PeerReports;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// Runs `plan`; without `load` only the latency probe.
pub(super) fn run(
    plan: &TestPlan,
    load: bool,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    plan.affinity.map_or(Ok(()), |(cpu, _)| may_run_on(cpu))?;
    let mut last = None;
    for _ in 0..BUSY_TRIES {
        let opened = Client::open(plan, load, observer, interrupt);
        let ended = match opened.map_err(Ended::from).and_then(Client::run_test) {
            Ok(outcome) => return Ok(outcome),
            Err(ended) => ended,
        };
        match ended.again {
            Again::No if plan.path.stalled_mss_bytes().is_some() => {
                plan.path.note_stalled_mss(None);
                return Err(last.unwrap_or(ended.failure));
            }
            Again::No => return Err(ended.failure),
            Again::WithShortSegments { mss_bytes } => plan.path.note_stalled_mss(Some(mss_bytes)),
            Again::Later => pause(),
        }
        last = Some(ended.failure);
    }
    Err(last.unwrap_or_else(|| Failure::measuring("measure", "the server is busy")))
}

fn pause() {
    linerate_linux::clock::sleep_until_ns(monotonic_ns() + BUSY_PAUSE_NS, 0);
}

/// Refuses a CPU that this process may not use: a failed pin would go unnoticed.
pub(super) fn may_run_on(cpu: u32) -> Result<(), Failure> {
    let allowed = linerate_linux::cpu::allowed();
    if allowed.contains(&(cpu as usize)) {
        return Ok(());
    }
    let numbers: Vec<_> = allowed.iter().map(ToString::to_string).collect();
    Err(Failure::measuring(
        format!("run on CPU {cpu}"),
        "this host has no such CPU, or this process may not use it",
    )
    .hint(format!("-A with one of {}", numbers.join(", "))))
}

struct Client<'a> {
    plan: &'a TestPlan,
    load: bool,
    observer: &'a mut dyn Observer,
    interrupt: &'a Interrupt,
    server: SocketAddr,
    cookie: Cookie,
    control: Control<ClientSession>,
    config: StreamConfig,
    streams: Streams,
    sampler: Sampler,
    prober: Option<Prober>,
    remote: Option<Remote>,
    auth: ClientAuth,
    heart: Heartbeat,
    sent_by_peer: HashMap<u32, u64>,
    /// The server's, once the load is over.
    clock: Option<ClockOffset>,
    reports: PeerReports,
    live: Live,
    own: SideAccount,
    opened_ns: u64,
    start_ns: u64,
    /// Bytes and datagrams received when the warm-up ended; `None` until then.
    omitted: Option<(u64, u64)>,
    running: bool,
    exchange: bool,
    server_is_done: bool,
    server_output: Option<String>,
}

/// A linerate server, as its hello describes it.
struct Remote {
    version: String,
    host: Host,
    beats: bool,
}

impl<'a> Client<'a> {
    fn open(
        plan: &'a TestPlan,
        load: bool,
        observer: &'a mut dyn Observer,
        interrupt: &'a Interrupt,
    ) -> Result<Self, Failure> {
        let (connected, server) = connect::control(plan, interrupt)?;
        let stream = connected.stream;
        let mut random = [0; 23];
        random::fill(&mut random).map_err(|error| Failure::measuring("get random bytes", error))?;
        let cookie = Cookie::from_random(&random);
        let auth = ClientAuth::begin(plan.token.as_ref(), &cookie)
            .map_err(|error| Failure::measuring("get random bytes", error))?;
        let mss = match plan.path.stalled_mss_bytes() {
            Some(mss) => mss,
            None => tcp::mss_bytes(&stream).unwrap_or(DEFAULT_MSS),
        };
        let mss = mss.clamp(64, 65_000);
        let config = StreamConfig::of_plan(plan, false, mss);
        let sockets = UdpSockets::ConnectedTo(server.port());
        let local = stream.local_addr().ok();
        let mut session = ClientSession::new(
            &cookie,
            request::params(plan, &config, load, auth.nonce()),
            request::timeouts(plan),
            monotonic_ns(),
        );
        session.limit_results(request::results_bytes(plan, &config));
        let control = Control::new(stream, session)
            .map_err(|error| Failure::measuring("use the control connection", error))?;
        let mut sampler = Sampler::of(local, server, sockets, Audience::User);
        sampler.watch_state(plan.state.map(|known| known.local));
        Ok(Self {
            plan,
            load,
            observer,
            interrupt,
            server,
            cookie,
            control,
            config,
            streams: Streams::default(),
            sampler,
            prober: None,
            remote: None,
            auth,
            heart: Heartbeat::default(),
            sent_by_peer: HashMap::new(),
            clock: None,
            reports: PeerReports::default(),
            live: Live::default(),
            own: SideAccount::default(),
            opened_ns: monotonic_ns(),
            start_ns: 0,
            omitted: Some((0, 0)),
            running: false,
            exchange: false,
            server_is_done: false,
            server_output: None,
        })
    }

    fn run_test(mut self) -> Result<TestOutcome, Ended> {
        let created = self.await_event("CREATE_STREAMS", |event| {
            matches!(event, ClientEvent::CreateStreams)
        });
        let peer = match created {
            Ok(()) => self.identify_peer(),
            Err(ended) => return Err(self.or_stalled(ended)),
        };
        if peer == Peer::Stock && !self.load {
            self.control.session.terminate();
            let _ = self.control.flush();
            return self.ping_idle(peer);
        }
        match self.begin() {
            Ok(()) => self.measure(peer),
            Err(ended) => Err(self.or_stalled(ended)),
        }
    }

    /// Until the load.
    fn begin(&mut self) -> Result<(), Ended> {
        if self.config.direction == Direction::Both {
            self.sampler.set_bidirectional();
        }
        self.idle_control()?;
        // The server sends as soon as it has all streams: what arrives first is to be counted too.
        self.sampler.begin(self.sample_phase());
        self.connect_streams()?;
        if !self.running {
            self.await_event("TEST_RUNNING", |event| {
                matches!(event, ClientEvent::Running)
            })?;
        }
        Ok(())
    }

    fn measure(mut self, peer: Peer) -> Result<TestOutcome, Ended> {
        self.start();
        let attended = self.run_until_end();
        let (failure, remote) = match attended.and_then(|()| self.end()) {
            Ok(remote) => (None, remote),
            Err(ended) => (Some(ended.failure), None),
        };
        self.close(peer, remote, failure)
    }

    /// Where nothing came through for a while, long packets may vanish on the path: short segments show it.
    fn or_stalled(&self, ended: Ended) -> Ended {
        let waited_ns = monotonic_ns().saturating_sub(self.opened_ns);
        let is_new = self.plan.path.stalled_mss_bytes().is_none();
        let asked = self.interrupt.requested().is_some();
        if waited_ns < STALLED_NS || asked || !is_new || ended.again != Again::No {
            return ended;
        }
        let mss_bytes = tcp::mss_bytes(self.control.stream()).unwrap_or(DEFAULT_MSS);
        Ended {
            again: Again::WithShortSegments { mss_bytes },
            ..ended
        }
    }

    fn own_address(&self) -> Option<IpAddr> {
        let local = self.control.stream().local_addr().ok()?;
        Some(self.plan.bind_address.unwrap_or(local.ip()))
    }

    /// Identifies the server: a linerate has sent its hello by now.
    fn identify_peer(&mut self) -> Peer {
        let peer = match &self.remote {
            Some(remote) => Peer::Linerate {
                version: remote.version.clone(),
            },
            None => Peer::Stock,
        };
        let mss = self.config.payload_bytes;
        self.config = StreamConfig::of_plan(self.plan, peer != Peer::Stock, mss);
        self.observer.observe(&Event::Connected {
            peer: &peer,
            address: self.server,
        });
        peer
    }
}

const DEFAULT_MSS: u32 = 1448;
/// A server that answers does so within this time, however busy.
const STALLED_NS: u64 = 4_000_000_000;
const STEP_NS: u64 = 50_000_000;
/// A stock server serves one test at a time, and needs an instant between two.
const BUSY_TRIES: u32 = 5;
const BUSY_PAUSE_NS: u64 = 300_000_000;
