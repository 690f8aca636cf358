// SPDX-License-Identifier: MIT OR Apache-2.0
//! One client's test, from its parameters to its goodbye.

use super::registry::{Arrival, Place, Waiting};
use super::{Server, limits, report};
use crate::engine::account::{SideAccount, StreamAccount};
use crate::engine::control::Control;
use crate::engine::crew::Crew;
use crate::engine::extension::{Ask, Message};
use crate::engine::plan::Protocol;
use crate::engine::probe::Responder;
use crate::engine::sampler::Sampler;
use crate::engine::shape::Shape;
use crate::engine::standard;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::udp::Opened;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::error;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::results::Results;
use linerate_wire::iperf3::server::{Limits, ServerEvent, ServerSession};
use linerate_wire::linerate::hello::Kind;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// One test at the server.
pub(super) struct Session<'a, 'b> {
    server: &'a Server<'b>,
    control: Control<ServerSession>,
    peer: SocketAddr,
    params: Box<Params>,
    ask: Option<Ask>,
    shape: Shape,
    crew: Crew,
    sampler: Sampler,
    responders: Vec<Responder>,
    arrivals: Option<Receiver<Arrival>>,
    told: HashMap<u32, u64>,
    final_is_sent: bool,
}

impl<'a, 'b> Session<'a, 'b> {
    /// Serves the test behind `cookie`; what happened, for the log.
    pub(super) fn run(
        server: &'a Server<'b>,
        stream: TcpStream,
        cookie: Cookie,
        peer: SocketAddr,
        serial: u64,
    ) -> Result<String, String> {
        let sampler = Sampler::of(stream.local_addr().ok());
        let session = ServerSession::new(
            Limits::default(),
            linerate_wire::iperf3::Timeouts::default(),
            monotonic_ns(),
        );
        let mut control = Control::new(stream, session).map_err(|error| error.to_string())?;
        let params = await_params(&mut control, server);
        if !server.strangers.leave(serial) {
            return Err("refused: silent, and too many others came".to_owned());
        }
        let params = params?;
        let Some(_seat) = server.seat() else {
            control.session.deny();
            // The client may be gone already; it is told as a courtesy.
            let _ = control.flush();
            return Err("refused: as many tests as --max-tests allows are running".to_owned());
        };
        let ask = params
            .linerate
            .clone()
            .map(|value| serde_json::from_value(value).unwrap_or_default());
        let shape = Shape::of_params(&params, ask.as_ref());
        let mut test = Self {
            server,
            control,
            peer,
            params,
            ask,
            shape,
            crew: Crew::default(),
            sampler,
            responders: Vec::new(),
            arrivals: None,
            told: HashMap::new(),
            final_is_sent: false,
        };
        test.conduct(cookie)
    }

    fn conduct(&mut self, cookie: Cookie) -> Result<String, String> {
        if let Err((code, reason)) = limits::check(
            &self.server.options,
            &self.params,
            self.ask.as_ref(),
            &self.shape,
        ) {
            return Err(self.give_up(code, reason));
        }
        if self.ask.is_some() {
            let hello = Message::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                host: Box::new(self.sampler.host(true)),
            };
            self.control.session.agent(&hello.to_value());
        }
        let place = self.gather(cookie)?;
        self.start();
        self.attend()?;
        drop(place);
        self.finish()
    }

    /// Lets the client connect its streams and puts a worker on each.
    fn gather(&mut self, cookie: Cookie) -> Result<Option<Place>, String> {
        let (deliver, arrivals) = channel();
        let stock_udp = self.shape.protocol == Protocol::Udp && self.ask.is_none();
        let server_sends = !self.shape.client_sends(self.shape.streams_total() - 1);
        let waiting = Waiting {
            address: self.peer.ip(),
            stock_udp,
            udp_options: self.udp_options(server_sends),
            deliver,
        };
        let deadline = Instant::now() + STREAMS;
        let Some(place) = self.server.registry.enter(cookie, waiting, deadline) else {
            return Err(self.give_up(
                error::STREAM_CONNECT,
                "another test of this address sets up its streams".to_owned(),
            ));
        };
        self.control.session.create_streams(monotonic_ns());
        self.arrivals = Some(arrivals);
        let wanted = if self.is_idle() {
            0
        } else {
            self.shape.streams_total() as usize
        };
        match self.shape.protocol {
            Protocol::Tcp => self.gather_tcp(wanted)?,
            Protocol::Udp => self.gather_udp(wanted)?,
        }
        // The next stock UDP test of this address may set up its streams now.
        Ok((!stock_udp).then_some(place))
    }

    /// Sockets serve both directions in a bidirectional test: which one is known by the index only
    /// after the hello, so both buffers are asked for.
    fn udp_options(&self, server_sends: bool) -> linerate_linux::udp::Options {
        let receiving = self.shape.udp_options(false);
        let sending = self.shape.udp_options(true);
        linerate_linux::udp::Options {
            send_buffer_bytes: if server_sends {
                sending.send_buffer_bytes
            } else {
                None
            },
            recv_err: server_sends,
            ..receiving
        }
    }

    fn gather_tcp(&mut self, wanted: usize) -> Result<(), String> {
        let mut streams = Vec::new();
        while streams.len() < wanted {
            match self.next_arrival()? {
                Arrival::Tcp { serial, stream } => streams.push((serial, stream)),
                Arrival::Udp {
                    kind: Kind::Probe,
                    opened,
                    ..
                } => self.respond(opened),
                Arrival::Udp { .. } => {}
            }
        }
        streams.sort_by_key(|(serial, _)| *serial);
        for (index, (_, stream)) in (0..).zip(streams) {
            self.employ_tcp(index, stream)
                .map_err(|error| self.give_up(error::STREAM_CONNECT, error.to_string()))?;
        }
        Ok(())
    }

    fn employ_tcp(&mut self, index: u32, stream: TcpStream) -> std::io::Result<()> {
        let sends = !self.shape.client_sends(index);
        linerate_linux::tcp::adjust(&stream, &self.shape.tcp_options())?;
        let port = stream.peer_addr().ok().map(|address| address.port());
        let work = self.shape.tcp_work(sends, index, stream)?;
        self.crew.add(Shape::id(index), port, work, self.shape.cpu)
    }

    fn gather_udp(&mut self, wanted: usize) -> Result<(), String> {
        let mut present = std::collections::HashSet::new();
        while present.len() < wanted {
            match self.next_arrival()? {
                Arrival::Udp {
                    kind: Kind::Probe,
                    opened,
                    ..
                } => self.respond(opened),
                Arrival::Udp { index, opened, .. } => {
                    let index = index.map_or(present.len() as u32, u32::from);
                    if index < self.shape.streams_total() && present.insert(index) {
                        self.employ_udp(index, opened).map_err(|error| {
                            self.give_up(error::STREAM_CONNECT, error.to_string())
                        })?;
                    }
                }
                Arrival::Tcp { .. } => {}
            }
        }
        Ok(())
    }

    fn employ_udp(&mut self, index: u32, opened: Opened) -> std::io::Result<()> {
        let sends = !self.shape.client_sends(index);
        let port = opened.socket.peer_addr().ok().map(|address| address.port());
        let work = self.shape.udp_work(sends, index, opened)?;
        self.crew.add(Shape::id(index), port, work, self.shape.cpu)
    }

    /// The next stream, while the control connection is watched too.
    fn next_arrival(&mut self) -> Result<Arrival, String> {
        loop {
            if let Some(arrival) = self
                .arrivals
                .as_ref()
                .and_then(|arrivals| arrivals.recv_timeout(STEP).ok())
            {
                return Ok(arrival);
            }
            if let Some(event) = self.pump(monotonic_ns() + GLANCE_NS)? {
                self.note(event)?;
            }
        }
    }

    fn respond(&mut self, opened: Opened) {
        if self.responders.len() < MOST_PROBES
            && let Ok(responder) = Responder::start(opened.socket)
        {
            self.responders.push(responder);
        }
    }

    fn start(&mut self) {
        let now_ns = monotonic_ns();
        let asked = self
            .ask
            .as_ref()
            .and_then(|ask| ask.duration_ns.map(|duration| duration + ask.omit_ns));
        let standard = self
            .params
            .time_s
            .filter(|&time_s| time_s > 0)
            .map(|time_s| (time_s + self.params.omit_s.unwrap_or(0)) * SECOND_NS);
        let allowed = asked.or(standard).map(|length_ns| length_ns + GRACE_NS);
        self.control.session.start(allowed, now_ns);
        self.sampler.begin();
        self.tell_samples(self.sampler.first().to_vec());
        self.crew.go(now_ns);
    }

    /// The running test, until the client ends it.
    fn attend(&mut self) -> Result<(), String> {
        let interval_ns = self
            .ask
            .as_ref()
            .map_or(SECOND_NS, |ask| match ask.interval_ns {
                0 => u64::MAX,
                ns => ns.clamp(MIN_INTERVAL_NS, MAX_INTERVAL_NS),
            });
        let mut next_cut_ns = monotonic_ns().saturating_add(interval_ns);
        let mut next_sample_ns = monotonic_ns() + SECOND_NS;
        loop {
            self.take_late_probes();
            let step_ns = monotonic_ns() + STEP_NS;
            match self.pump(step_ns.min(next_cut_ns))? {
                Some(ServerEvent::TestEnd) => return Ok(()),
                Some(event) => self.note(event)?,
                None => {}
            }
            if monotonic_ns() >= next_cut_ns {
                self.crew.cut(next_cut_ns);
                next_cut_ns = next_cut_ns.saturating_add(interval_ns);
                self.tell_interval();
            }
            if monotonic_ns() >= next_sample_ns {
                next_sample_ns += SECOND_NS;
                self.tell_samples(self.sampler.read());
            }
            self.announce_own_end();
        }
    }

    fn tell_samples(&mut self, samples: Vec<linerate_model::sample::Sample>) {
        if self.ask.is_some() {
            self.control
                .session
                .agent(&Message::Samples { samples }.to_value());
        }
    }

    fn take_late_probes(&mut self) {
        while let Some(Ok(Arrival::Udp {
            kind: Kind::Probe,
            opened,
            ..
        })) = self.arrivals.as_ref().map(|arrivals| arrivals.try_recv())
        {
            self.respond(opened);
        }
    }

    fn tell_interval(&mut self) {
        if self.ask.is_some() {
            let (sent, received) = self.crew.last_intervals();
            let message = Message::Interval {
                sent: sent.into_iter().cloned().collect(),
                received: received.into_iter().cloned().collect(),
            };
            self.control.session.agent(&message.to_value());
        }
    }

    /// A test by amount in which this end sends is over when its senders are: the client is told.
    fn announce_own_end(&mut self) {
        if self.ask.is_some()
            && !self.final_is_sent
            && !self.is_idle()
            && self.crew.sending_is_over()
        {
            self.crew.stop_sending();
            self.tell_final();
        }
    }

    fn tell_final(&mut self) {
        let streams = self.crew.sent_counts();
        if !self.final_is_sent && !streams.is_empty() {
            self.control
                .session
                .agent(&Message::Final { streams }.to_value());
        }
        self.final_is_sent = true;
    }

    /// Stops, drains, closes, and exchanges what was counted.
    fn finish(&mut self) -> Result<String, String> {
        self.crew.stop_sending();
        self.crew.cut(monotonic_ns());
        if self.ask.is_some() {
            self.tell_final();
            self.control.flush().map_err(|error| error.to_string())?;
        }
        self.drain();
        self.sampler.end();
        self.tell_samples(self.sampler.last().to_vec());
        self.crew.close_tcp();
        if self.ask.is_none() && self.shape.protocol == Protocol::Udp {
            return self.finish_stock_udp();
        }
        let told = std::mem::take(&mut self.told);
        let streams = self.crew.accounts(|id| told.get(&id).copied());
        self.control.session.exchange_results(monotonic_ns());
        let _client = self.await_results()?;
        self.close(streams)
    }

    /// A stock client tells its senders' counts in its results: the books stay open until then.
    fn finish_stock_udp(&mut self) -> Result<String, String> {
        self.control.session.exchange_results(monotonic_ns());
        let client = self.await_results()?;
        let sent: HashMap<u32, u64> = standard::sent_counts(&client, &self.shape);
        let streams = self.crew.accounts(|id| sent.get(&id).copied());
        self.close(streams)
    }

    fn drain(&mut self) {
        for (&id, &packets) in &self.told {
            self.crew.expect(id, packets);
        }
        let (quiet, longest) = match self.shape.protocol {
            Protocol::Udp => (QUIET, LONGEST_DRAIN),
            Protocol::Tcp
                if self
                    .ask
                    .as_ref()
                    .is_some_and(|ask| ask.duration_ns.is_none()) =>
            {
                (LONGEST_DRAIN, LONGEST_DRAIN)
            }
            // A stock client that was to send an amount has sent it, but here it may not be in yet.
            Protocol::Tcp if self.ask.is_none() && self.is_by_amount() => (QUIET, LONGEST_DRAIN),
            Protocol::Tcp => (Duration::ZERO, Duration::ZERO),
        };
        self.crew.drain(quiet, longest);
        self.crew.join_receivers();
    }

    fn is_by_amount(&self) -> bool {
        let set = |amount: Option<u64>| amount.is_some_and(|amount| amount > 0);
        set(self.params.num_bytes) || set(self.params.blockcount)
    }

    fn await_results(&mut self) -> Result<Box<Results>, String> {
        loop {
            match self.pump(u64::MAX)? {
                Some(ServerEvent::ClientResults(results)) => return Ok(results),
                Some(event) => self.note(event)?,
                None => {}
            }
        }
    }

    fn close(&mut self, streams: Vec<StreamAccount>) -> Result<String, String> {
        let account = SideAccount {
            streams,
            cpu: self.sampler.cpu(),
            counters: self.sampler.moved(),
            interface: self.sampler.interface(),
            partial: false,
        };
        let mut results = standard::results(
            &account,
            &self.shape,
            self.sampler.process_cpu(),
            self.ask.is_some(),
        );
        results.server_output_text = self
            .params
            .get_server_output
            .then(|| report::text(&account, &self.shape));
        self.control.session.send_results(&results, monotonic_ns());
        loop {
            match self.pump(u64::MAX)? {
                Some(ServerEvent::Done) => return Ok(standard::summary(&account, &self.shape)),
                Some(event) => self.note(event)?,
                None => {}
            }
        }
    }

    fn note(&mut self, event: ServerEvent) -> Result<(), String> {
        match event {
            ServerEvent::Agent(value) => {
                if let Some(Message::Final { streams }) = Message::from_value(value) {
                    self.told
                        .extend(streams.into_iter().map(|(id, packets, bytes)| {
                            (
                                id,
                                if self.shape.protocol == Protocol::Udp {
                                    packets
                                } else {
                                    bytes
                                },
                            )
                        }));
                }
                Ok(())
            }
            ServerEvent::ClientTerminated => Err("the client was interrupted".to_owned()),
            ServerEvent::Refused { reason } => Err(format!("refused: {reason}")),
            ServerEvent::Timeout { phase } => {
                Err(format!("the client kept silent while {phase:?}"))
            }
            ServerEvent::Closed { phase } => {
                let why = self.control.broken().map(|error| format!(": {error}"));
                let why = why.unwrap_or_default();
                Err(format!("the client went away while {phase:?}{why}"))
            }
            ServerEvent::TestEnd
            | ServerEvent::Done
            | ServerEvent::Params(_)
            | ServerEvent::ClientResults(_) => Ok(()),
        }
    }

    /// The next event, at most one step from now; the user's interruption is an event too.
    fn pump(&mut self, until_ns: u64) -> Result<Option<ServerEvent>, String> {
        if self.server.interrupt.requested().is_some() {
            self.control.session.terminate();
            let _ = self.control.flush();
            return Err("the server was interrupted".to_owned());
        }
        self.control
            .next(until_ns.min(monotonic_ns() + STEP_NS))
            .map_err(|error| format!("the client went away: {error}"))
    }

    fn is_idle(&self) -> bool {
        self.ask.as_ref().is_some_and(|ask| !ask.load)
    }

    fn give_up(&mut self, code: i32, reason: String) -> String {
        self.control.session.error(code, 0);
        // The client may be gone already; it is told as a courtesy.
        let _ = self.control.flush();
        format!("refused: {reason}")
    }
}

fn await_params(
    control: &mut Control<ServerSession>,
    server: &Server<'_>,
) -> Result<Box<Params>, String> {
    loop {
        if server.interrupt.requested().is_some() {
            return Err("the server was interrupted".to_owned());
        }
        match control
            .next(monotonic_ns() + STEP_NS)
            .map_err(|error| gone(&error))?
        {
            Some(ServerEvent::Params(params)) => return Ok(params),
            Some(ServerEvent::Refused { reason }) => return Err(format!("refused: {reason}")),
            Some(ServerEvent::Timeout { .. }) => {
                return Err("refused: no parameters in time".to_owned());
            }
            Some(ServerEvent::Closed { .. }) => {
                return Err("the client went away before its parameters".to_owned());
            }
            Some(ServerEvent::ClientTerminated) => {
                return Err("the client was interrupted".to_owned());
            }
            Some(_) | None => {}
        }
    }
}

/// A control connection that cannot be written to, for the log.
fn gone(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe | std::io::ErrorKind::ConnectionReset => {
            "the client went away while it was told something".to_owned()
        }
        _ => error.to_string(),
    }
}

const SECOND_NS: u64 = 1_000_000_000;
const STEP: Duration = Duration::from_millis(20);
/// A look at the control connection while streams are awaited.
const GLANCE_NS: u64 = 1_000_000;
const STEP_NS: u64 = 50_000_000;
/// All streams of a test, and the wait for another test of the address to get its own.
const STREAMS: Duration = Duration::from_secs(20);
/// After its time a test may still drain and close.
const GRACE_NS: u64 = 40 * SECOND_NS;
/// After the end UDP receivers leave after this much silence, or when all is in.
const QUIET: Duration = Duration::from_millis(250);
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
const MIN_INTERVAL_NS: u64 = 100_000_000;
const MAX_INTERVAL_NS: u64 = 86_400 * SECOND_NS;
/// Latency probes of one test.
const MOST_PROBES: usize = 4;
