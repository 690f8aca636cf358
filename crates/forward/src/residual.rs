// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wait for residual frames. RFC 2544 section 23 d: two seconds.
//!
//! A profile may wait less. A device that gets little of a processor, such as an emulated one, holds frames for longer:
//! while frames still arrive, the wait continues, up to the RFC's two seconds.

use std::time::{Duration, Instant};

use crate::sender::Sent;
use crate::tester::Tester;

/// Waits at least `least_s`, and then until nothing is missing or nothing has arrived for `least_s`.
pub(crate) fn wait(tester: &Tester<'_>, sent: &[Option<Sent>; 2], least_s: f64) {
    let due = sent.iter().flatten().map(|one| one.frames).sum();
    let mut residual = Residual::new(due, Duration::from_secs_f64(least_s));
    let begun = Instant::now();
    while tester.check_interrupt().is_ok() {
        let arrived = tester.ports.iter().map(|port| port.arrived()).sum();
        match residual.pause(arrived, begun.elapsed()) {
            Some(pause) => tester.pause(pause.as_secs_f64()),
            None => return,
        }
    }
}

/// When to stop waiting.
#[derive(Debug)]
struct Residual {
    due: u64,
    least: Duration,
    arrived: u64,
    /// When the last frame was noticed.
    since: Duration,
}

impl Residual {
    const fn new(due: u64, least: Duration) -> Self {
        Self {
            due,
            least,
            arrived: 0,
            since: Duration::ZERO,
        }
    }

    /// How long to wait before the next look, after `elapsed` with this many frames; `None`: not any more.
    fn pause(&mut self, arrived: u64, elapsed: Duration) -> Option<Duration> {
        if arrived > self.arrived {
            (self.arrived, self.since) = (arrived, elapsed);
        }
        let end = match arrived < self.due {
            true => (self.since + self.least).min(LONGEST.max(self.least)),
            false => self.least,
        };
        let left = end.saturating_sub(elapsed);
        (!left.is_zero()).then(|| left.min(STEP))
    }
}

const LONGEST: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    /// How long it waits for frames of which `arrived` of 100 have come at a time, milliseconds.
    fn waited(least_ms: u64, arrived: impl Fn(u64) -> u64) -> u64 {
        let mut residual = Residual::new(100, Duration::from_millis(least_ms));
        let mut now = Duration::ZERO;
        while let Some(pause) = residual.pause(arrived(now.as_millis() as u64), now) {
            assert!(!pause.is_zero() && pause <= STEP);
            now += pause;
        }
        now.as_millis() as u64
    }

    #[test]
    fn a_wait_ends_when_all_frames_or_none_arrive() {
        assert_eq!(waited(100, |_| 100), 100, "late copies still count");
        assert_eq!(waited(100, |_| 0), 100, "the device lost them all");
        assert_eq!(waited(100, |_| 90), 100, "the device lost ten");
    }

    #[test]
    fn frames_that_a_device_holds_are_waited_for() {
        let slow = |now: u64| (now / 10).min(100);
        assert_eq!(waited(100, slow), 1000, "all of them, and no longer");
        let lossy = |now: u64| (now / 10).min(50);
        assert_eq!(waited(100, lossy), 600, "the last came after 0.5 s");
    }

    #[test]
    fn a_wait_has_an_end() {
        let endless = |now: u64| now / 100;
        assert_eq!(waited(100, endless), 2000);
        assert_eq!(waited(2000, endless), 2000, "as the RFC has it");
        assert_eq!(waited(9000, endless), 9000, "a burst's own wait");
    }
}
