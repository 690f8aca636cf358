// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals shown while the test runs: this end's half with the far end's.
//!
//! A linerate server sends its half of each interval at its end: the halves are about half a round
//! trip apart. A half that is missing when the next interval ends is shown as unknown.

use super::Client;
use crate::fold::{self, Halves};
use crate::stream_config::StreamConfig;
use crate::{Event, Protocol};
use linerate_linux::clock::monotonic_ns;
use linerate_model::output::{Direction, Interval};

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

    /// Before the first interval has ended: what this end has sent and received.
    pub(super) fn show_so_far(&mut self) {
        if self.live.cut > 0 || !self.load {
            return;
        }
        let elapsed_ns = monotonic_ns().saturating_sub(self.start_ns);
        let (sent, (received, _)) = (self.streams.sent(), self.streams.received());
        for (direction, bytes) in [(Direction::Up, sent), (Direction::Down, received)] {
            if bytes > 0 {
                self.observer.observe(&Event::SoFar {
                    direction,
                    bytes,
                    elapsed_ns,
                });
            }
        }
    }

    /// Shows the last interval if the far half is there, or if the far end sends none.
    pub(super) fn show_complete(&mut self) {
        let last = self.live.cut.checked_sub(1);
        if last.is_some_and(|index| self.remote.is_none() || self.reports.at(index).is_some()) {
            self.show_remaining();
        }
    }

    /// Shows the last interval, if it was not shown yet.
    pub(super) fn show_remaining(&mut self) {
        while self.live.shown < self.live.cut {
            let index = self.live.shown;
            let far = self.reports.at(index).unwrap_or_default();
            let udp = self.config.protocol == Protocol::Udp;
            let own = self.streams.intervals(index);
            for (id, direction, interval) in self.by_stream(&own, &far) {
                self.observer.observe(&Event::StreamInterval {
                    id,
                    direction,
                    interval: &interval,
                });
            }
            for (direction, interval) in fold::live_at_both_ends(&own, &far, udp) {
                self.observer.observe(&Event::Interval {
                    direction,
                    interval: &interval,
                });
            }
            self.live.shown += 1;
        }
    }

    /// Each stream's part of an interval; nothing for one stream per direction.
    fn by_stream(&self, own: &Halves<'_>, far: &Halves<'_>) -> Vec<(u32, Direction, Interval)> {
        if self.config.streams < 2 {
            return Vec::new();
        }
        let udp = self.config.protocol == Protocol::Udp;
        let streams = 0..self.config.streams_total();
        let streams =
            streams.map(|index| (StreamConfig::id(index), self.config.client_sends(index)));
        fold::live_by_stream(streams, own, far, udp)
    }

    /// Which ends the streams have.
    pub(super) fn show_streams(&mut self) {
        let Some(own) = self.own_address() else {
            return;
        };
        for (id, port) in self.streams.ports() {
            self.observer.observe(&Event::Stream {
                id,
                local: (own, port).into(),
                remote: self.server,
            });
        }
    }
}
