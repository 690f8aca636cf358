// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests that wait for streams, and which of them a new connection or hello belongs to.
//!
//! One port serves any number of clients: a TCP connection whose first 37 bytes are the cookie of
//! a waiting test is its data stream, anything else opens a new test. Our own UDP hello carries
//! the cookie too; a stock hello carries nothing, so stock UDP tests of one address set up their
//! streams one after the other.

use linerate_linux::udp::{Opened, Options};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::hello::Kind;
use std::collections::HashMap;
use std::net::{IpAddr, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Something that arrived for a waiting test.
#[derive(Debug)]
pub(super) enum Arrival {
    /// A TCP data stream with its place in the order of accepting (streams are numbered in accept
    /// order, not in the order in which their cookies were read).
    Tcp {
        /// Registration in the order of accepting.
        serial: u64,
        /// The connection, its cookie read.
        stream: TcpStream,
    },
    /// A UDP socket connected to the peer, its hello answered.
    Udp {
        /// The index that our own hello names; stock hellos come in order.
        index: Option<u16>,
        /// Data or latency probe.
        kind: Kind,
        /// The socket.
        opened: Opened,
    },
}

/// A test in CREATE_STREAMS.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    /// The control connection's peer.
    pub address: IpAddr,
    /// The streams come with stock hellos.
    pub stock_udp: bool,
    /// The options of its UDP sockets.
    pub udp_options: Options,
    /// Where arrivals go.
    pub deliver: Sender<Arrival>,
    /// How many more may come: a client opens its streams and probes, and repeats a hello at times.
    pub room: Arc<AtomicU32>,
}

impl Waiting {
    /// Whether one more arrival is accepted. Each holds a descriptor until the test has looked at it.
    pub(super) fn takes_one(&self) -> bool {
        let less = |room: u32| room.checked_sub(1);
        self.room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// The tests in CREATE_STREAMS.
#[derive(Debug, Default)]
pub(super) struct Registry {
    waiting: Mutex<HashMap<Cookie, Waiting>>,
    changed: Condvar,
}

/// An entry of the registry, removed when dropped.
#[derive(Debug)]
pub(super) struct Registration {
    registry: Arc<Registry>,
    cookie: Cookie,
}

impl Registry {
    /// Enters a test that waits for streams. A stock UDP test first waits until no other one of
    /// that address is setting up, at most until `deadline`.
    ///
    /// Returns `None` when the deadline passed first, the cookie stays in use, or `is_over` says so.
    pub(super) fn enter(
        self: &Arc<Self>,
        cookie: Cookie,
        test: Waiting,
        deadline: Instant,
        is_over: impl Fn() -> bool,
    ) -> Option<Registration> {
        let mut waiting = self.lock();
        while waiting.contains_key(&cookie) || (test.stock_udp && busy(&waiting, test.address)) {
            let left = deadline.checked_duration_since(Instant::now())?;
            if is_over() {
                return None;
            }
            waiting = self
                .changed
                .wait_timeout(waiting, left.min(GLANCE))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        waiting.insert(cookie, test);
        Some(Registration {
            registry: Arc::clone(self),
            cookie,
        })
    }

    /// The test with that cookie, or (for a stock hello, without one) the one of that address.
    pub(super) fn find(&self, cookie: Option<&Cookie>, address: IpAddr) -> Option<Waiting> {
        let waiting = self.lock();
        match cookie {
            Some(cookie) => waiting
                .get(cookie)
                .filter(|test| test.address == address)
                .cloned(),
            None => waiting
                .values()
                .find(|test| test.stock_udp && test.address == address)
                .cloned(),
        }
    }

    /// Delivers a TCP data stream; gives the connection back when no test waits for that cookie, and closes it when
    /// that test has all that it can use.
    pub(super) fn deliver_tcp(
        &self,
        cookie: &Cookie,
        serial: u64,
        stream: TcpStream,
    ) -> Option<TcpStream> {
        let Some(test) = self.lock().get(cookie).cloned() else {
            return Some(stream);
        };
        if !test.takes_one() {
            return None;
        }
        match test.deliver.send(Arrival::Tcp { serial, stream }) {
            Err(std::sync::mpsc::SendError(Arrival::Tcp { stream, .. })) => Some(stream),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Cookie, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.cookie);
        self.registry.changed.notify_all();
    }
}

/// The stop flag is checked this often.
const GLANCE: Duration = Duration::from_millis(100);

fn busy(waiting: &HashMap<Cookie, Waiting>, address: IpAddr) -> bool {
    waiting
        .values()
        .any(|test| test.stock_udp && test.address == address)
}
