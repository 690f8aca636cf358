// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interruption: the first SIGINT, SIGTERM, SIGHUP or SIGQUIT asks to stop, the second also to skip the drain.
//!
//! Loops ask [`Interrupt::requested`] at least every 100 ms; blocked calls have time-outs no longer than that.
//! SIGPIPE needs nothing here: Rust's start-up ignores it, and writes return `BrokenPipe`.
#![expect(unsafe_code, reason = "installing a signal handler")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{self, SIGHUP, SIGINT};
use signal_hook::low_level;

/// The number of the signal that asks a process to end.
pub const SIGTERM: u8 = consts::SIGTERM as u8;

/// The number of the signal that ends a process at once.
pub const SIGKILL: u8 = consts::SIGKILL as u8;

/// A clonable view of the requests to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    state: Arc<State>,
    /// This view ignores further signals.
    ignored: usize,
}

#[derive(Debug, Default)]
struct State {
    first_signal: AtomicUsize,
    count: AtomicUsize,
}

impl Interrupt {
    /// Installs the handlers. Call once, in `main`, before threads start.
    ///
    /// # Errors
    /// Those of sigaction(2).
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, consts::SIGTERM, SIGHUP, consts::SIGQUIT] {
            let state = Arc::clone(&interrupt.state);
            // SAFETY: the handler only changes two atomics, which is async-signal-safe.
            unsafe { low_level::register(signal, move || state.note(signal)) }?;
        }
        Ok(interrupt)
    }

    /// The number of the first signal that arrived.
    #[must_use]
    pub fn requested(&self) -> Option<u8> {
        if self.count() == 0 {
            return None;
        }
        u8::try_from(self.state.first_signal.load(Ordering::Acquire)).ok()
    }

    /// Whether a second signal arrived: do not even wait for stragglers.
    #[must_use]
    pub fn impatient(&self) -> bool {
        self.count() > 1
    }

    /// A view for what must not be interrupted by mistake: what arrived until now and `more` signals to
    /// come are none to it.
    #[must_use]
    pub fn beyond(&self, more: usize) -> Self {
        Self {
            state: Arc::clone(&self.state),
            ignored: self.state.count.load(Ordering::Acquire) + more,
        }
    }

    fn count(&self) -> usize {
        let all = self.state.count.load(Ordering::Acquire);
        all.saturating_sub(self.ignored)
    }

    /// Acts as if `signal` had arrived (a peer's request, a test).
    pub fn request(&self, signal: u8) {
        self.state.note(i32::from(signal));
    }
}

impl State {
    fn note(&self, signal: i32) {
        let number = usize::try_from(signal).unwrap_or(0);
        // Only the first one is kept.
        let _ = self
            .first_signal
            .compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
        self.count.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_beyond_some_sees_those_that_follow() {
        let interrupt = Interrupt::default();
        interrupt.request(SIGTERM);
        let later = interrupt.beyond(1);
        let seen = || (later.requested().is_some(), later.impatient());
        let expected = [(false, false), (true, false), (true, true)];
        for (number, expected) in expected.into_iter().enumerate() {
            interrupt.request(SIGTERM);
            assert_eq!(seen(), expected, "after {} more", number + 1);
        }
        assert!(interrupt.impatient());
    }

    #[test]
    fn the_first_signal_is_kept_and_the_second_is_impatience() {
        let interrupt = Interrupt::install().unwrap();
        assert_eq!(interrupt.requested(), None);
        low_level::raise(SIGHUP).unwrap();
        assert_eq!(
            (interrupt.requested(), interrupt.impatient()),
            (Some(SIGHUP as u8), false)
        );
        // Ctrl-\ would end the process before anything is restored.
        low_level::raise(consts::SIGQUIT).unwrap();
        assert_eq!(
            (interrupt.requested(), interrupt.impatient()),
            (Some(SIGHUP as u8), true)
        );
    }
}
