// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which tests wait for streams, and to whom an arriving connection or hello belongs.
//!
//! One port serves any number of clients: a TCP connection whose first 37 bytes are the cookie of
//! a waiting test is its data stream, anything else opens a new test. Our own UDP hello carries
//! the cookie too; a stock hello carries nothing, so stock UDP tests of one address set up their
//! streams one after the other.

use super::greeter::Greeting;
use linerate_wire::iperf3::cookie::Cookie;
use std::collections::HashMap;
use std::net::{IpAddr, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Something that arrived for a waiting test.
#[derive(Debug)]
pub enum Arrival {
    /// A TCP data stream with its place in the order of accepting (rule: streams are numbered in
    /// accept order, not in the order in which their cookies were read).
    Tcp {
        /// Place in the order of accepting.
        serial: u64,
        /// The connection, its cookie read.
        stream: TcpStream,
    },
    /// A UDP hello, ours or a stock one.
    Udp(Greeting),
}

/// The tests in CREATE_STREAMS.
#[derive(Debug, Default)]
pub struct Registry {
    waiting: Mutex<HashMap<Cookie, Waiting>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Waiting {
    address: IpAddr,
    stock_udp: bool,
    deliver: Sender<Arrival>,
}

/// A place in the registry, given up when dropped.
#[derive(Debug)]
pub struct Place {
    registry: Arc<Registry>,
    cookie: Cookie,
}

impl Registry {
    /// Enters a test that waits for streams. With `stock_udp` it first waits until no other stock
    /// UDP test of that address is setting up, at most until `deadline`.
    ///
    /// Returns `None` when the deadline passed first, or the cookie is already in use.
    pub fn enter(
        self: &Arc<Self>,
        cookie: Cookie,
        address: IpAddr,
        stock_udp: bool,
        deliver: Sender<Arrival>,
        deadline: Instant,
    ) -> Option<Place> {
        let mut waiting = self.lock();
        while waiting.contains_key(&cookie) || (stock_udp && busy(&waiting, address)) {
            let left = deadline.checked_duration_since(Instant::now())?;
            waiting = self.wait(waiting, left);
        }
        waiting.insert(cookie, Waiting { address, stock_udp, deliver });
        Some(Place { registry: Arc::clone(self), cookie })
    }

    /// Delivers a TCP data stream; gives the connection back when no test waits for that cookie.
    pub fn deliver_tcp(&self, cookie: &Cookie, serial: u64, stream: TcpStream) -> Option<TcpStream> {
        let waiting = self.lock();
        let Some(test) = waiting.get(cookie) else { return Some(stream) };
        match test.deliver.send(Arrival::Tcp { serial, stream }) {
            Ok(()) => None,
            Err(refused) => match refused.0 {
                Arrival::Tcp { stream, .. } => Some(stream),
                Arrival::Udp(_) => None,
            },
        }
    }

    /// Delivers a UDP hello to the test with its cookie, or (stock) to the one of its address.
    /// False when nobody waits for it.
    pub fn deliver_udp(&self, greeting: Greeting) -> bool {
        let waiting = self.lock();
        let test = match &greeting.cookie {
            Some(cookie) => waiting.get(cookie),
            None => waiting.values().find(|test| test.stock_udp && test.address == greeting.peer.ip().to_canonical()),
        };
        test.is_some_and(|test| test.deliver.send(Arrival::Udp(greeting)).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Cookie, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        guard: MutexGuard<'a, HashMap<Cookie, Waiting>>,
        left: Duration,
    ) -> MutexGuard<'a, HashMap<Cookie, Waiting>> {
        self.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.cookie);
        self.registry.changed.notify_all();
    }
}

fn busy(waiting: &HashMap<Cookie, Waiting>, address: IpAddr) -> bool {
    waiting.values().any(|test| test.stock_udp && test.address == address)
}
