// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits of concurrent tests and streams. Without a control connection, everything that one address
//! sends at a time is one test; its streams are UDP flows and TCP connections.

use crate::plan::ServeOptions;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The slots of one server.
#[derive(Debug)]
pub(super) struct Slots {
    most_tests: usize,
    most_streams: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug)]
struct Taken {
    streams: HashMap<IpAddr, usize>,
    finished: u64,
    idle_since: Instant,
}

/// A slot, released when dropped.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    client: IpAddr,
}

/// Why there is no slot, with the number of those that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// All streams of one of the served addresses have to end first.
    Tests(usize),
    /// Any stream has to end first.
    Streams(usize),
}

impl fmt::Display for Full {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tests(taken) => write!(out, "already running {taken} tests"),
            Self::Streams(taken) => write!(out, "already serving {taken} streams"),
        }
    }
}

impl Slots {
    /// All free.
    pub(super) fn new(options: &ServeOptions) -> Self {
        Self {
            most_tests: options.max_tests.into(),
            most_streams: options.max_streams.into(),
            taken: Mutex::new(Taken {
                streams: HashMap::new(),
                finished: 0,
                idle_since: Instant::now(),
            }),
        }
    }

    /// Returns a slot for one more stream of `client`.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn take(&self, client: IpAddr) -> Result<Slot<'_>, Full> {
        let mut taken = self.lock();
        if !taken.streams.contains_key(&client) && taken.streams.len() >= self.most_tests {
            return Err(Full::Tests(taken.streams.len()));
        }
        let streams: usize = taken.streams.values().sum();
        if streams >= self.most_streams {
            return Err(Full::Streams(streams));
        }
        *taken.streams.entry(client).or_insert(0) += 1;
        Ok(Slot {
            slots: self,
            client,
        })
    }

    /// The number of streams of `client`, UDP and TCP.
    pub(super) fn streams_of(&self, client: IpAddr) -> usize {
        self.lock().streams.get(&client).copied().unwrap_or(0)
    }

    /// How many streams have ended well, and since when nothing is served (`None`: something is).
    pub(super) fn state(&self) -> (u64, Option<Duration>) {
        let taken = self.lock();
        let idle = taken.streams.is_empty().then(|| taken.idle_since.elapsed());
        (taken.finished, idle)
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Its stream ended well.
    pub(super) fn finish(&self) {
        self.slots.lock().finished += 1;
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut taken = self.slots.lock();
        taken.idle_since = Instant::now();
        let left = taken.streams.get(&self.client).copied().unwrap_or(0);
        if left > 1 {
            taken.streams.insert(self.client, left - 1);
        } else {
            taken.streams.remove(&self.client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_address_are_one_test() {
        let slots = Slots::new(&ServeOptions {
            max_tests: 1,
            max_streams: 2,
            ..ServeOptions::default()
        });
        let [one, two] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse::<IpAddr>().unwrap());
        let first = slots.take(one).unwrap();
        assert_eq!(slots.take(two).unwrap_err(), Full::Tests(1));
        let second = slots.take(one).unwrap();
        assert_eq!(slots.take(one).unwrap_err(), Full::Streams(2));
        assert_eq!((slots.streams_of(one), slots.streams_of(two)), (2, 0));
        first.finish();
        drop((first, second));
        assert!(slots.take(two).is_ok());
        let (finished, idle) = slots.state();
        assert!(finished == 1 && idle.is_some());
    }
}
