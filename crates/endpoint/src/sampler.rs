// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the kernel counters of one end: before a test (the idle control interval), once a second
//! during it, and after its last packet. Raw values; a source that cannot be read is absent,
//! never 0.
//!
//! A separate thread reads (`thread`); the conversation sends orders and collects the samples.

mod busy_clock;
mod describe;
mod drops;
mod interface;
mod interrupts;
mod reader;
mod reading;
mod settings;
mod settle;
mod snapshot;
mod sockets;
mod texts;
mod thread;

use crate::account::{SideAccount, StreamAccount};
pub(crate) use describe::{host_at, host_for};
use drops::Followed;
pub(crate) use drops::MACHINE as UNREAD;
use linerate_linux::cpu::{SystemTimes, Usage, process_usage};
use linerate_linux::{clock, nic};
use linerate_model::output::{Cpu, Host};
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;
pub(crate) use reader::Reader;
pub(crate) use snapshot::settings_of;
pub use snapshot::{setup, state, this_host, totals};
pub(crate) use sockets::UdpSockets;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use thread::{Order, Report, SamplerThread, Sources};

/// For whom samples are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The user of this host.
    User,
    /// A peer across the network that did not prove the token. It gets only what a test needs: the
    /// counters of the interface and of the protocols, and the CPU load.
    Peer,
}

/// Counters around one test.
#[derive(Debug)]
pub(crate) struct Sampler {
    interface: Option<String>,
    streams: Arc<Followed>,
    thread: Option<SamplerThread>,
    inbox: Vec<Sample>,
    settings: Vec<Setting>,
    settings_ordered: bool,
    /// The digest of the state that is known, if a change is to be reported.
    known_state: Option<u64>,
    state: Vec<Setting>,
    has_state: bool,
    idle_readings: u32,
    has_first: bool,
    has_last: bool,
    before: Option<Moment>,
    after: Option<Moment>,
}

/// CPU times and the time of reading.
#[derive(Debug)]
struct Moment {
    times: Option<SystemTimes>,
    usage: Usage,
    at_ns: u64,
}

impl Sampler {
    /// For a test that runs over the interface between this address and the peer's.
    pub(crate) fn of(
        local: Option<SocketAddr>,
        peer: SocketAddr,
        sockets: UdpSockets,
        audience: Audience,
    ) -> Self {
        let interface = interface(local, peer);
        let streams = Followed::create();
        let sources = Sources {
            interface: interface.clone(),
            audience,
            sockets,
            streams: Arc::clone(&streams),
        };
        Self {
            interface,
            streams,
            thread: SamplerThread::start(sources).ok(),
            inbox: Vec::new(),
            settings: Vec::new(),
            settings_ordered: false,
            known_state: None,
            state: Vec::new(),
            has_state: false,
            idle_readings: 0,
            has_first: false,
            has_last: false,
            before: None,
            after: None,
        }
    }

    /// Counts the drops of each direction separately. Call it before the first reading.
    pub(crate) fn set_bidirectional(&self) {
        self.streams.set_bidirectional();
    }

    /// Adds a stream of the test by its connected socket; `sends`: this end sends.
    pub(crate) fn follow(&self, socket: &impl AsFd, sends: bool) {
        self.streams.follow(socket, sends);
    }

    /// Reads once without load. The caller times the interval between two such readings, so it waits for this one, which
    /// takes seconds to come where the sources are still being opened on a busy host.
    pub(crate) fn read_idle(&mut self) {
        let before = self.idle_readings;
        self.order(Order::Once);
        self.wait_until(OPENING_TIMEOUT_NS, |sampler| sampler.idle_readings > before);
    }

    /// Orders the settings of this host, if they are `wanted` and have not been read.
    pub(crate) fn read_settings(&mut self, wanted: bool) {
        if wanted && !self.settings_ordered {
            self.settings_ordered = true;
            self.order(Order::Settings);
        }
    }

    /// Returns the settings once they have been read; empty until then.
    pub(crate) fn take_settings(&mut self) -> Vec<Setting> {
        self.drain();
        std::mem::take(&mut self.settings)
    }

    /// Reads the state again at the end, and keeps it where it differs from the one with this digest.
    pub(crate) fn watch_state(&mut self, known: Option<u64>) {
        self.known_state = known;
    }

    /// Returns the state at the end, where it has changed.
    pub(crate) fn take_state(&mut self) -> Vec<Setting> {
        self.drain();
        std::mem::take(&mut self.state)
    }

    /// Orders a reading now and then once a second.
    pub(crate) fn begin(&mut self, phase: Phase) {
        self.order(Order::Begin(phase));
        self.wait_until(DRIVER_TIMEOUT_NS, |sampler| sampler.has_first);
        // On a slow board the reading takes as long as a short test.
        self.before = Some(Moment::now());
    }

    /// Orders the last reading, after the traffic has stopped; see [`Sampler::has_ended`].
    pub(crate) fn finish(&mut self) {
        if self.after.is_none() {
            self.after = Some(Moment::now());
            self.order(Order::End);
            if let Some(known) = self.known_state {
                self.order(Order::State(known));
            }
        }
    }

    /// Whether the last reading has arrived or is overdue.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.drain();
        let timeout_ns = settle::LONGEST_NS + DRIVER_TIMEOUT_NS;
        let overdue = |after: &Moment| clock::monotonic_ns() > after.at_ns + timeout_ns;
        let is_whole = self.has_last && (self.has_state || self.known_state.is_none());
        is_whole || self.thread.is_none() || self.after.as_ref().is_some_and(overdue)
    }

    /// Orders the last reading and waits for it.
    pub(crate) fn end(&mut self) {
        self.finish();
        while !self.has_ended() && self.wait() {}
    }

    /// Returns the samples since the last call, in order.
    pub(crate) fn take(&mut self) -> Vec<Sample> {
        self.drain();
        std::mem::take(&mut self.inbox)
    }

    /// This end's account of a test with these streams.
    pub(crate) fn account(&self, streams: Vec<StreamAccount>) -> SideAccount {
        SideAccount {
            streams,
            cpu: self.cpu(),
            interface: self.interface.clone(),
            ..SideAccount::default()
        }
    }

    /// This host as the results describe it.
    pub(crate) fn host(&self) -> Host {
        this_host(self.interface.as_slice())
    }

    /// CPU load of this host between begin and end.
    fn cpu(&self) -> Option<Cpu> {
        let before = self.before.as_ref()?.times.as_ref()?;
        self.after.as_ref()?.times.as_ref()?.load_since(before)
    }

    /// CPU use of this process in percent of one CPU: total, user, system (iperf3's figures).
    pub(crate) fn process_cpu(&self) -> (f64, f64, f64) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return (0.0, 0.0, 0.0);
        };
        let elapsed = after.at_ns.saturating_sub(before.at_ns).max(1) as f64;
        let user =
            100.0 * after.usage.user_ns.saturating_sub(before.usage.user_ns) as f64 / elapsed;
        let system =
            100.0 * after.usage.system_ns.saturating_sub(before.usage.system_ns) as f64 / elapsed;
        (user + system, user, system)
    }

    /// Sends an order. Without a thread there are no samples.
    fn order(&mut self, order: Order) {
        self.thread = self.thread.take().filter(|thread| thread.order(order));
    }

    fn drain(&mut self) {
        while let Some(report) = self.thread.as_ref().and_then(SamplerThread::report) {
            self.note(report);
        }
    }

    /// Waits until `is_done`, at most `longest_ns`.
    fn wait_until(&mut self, longest_ns: u64, is_done: impl Fn(&Self) -> bool) {
        let deadline_ns = clock::monotonic_ns() + longest_ns;
        while !is_done(self) && clock::monotonic_ns() < deadline_ns && self.wait() {}
    }

    /// Waits for a report; false when no more will come.
    fn wait(&mut self) -> bool {
        let Some(thread) = &self.thread else {
            return false;
        };
        match thread.wait(STEP) {
            Ok(report) => report.into_iter().for_each(|report| self.note(report)),
            Err(_) => self.thread = None,
        }
        true
    }

    fn note(&mut self, report: Report) {
        let samples = match report {
            Report::Settings(settings) => {
                self.settings = settings;
                return;
            }
            Report::State(state) => {
                self.has_state = true;
                self.state = state;
                return;
            }
            Report::First(samples) => {
                self.has_first = true;
                samples
            }
            Report::Idle(samples) => {
                self.idle_readings += 1;
                samples
            }
            Report::Between(samples) => samples,
            Report::Last(samples) => {
                self.has_last = true;
                samples
            }
        };
        self.inbox.extend(samples);
    }
}

impl Moment {
    fn now() -> Self {
        Self {
            times: SystemTimes::read().ok(),
            usage: process_usage(),
            at_ns: clock::monotonic_ns(),
        }
    }
}

/// What is sent to an address of this host passes through its loopback, whichever interface holds that address.
fn interface(local: Option<SocketAddr>, peer: SocketAddr) -> Option<String> {
    let of = |end| nic::interface_at(end).ok().flatten();
    if of(peer).is_some() {
        return of((Ipv4Addr::LOCALHOST, 0).into());
    }
    of(local?)
}

const STEP: Duration = Duration::from_millis(50);
/// Before the first reading the sources may still be being opened; a client waits 5 s for its server's answer.
const OPENING_TIMEOUT_NS: u64 = 4_000_000_000;
/// A driver may need this long to answer; then the test continues without its counters.
const DRIVER_TIMEOUT_NS: u64 = 2_000_000_000;
