// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals shown while the test runs: this end's half with the far end's.
//!
//! A linerate server tells its half of each interval when it cuts it: the two come within about half
//! a round trip. What the far end has not told when the next interval ends is shown as unknown.

use super::Client;
use crate::{Event, Protocol, fold};

/// How many intervals were cut, and how many were shown.
#[derive(Debug, Default)]
pub(super) struct Live {
    cut: usize,
    shown: usize,
}

impl Client<'_> {
    /// Cuts an interval that ends at `at_ns` (monotonic).
    pub(super) fn cut(&mut self, at_ns: u64) {
        self.show_remaining();
        self.streams.cut(at_ns);
        self.live.cut += 1;
        self.show_complete();
    }

    /// Shows the last interval if the far end told its half, or if there is none who tells it.
    pub(super) fn show_complete(&mut self) {
        let last = self.live.cut.checked_sub(1);
        if last.is_some_and(|index| self.remote.is_none() || self.reports.at(index).is_some()) {
            self.show_remaining();
        }
    }

    /// Shows the last interval, if it was not yet, with what is known of it.
    pub(super) fn show_remaining(&mut self) {
        while self.live.shown < self.live.cut {
            let index = self.live.shown;
            let far = self.reports.at(index).unwrap_or_default();
            let udp = self.config.protocol == Protocol::Udp;
            let own = self.streams.intervals(index);
            for (direction, interval) in fold::live_at_both_ends(&own, &far, udp) {
                self.observer.observe(&Event::Interval {
                    direction,
                    interval: &interval,
                });
            }
            self.live.shown += 1;
        }
    }
}
