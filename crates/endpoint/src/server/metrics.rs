// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a server has counted since it began, and the page that shows it (`--metrics`). No address or name of a
//! client is in it.

mod exposition;
mod listener;

use crate::plan::{Direction, ServeOptions};
use crate::stop::Stop;
use crate::totals::{Amount, Totals};
use linerate_linux::clock::{monotonic_ns, wall_ns};
use linerate_model::output::Protocol;
pub(crate) use listener::open;
use std::net::TcpListener;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The counters of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    begun_ns: u64,
    most_tests: u16,
    counts: Mutex<Counts>,
}

/// Why a client was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All slots are in use.
    Busy,
    /// It requested more than is allowed or supported.
    Limit,
    /// It did not follow the protocol, in time.
    Protocol,
    /// It was idle while too many others waited.
    Pending,
    /// Its UDP hello belongs to no test.
    Hello,
    /// This host had no thread or descriptor for it.
    System,
}

/// A test's protocol and direction.
pub(crate) type Kind = (Protocol, Direction);

#[derive(Debug, Clone, Default)]
struct Counts {
    /// By protocol and direction.
    tests: [[Tests; 3]; 2],
    /// By protocol.
    traffic: [Traffic; 2],
    /// By protocol; up, down.
    last: [[Option<Last>; 2]; 2],
    refused: [u64; Refusal::ALL.len()],
}

#[derive(Debug, Clone, Copy, Default)]
struct Tests {
    started: u64,
    done: u64,
    failed: u64,
}

/// What this end counted of tests that are done.
#[derive(Debug, Clone, Copy, Default)]
struct Traffic {
    received: Amount,
    sent: Amount,
    lost: u64,
    retransmits: u64,
}

/// The last test that is done.
#[derive(Debug, Clone, Copy)]
struct Last {
    bits_per_second: f64,
    /// Of datagrams that this end was to receive.
    loss_ratio: Option<f64>,
    ended_ns: u64,
}

impl Metrics {
    /// Nothing is counted yet.
    pub(crate) fn new(options: &ServeOptions) -> Self {
        Self {
            begun_ns: monotonic_ns(),
            most_tests: options.max_tests,
            counts: Mutex::default(),
        }
    }

    /// Shows the page until the server stops.
    pub(crate) fn serve(&self, listener: &TcpListener, stop: &Stop) {
        listener::serve(listener, stop, &|openmetrics| {
            exposition::text(self, openmetrics)
        });
    }

    /// A test begins.
    pub(crate) fn begin(&self, kind: Kind) {
        self.tests(kind, |tests| tests.started += 1);
    }

    /// A test that began is over.
    pub(crate) fn end(&self, kind: Kind, is_done: bool) {
        self.tests(kind, |tests| {
            *(if is_done {
                &mut tests.done
            } else {
                &mut tests.failed
            }) += 1;
        });
    }

    /// A client is refused.
    pub(crate) fn refuse(&self, reason: Refusal) {
        if let Some(count) = self.lock().refused.get_mut(reason as usize) {
            *count += 1;
        }
    }

    /// Adds what this end counted in a test that is done.
    pub(crate) fn count(&self, protocol: Protocol, totals: &Totals) {
        let mut counts = self.lock();
        let at = index(protocol);
        let traffic = &mut counts.traffic[at];
        traffic.received.add(totals.received);
        traffic.sent.add(totals.sent);
        traffic.lost += totals.lost;
        traffic.retransmits += totals.retransmits;
        let amounts = [totals.received, totals.sent];
        for (last, amount) in counts.last[at].iter_mut().zip(amounts) {
            *last = amount.and_then(Last::of).or(*last);
        }
        if let (Protocol::Udp, Some(amount), [Some(last), _]) =
            (protocol, totals.received, &mut counts.last[at])
        {
            last.loss_ratio = ratio(totals.lost, amount.packets);
        }
    }

    fn tests(&self, (protocol, direction): Kind, change: impl Fn(&mut Tests)) {
        let direction = match direction {
            Direction::Up => 0,
            Direction::Down => 1,
            Direction::Both => 2,
        };
        change(&mut self.lock().tests[index(protocol)][direction]);
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refusal {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Busy, "busy"),
        (Self::Limit, "limit"),
        (Self::Protocol, "protocol"),
        (Self::Pending, "pending"),
        (Self::Hello, "hello"),
        (Self::System, "system"),
    ];
}

impl Amount {
    fn add(&mut self, other: Option<Self>) {
        let other = other.unwrap_or_default();
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.packets = self.packets.saturating_add(other.packets);
    }
}

impl Last {
    /// `None`: nothing passed.
    fn of(amount: Amount) -> Option<Self> {
        let bits_per_second = amount.bits_per_second().filter(|&rate| rate > 0.0)?;
        Some(Self {
            bits_per_second,
            loss_ratio: None,
            ended_ns: wall_ns(),
        })
    }
}

fn ratio(lost: u64, received: u64) -> Option<f64> {
    let expected = lost.saturating_add(received);
    (expected > 0).then(|| lost as f64 / expected as f64)
}

/// The index of a protocol in the counters.
fn index(protocol: Protocol) -> usize {
    usize::from(protocol == Protocol::Udp)
}
