// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's conversation: one test against a linerate or a stock iperf3 server.

mod heard;
mod streams;

use super::account::SideAccount;
use super::control::Control;
use super::crew::Crew;
use super::extension::{Ask, Message};
use super::probe::{Probed, Prober};
use super::sampler::Sampler;
use super::shape::Shape;
use super::{
    Direction, Event, Observer, Peer, Protocol, TestOutcome, TestPlan, connect, fold, standard,
};
use crate::error::Failure;
use heard::Heard;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::signal::Interrupt;
use linerate_linux::{random, tcp};
use linerate_model::output::{self, Host, Role};
use linerate_model::sample::Sample;
use linerate_wire::iperf3::client::{ClientEvent, ClientSession, Phase};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::results::Results;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

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
        match Client::open(plan, load, observer, interrupt)?.conduct() {
            Err(Ended {
                busy: true,
                failure,
            }) => last = Some(failure),
            Err(Ended { failure, .. }) => return Err(failure),
            Ok(outcome) => return Ok(outcome),
        }
        linerate_linux::clock::sleep_until_ns(monotonic_ns() + BUSY_PAUSE_NS, 0);
    }
    Err(last.unwrap_or_else(|| Failure::measuring("measure", "the server is busy")))
}

/// A pin that cannot be had would silently be none.
fn may_run_on(cpu: u32) -> Result<(), Failure> {
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
    shape: Shape,
    crew: Crew,
    sampler: Sampler,
    prober: Option<Prober>,
    remote: Option<(String, Host)>,
    told: HashMap<u32, u64>,
    heard: Heard,
    own: SideAccount,
    start_ns: u64,
    heard_ns: u64,
    running: bool,
    exchange: bool,
    server_is_done: bool,
    server_output: Option<String>,
}

/// Why a conversation ended early.
#[derive(Debug)]
struct Ended {
    busy: bool,
    failure: Failure,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self {
            busy: false,
            failure,
        }
    }
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
        let mss = tcp::mss_bytes(&stream)
            .unwrap_or(DEFAULT_MSS)
            .clamp(64, 65_000);
        let shape = Shape::of_plan(plan, false, mss);
        let sampler = Sampler::of(stream.local_addr().ok());
        let session = ClientSession::new(
            &cookie,
            params(plan, &shape, load),
            timeouts(plan),
            monotonic_ns(),
        );
        let control = Control::new(stream, session)
            .map_err(|error| Failure::measuring("use the control connection", error))?;
        Ok(Self {
            plan,
            load,
            observer,
            interrupt,
            server,
            cookie,
            control,
            shape,
            crew: Crew::default(),
            sampler,
            prober: None,
            remote: None,
            told: HashMap::new(),
            heard: Heard::default(),
            own: SideAccount::default(),
            start_ns: 0,
            heard_ns: monotonic_ns(),
            running: false,
            exchange: false,
            server_is_done: false,
            server_output: None,
        })
    }

    fn conduct(mut self) -> Result<TestOutcome, Ended> {
        self.await_event("CREATE_STREAMS", |event| {
            matches!(event, ClientEvent::CreateStreams)
        })?;
        let peer = self.meet();
        if peer == Peer::Stock && !self.load {
            self.control.session.terminate();
            let _ = self.control.flush();
            return self.ping_idle(peer);
        }
        // The server sends as soon as it has all streams: what arrives first is to be counted too.
        self.sampler.begin();
        self.connect_streams()?;
        if !self.running {
            self.await_event("TEST_RUNNING", |event| {
                matches!(event, ClientEvent::Running)
            })?;
        }
        self.start();
        let attended = self.attend();
        let (failure, remote) = match attended.and_then(|()| self.end()) {
            Ok(remote) => (None, remote),
            Err(ended) => (Some(ended.failure), None),
        };
        self.close(peer, remote, failure)
    }

    /// Who the server is, known by now: a linerate has said hello.
    fn meet(&mut self) -> Peer {
        let peer = match &self.remote {
            Some((version, _)) => Peer::Linerate {
                version: version.clone(),
            },
            None => Peer::Stock,
        };
        let mss = self.shape.payload_bytes;
        self.shape = Shape::of_plan(self.plan, peer != Peer::Stock, mss);
        self.observer.observe(&Event::Connected {
            peer: &peer,
            address: self.server,
        });
        peer
    }

    fn start(&mut self) {
        self.observer.observe(&Event::Samples(self.sampler.first()));
        self.observer.observe(&Event::Started);
        self.start_ns = monotonic_ns();
        self.crew.go(self.start_ns);
    }

    /// The running test, to its end by time, by amount, by the user or by an error.
    fn attend(&mut self) -> Result<(), Ended> {
        let interval_ns = if self.plan.interval_ms == 0 {
            u64::MAX
        } else {
            self.plan.interval_ms * 1_000_000
        };
        let mut next_cut_ns = self.start_ns.saturating_add(interval_ns);
        let mut next_sample_ns = self.start_ns + SAMPLE_NS;
        while !self.is_over() {
            if self.interrupt.requested().is_some() {
                self.observer.observe(&Event::Stopping);
                return Ok(());
            }
            let step_ns = (monotonic_ns() + STEP_NS)
                .min(next_cut_ns)
                .min(self.end_ns());
            if let Some(event) = self.pump(step_ns)? {
                self.note(event)?;
            }
            if monotonic_ns() >= next_cut_ns {
                self.cut(next_cut_ns);
                next_cut_ns = next_cut_ns.saturating_add(interval_ns);
            }
            if monotonic_ns() >= next_sample_ns {
                self.observer.observe(&Event::Samples(&self.sampler.read()));
                next_sample_ns += SAMPLE_NS;
            }
        }
        Ok(())
    }

    fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.shape.limit.total_ns())
    }

    /// Whether this side calls the end: its senders have left; as a receiver, the time is up, the
    /// amount is in, or the server says that it has sent all.
    fn is_over(&self) -> bool {
        let now_ns = monotonic_ns();
        let senders_left = self.crew.sending_is_over();
        if !self.load {
            return now_ns >= self.end_ns();
        }
        match self.shape.direction {
            Direction::Up => senders_left,
            Direction::Down | Direction::Both if !self.plan.is_by_amount() => {
                now_ns >= self.end_ns() && senders_left
            }
            Direction::Down => {
                self.server_is_done || self.amount_is_in() || self.crew.receiving_is_over()
            }
            Direction::Both => senders_left && (self.server_is_done || self.amount_is_in()),
        }
    }

    fn amount_is_in(&self) -> bool {
        let (bytes, packets) = self.crew.received();
        self.plan.bytes.is_some_and(|limit| bytes >= limit)
            || (self.shape.protocol == Protocol::Udp
                && self.plan.blocks.is_some_and(|limit| packets >= limit))
            || (self.shape.protocol == Protocol::Tcp
                && self
                    .plan
                    .blocks
                    .is_some_and(|limit| bytes >= limit * u64::from(self.shape.payload_bytes)))
    }

    fn cut(&mut self, at_ns: u64) {
        self.crew.cut(at_ns);
        let (sent, received) = self.crew.last_intervals();
        for (direction, interval) in fold::live(&sent, &received) {
            self.observer.observe(&Event::Interval {
                direction,
                interval: &interval,
            });
        }
    }

    /// Stops, waits until the far end has all, and exchanges what was counted.
    fn end(&mut self) -> Result<Option<SideAccount>, Ended> {
        self.crew.stop_sending();
        self.crew.cut(monotonic_ns());
        self.settle()?;
        if self.remote.is_some() {
            let streams = self.crew.sent_counts();
            self.control
                .session
                .agent(&Message::Final { streams }.to_value());
        }
        self.control.session.end_test(monotonic_ns());
        if self.shape.protocol == Protocol::Tcp {
            self.crew.drain(Duration::ZERO, Duration::ZERO);
        }
        self.until(|client| client.exchange)?;
        self.finish_receiving();
        let told = std::mem::take(&mut self.told);
        let streams = self.crew.accounts(|id| told.get(&id).copied());
        self.told = told;
        self.exchange_results(streams)
    }

    /// What this side must wait for before TEST_END: a stock server closes its sockets at once.
    fn settle(&mut self) -> Result<(), Ended> {
        let sends = self.shape.direction != Direction::Down;
        if !sends || self.interrupt.impatient() {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        match self.shape.protocol {
            Protocol::Tcp if self.plan.is_by_amount() => self
                .idle_until(now_ns + FLUSH_NS, |client| {
                    client.crew.unacknowledged_bytes() == 0
                }),
            Protocol::Udp if self.remote.is_none() => {
                let rtt_ns = tcp::info(self.control.stream()).map_or(0, |info| info.rtt_ns);
                self.idle_until(now_ns + TAIL_NS + 2 * rtt_ns, |_| false)
            }
            _ => Ok(()),
        }
    }

    fn idle_until(&mut self, deadline_ns: u64, done: impl Fn(&Self) -> bool) -> Result<(), Ended> {
        while monotonic_ns() < deadline_ns && !done(self) {
            if let Some(event) = self.pump(deadline_ns.min(monotonic_ns() + SHORT_STEP_NS))? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    /// UDP receivers stay for stragglers: until the server's count is in, or silence.
    fn finish_receiving(&mut self) {
        for (&id, &packets) in &self.told {
            self.crew.expect(id, packets);
        }
        let longest = if self.interrupt.impatient() {
            Duration::ZERO
        } else {
            LONGEST_DRAIN
        };
        let rtt = Duration::from_nanos(
            tcp::info(self.control.stream()).map_or(0, |info| 2 * info.rtt_ns),
        );
        match self.shape.protocol {
            Protocol::Udp => self.crew.drain(QUIET + rtt, longest),
            Protocol::Tcp => {}
        }
        self.crew.join_receivers();
        self.sampler.end();
        self.observer.observe(&Event::Samples(self.sampler.last()));
    }

    fn exchange_results(
        &mut self,
        streams: Vec<super::account::StreamAccount>,
    ) -> Result<Option<SideAccount>, Ended> {
        let own = SideAccount {
            streams,
            cpu: self.sampler.cpu(),
            counters: self.sampler.moved(),
            interface: self.sampler.interface(),
            partial: false,
        };
        let results = standard::results(
            &own,
            &self.shape,
            self.sampler.process_cpu(),
            self.remote.is_some(),
        );
        self.own = own;
        self.control.session.send_results(&results, monotonic_ns());
        let mut remote = None;
        loop {
            match self.pump(u64::MAX)? {
                Some(ClientEvent::PeerResults(results)) => {
                    self.server_output.clone_from(&results.server_output_text);
                    remote = Some(self.peer_account(&results));
                }
                Some(ClientEvent::Display) => break,
                Some(event) => self.note(event)?,
                None => {}
            }
        }
        self.control.session.done();
        // The test is over and counted; a server that is gone already has nothing more to say.
        let _ = self.control.flush();
        Ok(remote)
    }

    fn peer_account(&self, results: &Results) -> SideAccount {
        let exact = results
            .linerate
            .clone()
            .and_then(|value| serde_json::from_value(value).ok());
        let elapsed_ns =
            monotonic_ns().saturating_sub(self.start_ns.saturating_add(self.shape.limit.omit_ns));
        exact.unwrap_or_else(|| standard::account(results, &self.shape, true, elapsed_ns))
    }
}

impl Client<'_> {
    /// Whatever happened, what was counted becomes the outcome.
    fn close(
        mut self,
        peer: Peer,
        remote: Option<SideAccount>,
        failure: Option<Failure>,
    ) -> Result<TestOutcome, Ended> {
        let probed = self.prober.take().map(Prober::finish).unwrap_or_default();
        let (phase, buckets) = (self.phase(), probed.buckets());
        self.observer.observe(&Event::Latency {
            phase,
            buckets: &buckets,
        });
        if self.own.streams.is_empty() {
            self.give_up();
        }
        let told = std::mem::take(&mut self.heard);
        let remote = remote.or_else(|| told.account(&self.shape));
        Ok(self.outcome(peer, remote.as_ref(), &probed, failure))
    }

    /// A stock server has nothing that answers probes: its host may answer echo requests.
    fn ping_idle(mut self, peer: Peer) -> Result<TestOutcome, Ended> {
        self.start_prober();
        self.start_ns = monotonic_ns();
        let end_ns = self.end_ns();
        while monotonic_ns() < end_ns && self.interrupt.requested().is_none() {
            linerate_linux::clock::sleep_until_ns(end_ns.min(monotonic_ns() + STEP_NS), 0);
        }
        self.close(peer, None, None)
    }

    fn phase(&self) -> output::Phase {
        match (self.load, self.shape.direction) {
            (false, _) => output::Phase::Idle,
            (true, Direction::Up) => output::Phase::Up,
            (true, Direction::Down) => output::Phase::Down,
            (true, Direction::Both) => output::Phase::Both,
        }
    }

    /// The conversation broke: the books are closed as they stand.
    fn give_up(&mut self) {
        self.crew.stop_sending();
        self.crew.cut(monotonic_ns());
        self.crew.drain(Duration::ZERO, Duration::ZERO);
        self.crew.join_receivers();
        self.sampler.end();
        self.observer.observe(&Event::Samples(self.sampler.last()));
        let told = std::mem::take(&mut self.told);
        self.own = SideAccount {
            streams: self.crew.accounts(|id| told.get(&id).copied()),
            cpu: self.sampler.cpu(),
            counters: self.sampler.moved(),
            interface: self.sampler.interface(),
            partial: false,
        };
    }

    fn outcome(
        self,
        peer: Peer,
        remote: Option<&SideAccount>,
        probed: &Probed,
        failure: Option<Failure>,
    ) -> TestOutcome {
        let partial = failure.is_some() || self.interrupt.requested().is_some();
        let mut hosts = vec![self.sampler.host(false)];
        let remote_host = self.remote.as_ref().map(|(_, host)| Host {
            role: Role::Remote,
            ..host.clone()
        });
        hosts.push(remote_host.unwrap_or_else(|| Host {
            role: Role::Remote,
            ..Host::default()
        }));
        let measured = fold::Measured {
            plan: self.plan,
            shape: &self.shape,
            server: self.server,
            local: &self.own,
            remote,
            offset_ns: probed.offset_ns,
            hosts: &hosts,
            elapsed_ns: monotonic_ns().saturating_sub(self.start_ns),
        };
        let tests = if self.load {
            fold::tests(&measured)
        } else {
            Vec::new()
        };
        TestOutcome {
            tests,
            latency: probed.latency(self.phase()).into_iter().collect(),
            hosts,
            partial,
            error: failure,
            peer,
            server_output: self.server_output,
        }
    }

    /// Pumps until an event that `wanted` knows; the others are noted.
    fn await_event(
        &mut self,
        what: &str,
        wanted: impl Fn(&ClientEvent) -> bool,
    ) -> Result<(), Ended> {
        loop {
            if self.interrupt.requested().is_some() {
                self.control.session.terminate();
                let _ = self.control.flush();
                return Err(
                    Failure::interrupted(format!("wait for {what} of {}", self.server)).into(),
                );
            }
            match self.pump(monotonic_ns() + STEP_NS)? {
                Some(event) if wanted(&event) => return Ok(()),
                Some(event) => self.note(event)?,
                None => {}
            }
        }
    }

    /// Pumps until `done`; the session's own time-outs end it otherwise.
    fn until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), Ended> {
        while !done(self) {
            if let Some(event) = self.pump(monotonic_ns() + STEP_NS)? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    fn pump(&mut self, until_ns: u64) -> Result<Option<ClientEvent>, Ended> {
        if self.interrupt.impatient() {
            self.control.session.terminate();
            let _ = self.control.flush();
            let what = format!("wait for the count of {}", self.server);
            return Err(Failure::interrupted(what).into());
        }
        let until_ns = until_ns.min(monotonic_ns() + STEP_NS);
        let event = self.control.next(until_ns);
        let event = event.map_err(|error| self.lost("the test went on", &error))?;
        match event {
            Some(_) => self.heard_ns = monotonic_ns(),
            None => self.miss_the_server()?,
        }
        Ok(event)
    }

    /// The connection did not end by the server's will, or by its reset.
    fn lost(&self, during: &str, error: &io::Error) -> Failure {
        let what = format!("finish the test with {}", self.server);
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                let why = format!("the server closed the connection while {during}: {error}");
                Failure::measuring(what, why).hint("is the server still running? its log says why")
            }
            _ => {
                let why = format!("the connection broke while {during}: {error}");
                Failure::measuring(what, why).hint(is_it_gone(self.server))
            }
        }
    }

    /// A linerate server tells its counters every second: one that says nothing for long is gone,
    /// though its kernel may still acknowledge.
    fn miss_the_server(&self) -> Result<(), Ended> {
        let silent_ns = monotonic_ns().saturating_sub(self.heard_ns);
        if self.remote.is_none() || self.start_ns == 0 || silent_ns < SILENCE_NS {
            return Ok(());
        }
        let why = format!("the server kept silent for {} s", silent_ns / 1_000_000_000);
        Err(
            Failure::measuring(format!("finish the test with {}", self.server), why)
                .hint(is_it_gone(self.server))
                .into(),
        )
    }

    fn note(&mut self, event: ClientEvent) -> Result<(), Ended> {
        match event {
            ClientEvent::Agent(value) => self.hear(value),
            ClientEvent::Running => self.running = true,
            ClientEvent::ExchangeResults => self.exchange = true,
            ClientEvent::CreateStreams
            | ClientEvent::Start
            | ClientEvent::PeerResults(_)
            | ClientEvent::Display => {}
            ending => return Err(self.explain(ending)),
        }
        Ok(())
    }

    fn hear(&mut self, value: serde_json::Value) {
        match Message::from_value(value) {
            Some(Message::Hello { version, host }) => self.remote = Some((version, *host)),
            Some(Message::Final { streams }) => {
                self.server_is_done = true;
                let udp = self.shape.protocol == Protocol::Udp;
                self.told.extend(
                    streams
                        .into_iter()
                        .map(|(id, packets, bytes)| (id, if udp { packets } else { bytes })),
                );
                for (&id, &packets) in &self.told {
                    self.crew.expect(id, packets);
                }
            }
            Some(Message::Samples { samples }) => {
                let samples: Vec<_> = samples
                    .into_iter()
                    .map(|sample| Sample {
                        host: Role::Remote,
                        ..sample
                    })
                    .collect();
                self.observer.observe(&Event::Samples(&samples));
            }
            Some(Message::Interval { sent, received }) => self.heard.note(sent, received),
            None => {}
        }
    }

    fn explain(&self, event: ClientEvent) -> Ended {
        let server = self.server;
        let what = format!("finish the test with {server}");
        let failure = match event {
            ClientEvent::Busy => {
                return Ended {
                    busy: true,
                    failure: Failure::measuring(format!("start a test with {server}"), "the server is busy with another test")
                        .hint("wait for that test, or use `linerate serve` there: it serves many at a time"),
                };
            }
            ClientEvent::ServerTerminated => {
                Failure::measuring(what, "the server was interrupted").hint("start it again")
            }
            ClientEvent::ServerError { code, text, .. } => {
                let code = code.map_or_else(String::new, |code| format!(" (iperf3 error {code})"));
                Failure::measuring(what, format!("the server refused: {text}{code}"))
                    .hint("see the server's own log for its limits")
            }
            ClientEvent::Violation(refusal) => {
                Failure::measuring(what, format!("not iperf3's protocol: {refusal}"))
                    .hint(not_it(server))
            }
            ClientEvent::Timeout { phase } => {
                let why = format!("the server kept silent while {}", doing(phase));
                let hint = match phase {
                    Phase::Hello => not_it(server),
                    _ => is_it_gone(server),
                };
                Failure::measuring(what, why).hint(hint)
            }
            ClientEvent::Closed { phase } => match self.control.broken() {
                Some(error) => self.lost(doing(phase), error),
                None => Failure::measuring(
                    what,
                    format!("the server closed the connection while {}", doing(phase)),
                )
                .hint("is the server still running? its log says why"),
            },
            other => Failure::measuring(what, format!("unexpected {other:?}")),
        };
        failure.into()
    }
}

fn not_it(server: SocketAddr) -> String {
    let port = server.port();
    format!("check that an iperf3 or linerate server listens on port {port}")
}

fn is_it_gone(server: SocketAddr) -> String {
    format!("ping {}; is the server, or the link, gone?", server.ip())
}

/// What the client was at, to be read after "while".
fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Hello | Phase::Accepting => "it was asked for a test",
        Phase::Connecting => "the streams were connected",
        Phase::Running => "the test ran",
        Phase::Ending => "it was asked for its count",
        Phase::Reporting | Phase::AwaitingResults | Phase::AwaitingDisplay => {
            "results were exchanged"
        }
        Phase::Displaying | Phase::Closed => "saying goodbye",
    }
}

fn params(plan: &TestPlan, shape: &Shape, load: bool) -> Params {
    let udp = plan.protocol == Protocol::Udp;
    let by_amount = plan.is_by_amount();
    let seconds = |ms: u64| ms.div_ceil(1000);
    let ask = Ask {
        load,
        duration_ns: (!by_amount).then_some(plan.duration_ms * 1_000_000),
        omit_ns: plan.omit_ms * 1_000_000,
        interval_ns: plan.interval_ms * 1_000_000,
        bytes: plan.bytes,
        blocks: plan.blocks,
        tx_mode: plan.tx_name().to_owned(),
        rx_mode: plan.rx_name().to_owned(),
        burst: plan.burst,
        ..Ask::default()
    };
    Params {
        tcp: !udp,
        udp,
        omit_s: Some(seconds(plan.omit_ms)),
        time_s: Some(if by_amount {
            0
        } else {
            seconds(plan.duration_ms)
        }),
        num_bytes: plan.bytes,
        blockcount: plan.blocks,
        parallel: Some(u64::from(plan.streams)),
        reverse: plan.direction == Direction::Down,
        bidirectional: plan.direction == Direction::Both,
        len_bytes: Some(u64::from(shape.payload_bytes)),
        bandwidth_bits_per_second: plan.bits_per_second,
        burst_packets: plan.burst.map(u64::from),
        pacing_timer_us: Some(1000),
        window_bytes: plan.window_bytes.map(u64::from),
        mss_bytes: plan.mss.map(u64::from),
        nodelay: plan.nodelay,
        tos: plan.tos_byte().map(u64::from),
        congestion: plan.congestion.clone(),
        server_affinity: plan.affinity.and_then(|(_, server)| server).map(u64::from),
        title: plan.title.clone(),
        get_server_output: plan.server_output,
        udp_counters_64bit: udp && plan.counters_64bit,
        dont_fragment: plan.dont_fragment,
        client_version: Some(IPERF3_VERSION.to_owned()),
        linerate: serde_json::to_value(ask).ok(),
        ..Params::default()
    }
}

fn timeouts(plan: &TestPlan) -> linerate_wire::iperf3::Timeouts {
    let answer_ns = (plan.connect_timeout_ms * 1_000_000).max(1_000_000_000);
    linerate_wire::iperf3::Timeouts {
        answer_ns,
        results_ns: RESULTS_NS,
        ..linerate_wire::iperf3::Timeouts::default()
    }
}

/// The protocol version that we speak.
const IPERF3_VERSION: &str = "3.21";
const DEFAULT_MSS: u32 = 1448;
const STEP_NS: u64 = 50_000_000;
/// Longer than a retransmission after a pause of seconds, and than a server's longest drain.
const SILENCE_NS: u64 = 11_000_000_000;
/// A stock server's answer to TEST_END, through whatever queue the test has filled.
const RESULTS_NS: u64 = 15_000_000_000;
/// Raw counters are read this often during a test.
const SAMPLE_NS: u64 = 1_000_000_000;
const SHORT_STEP_NS: u64 = 5_000_000;
/// After the last datagram a stock server needs this long, and two round trips, to have received it.
const TAIL_NS: u64 = 50_000_000;
/// The longest wait for the acknowledgement of the last bytes of a test by amount.
const FLUSH_NS: u64 = 10_000_000_000;
/// UDP receivers leave after this much silence, or when all is in.
const QUIET: Duration = Duration::from_millis(200);
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
/// A stock server serves one test at a time, and needs an instant between two.
const BUSY_TRIES: u32 = 5;
const BUSY_PAUSE_NS: u64 = 300_000_000;
