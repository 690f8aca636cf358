// SPDX-License-Identifier: MIT OR Apache-2.0
//! The start and stop signals from the control connection to its workers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Workers wait here until the conversation says go, or calls the test off.
#[derive(Debug, Default)]
pub(crate) struct StartLine {
    signal: Mutex<Signal>,
    shown: Condvar,
    stop_sending: AtomicBool,
    stop_receiving: AtomicBool,
    drain: Mutex<Option<Drain>>,
}

#[derive(Debug, Default, Clone, Copy)]
enum Signal {
    #[default]
    Wait,
    Go(u64),
    Off,
}

/// How long a receiver goes on after the end of the test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain {
    /// Leave after this much silence.
    pub(crate) quiet_ns: u64,
    /// Leave at this monotonic time in any case.
    pub(crate) deadline_ns: u64,
    /// When this was ordered.
    pub(crate) ordered_ns: u64,
}

impl StartLine {
    /// Waits for the start; the monotonic start time, or `None` when the test was called off.
    pub(crate) fn wait(&self) -> Option<u64> {
        let mut signal = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *signal {
                Signal::Go(start_ns) => return Some(start_ns),
                Signal::Off => return None,
                Signal::Wait => {
                    signal = self
                        .shown
                        .wait(signal)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }

    /// The start time if the start was given.
    pub(crate) fn started_ns(&self) -> Option<u64> {
        match *self.signal.lock().unwrap_or_else(PoisonError::into_inner) {
            Signal::Go(start_ns) => Some(start_ns),
            Signal::Wait | Signal::Off => None,
        }
    }

    /// Starts every worker; their schedules count from `start_ns` (monotonic).
    pub(crate) fn go(&self, start_ns: u64) {
        self.show(Signal::Go(start_ns));
    }

    /// Ends sending: senders leave after the call that they are in.
    pub(crate) fn stop_sending(&self) {
        self.stop_sending.store(true, Ordering::Relaxed);
    }

    /// Ends receiving after `drain`.
    pub(crate) fn drain(&self, drain: Drain) {
        *self.drain.lock().unwrap_or_else(PoisonError::into_inner) = Some(drain);
        self.stop_receiving.store(true, Ordering::Release);
    }

    /// Calls everything off, started or not.
    pub(crate) fn off(&self) {
        if self.started_ns().is_none() {
            self.show(Signal::Off);
        }
        self.stop_sending();
        self.drain(Drain {
            quiet_ns: 0,
            deadline_ns: 0,
            ordered_ns: 0,
        });
    }

    /// Whether a sender has to leave.
    pub(crate) fn sending_is_over(&self) -> bool {
        self.stop_sending.load(Ordering::Relaxed)
    }

    /// How a receiver has to leave, once it has to.
    pub(crate) fn draining(&self) -> Option<Drain> {
        if !self.stop_receiving.load(Ordering::Acquire) {
            return None;
        }
        *self.drain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, next: Signal) {
        *self.signal.lock().unwrap_or_else(PoisonError::into_inner) = next;
        self.shown.notify_all();
    }
}
