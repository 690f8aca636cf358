// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that reads: on order, and once a second between begin and end.

use super::busy_clock::BusyClock;
use super::drops::{Drops, Followed};
use super::reader::Reader;
use super::{Audience, UdpSockets, settings};
use linerate_linux::clock::monotonic_ns;
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;
use linerate_model::state::digest;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// An order to the thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// Read once, at rest: the beginning or the end of an interval.
    Once,
    /// Read, and then once a second.
    Begin(Phase),
    /// Read the settings of this host.
    Settings,
    /// Read the state of this host again. The digest of the one that the user of the samples knows, unless this thread
    /// has read the settings.
    State(u64),
    /// Read for the last time, when the counters have settled.
    End,
}

/// The result of an order.
#[derive(Debug)]
pub(super) enum Report {
    /// At [`Order::Begin`].
    First(Vec<Sample>),
    /// At [`Order::Once`].
    Idle(Vec<Sample>),
    /// A second after another.
    Between(Vec<Sample>),
    /// At [`Order::End`].
    Last(Vec<Sample>),
    /// At [`Order::Settings`].
    Settings(Vec<Setting>),
    /// At [`Order::State`]: empty if it has not changed.
    State(Vec<Setting>),
}

/// A handle to the thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct SamplerThread {
    orders: Sender<Order>,
    reports: Receiver<Report>,
}

/// What the thread reads.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) interface: Option<String>,
    pub(super) audience: Audience,
    pub(super) sockets: UdpSockets,
    pub(super) streams: Arc<Followed>,
}

impl SamplerThread {
    /// Starts the thread in the network namespace of the calling one. It opens the sources itself: the caller has a
    /// peer to answer, and to open them takes seconds on a busy host.
    pub(super) fn start(sources: Sources) -> io::Result<Self> {
        let (orders, taken) = channel();
        let (send, reports) = channel();
        thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || {
                let (interface, audience) = (sources.interface, sources.audience);
                let drops = Drops::open(audience, sources.streams);
                let refused = drops.as_ref().err().cloned();
                let settings = || {
                    let mut all = settings::read(interface.as_deref(), audience);
                    all.extend(refused.clone().map(|why| settings::setting(why, None)));
                    all
                };
                let state = || settings::state(interface.as_deref(), audience);
                let reader = Reader::open(interface.clone(), audience, sources.sockets);
                let hosts = (settings, state);
                work(reader.with(drops.ok()), hosts, &taken, &send);
            })?;
        Ok(Self { orders, reports })
    }

    /// False when the thread is gone.
    pub(super) fn order(&self, order: Order) -> bool {
        self.orders.send(order).is_ok()
    }

    /// A report that is there.
    pub(super) fn report(&self) -> Option<Report> {
        self.reports.try_recv().ok()
    }

    /// The next report, if it comes in time; an error when the thread is gone.
    pub(super) fn wait(&self, longest: Duration) -> Result<Option<Report>, RecvTimeoutError> {
        match self.reports.recv_timeout(longest) {
            Ok(report) => Ok(Some(report)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(gone) => Err(gone),
        }
    }
}

fn work(
    mut reader: Reader,
    (settings, state): (impl Fn() -> Vec<Setting>, impl Fn() -> Vec<Setting>),
    orders: &Receiver<Order>,
    reports: &Sender<Report>,
) {
    let mut rhythm: Option<(Phase, u64)> = None;
    let mut is_resting = false;
    let mut clock = BusyClock::default();
    let mut read_digest = None;
    loop {
        let order = match rhythm {
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some((_, next_ns)) => {
                let wait_ns = next_ns.saturating_sub(monotonic_ns());
                orders.recv_timeout(Duration::from_nanos(wait_ns))
            }
        };
        let report = match (order, rhythm) {
            (Ok(Order::Once), _) => {
                is_resting = !is_resting;
                Report::Idle(match is_resting {
                    true => reader.read(Phase::Idle),
                    false => reader.read_last(Phase::Idle),
                })
            }
            (Ok(Order::Settings), _) => {
                let all = settings();
                read_digest = Some(digest(&all));
                Report::Settings(all)
            }
            (Ok(Order::State(known)), _) => {
                let all = state().into_iter().chain(clock.setting()).collect();
                Report::State(unless_known(all, read_digest.unwrap_or(known)))
            }
            (Ok(Order::Begin(phase)), _) => {
                rhythm = Some((phase, monotonic_ns() + PERIOD_NS));
                reader.restart();
                clock.restart();
                Report::First(reader.read(phase))
            }
            (Ok(Order::End), _) => {
                let phase = rhythm.take().map_or(Phase::Load, |(phase, _)| phase);
                Report::Last(reader.read_settled(phase))
            }
            (Err(RecvTimeoutError::Timeout), Some((phase, next_ns))) => {
                // Held up for seconds, it reads once, not once for each.
                let next_ns = (next_ns + PERIOD_NS).max(monotonic_ns());
                rhythm = Some((phase, next_ns));
                clock.look();
                Report::Between(reader.read(phase))
            }
            _ => return,
        };
        if reports.send(report).is_err() {
            return;
        }
    }
}

/// A state that has changed, with the programs that may have changed it; empty if it has not.
fn unless_known(mut state: Vec<Setting>, known: u64) -> Vec<Setting> {
    if digest(&state) == known {
        return Vec::new();
    }
    if !state.is_empty() {
        state.push(settings::programs());
    }
    state
}

const PERIOD_NS: u64 = 1_000_000_000;
