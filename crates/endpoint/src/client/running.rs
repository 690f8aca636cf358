// SPDX-License-Identifier: MIT OR Apache-2.0
//! The running test: its intervals and samples, and when it is over.

use super::{Client, Ended, STEP_NS};
use crate::{Direction, Event, Protocol};
use linerate_linux::clock::monotonic_ns;

impl Client<'_> {
    pub(super) fn start(&mut self) {
        self.report_samples();
        self.show_streams();
        self.observer.observe(&Event::Started);
        self.start_ns = monotonic_ns();
        if self.config.limit.omit_ns > 0 {
            self.omitted = None;
        }
        self.streams.go(self.start_ns);
        self.start_heartbeat();
        self.sampler.read_settings(self.plan.settings);
    }

    /// The running test, to its end by time, by amount, by the user or by an error.
    pub(super) fn run_until_end(&mut self) -> Result<(), Ended> {
        let interval_ns = if self.plan.interval_ms == 0 {
            u64::MAX
        } else {
            self.plan.interval_ms * 1_000_000
        };
        let mut next_cut_ns = self.start_ns.saturating_add(interval_ns);
        while !self.is_over() {
            if self.interrupt.requested().is_some() {
                self.observer.observe(&Event::Stopping);
                return Ok(());
            }
            if self.omitted.is_none() && monotonic_ns() >= self.warm_ns() {
                self.omitted = Some(self.streams.received());
            }
            let now_ns = monotonic_ns();
            // Behind its end the test waits for its senders, who need the processor.
            let step_ns = (now_ns + STEP_NS)
                .min(next_cut_ns)
                .min(self.end_ns().max(now_ns + SHORT_STEP_NS))
                .min(self.omitted.map_or(self.warm_ns(), |_| u64::MAX));
            if let Some(event) = self.pump(step_ns)? {
                self.note(event)?;
            }
            if monotonic_ns() >= next_cut_ns {
                self.cut(next_cut_ns);
                next_cut_ns = next_cut_ns.saturating_add(interval_ns);
            }
            self.report_samples();
            self.show_so_far();
        }
        Ok(())
    }

    pub(super) fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.config.limit.total_ns())
    }

    /// Whether this side calls the end: its senders have left; as a receiver, the time is up, the
    /// amount is in, or the server says that it has sent all.
    fn is_over(&self) -> bool {
        let now_ns = monotonic_ns();
        let senders_left = self.streams.sending_is_over();
        if !self.load {
            return now_ns >= self.end_ns();
        }
        match self.config.direction {
            Direction::Up => senders_left,
            Direction::Down | Direction::Both if !self.plan.is_by_amount() => {
                now_ns >= self.end_ns() && senders_left
            }
            Direction::Down => {
                self.server_is_done || self.amount_is_in() || self.streams.receiving_is_over()
            }
            Direction::Both => senders_left && (self.server_is_done || self.amount_is_in()),
        }
    }

    /// When the warm-up ends.
    fn warm_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.config.limit.omit_ns)
    }

    /// What came in the warm-up is no part of it.
    fn amount_is_in(&self) -> bool {
        let Some((omitted_bytes, omitted_packets)) = self.omitted else {
            return false;
        };
        let (bytes, packets) = self.streams.received();
        let (bytes, packets) = (bytes - omitted_bytes, packets - omitted_packets);
        self.plan.bytes.is_some_and(|limit| bytes >= limit)
            || (self.config.protocol == Protocol::Udp
                && self.plan.blocks.is_some_and(|limit| packets >= limit))
            || (self.config.protocol == Protocol::Tcp
                && self
                    .plan
                    .blocks
                    .is_some_and(|limit| bytes >= limit * u64::from(self.config.payload_bytes)))
    }
}

const SHORT_STEP_NS: u64 = 1_000_000;
