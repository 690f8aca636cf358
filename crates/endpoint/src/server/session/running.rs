// SPDX-License-Identifier: MIT OR Apache-2.0
//! The running test: sends intervals and samples until the client ends it.

use super::{SECOND_NS, STEP_NS, Session};
use crate::extension::Message;
use crate::plan::Direction;
use crate::server::limits::MOST_SECONDS;
use linerate_linux::clock::monotonic_ns;
use linerate_model::sample::Phase;
use linerate_wire::iperf3::server::ServerEvent;

impl Session<'_, '_> {
    pub(super) fn start(&mut self) {
        // To open the sources takes seconds on a busy host: the times of the test begin after it.
        self.sampler.begin(if self.is_idle() {
            Phase::Idle
        } else {
            Phase::Load
        });
        self.report_samples();
        let now_ns = monotonic_ns();
        let length_ns = self.length_ns();
        self.control
            .session
            .start(Some(length_ns + GRACE_NS), now_ns);
        self.streams.go(now_ns);
        self.start_heartbeat();
        self.read_settings();
    }

    /// How long the client's test takes at most, its warm-up included.
    fn length_ns(&self) -> u64 {
        let asked = self.request.as_ref().and_then(|request| {
            request
                .duration_ns
                .map(|duration| duration + request.omit_ns)
        });
        let standard = self
            .params
            .time_s
            .filter(|&time_s| time_s > 0)
            .map(|time_s| (time_s + self.params.omit_s.unwrap_or(0)) * SECOND_NS);
        asked.or(standard).unwrap_or(MOST_SECONDS * SECOND_NS)
    }

    /// Serves the running test until the client ends it.
    pub(super) fn run_until_end(&mut self) -> Result<(), String> {
        let interval_ns =
            self.request
                .as_ref()
                .map_or(SECOND_NS, |request| match request.interval_ns {
                    0 => u64::MAX,
                    ns => ns.clamp(MIN_INTERVAL_NS, MAX_INTERVAL_NS),
                });
        let mut next_cut_ns = monotonic_ns().saturating_add(interval_ns);
        loop {
            self.take_late_arrivals();
            let step_ns = monotonic_ns() + STEP_NS;
            match self.pump(step_ns.min(next_cut_ns))? {
                Some(ServerEvent::TestEnd) => return Ok(()),
                Some(event) => self.note(event)?,
                None => {}
            }
            if monotonic_ns() >= next_cut_ns {
                self.streams.cut(next_cut_ns);
                next_cut_ns = next_cut_ns.saturating_add(interval_ns);
                self.send_interval();
            }
            self.report_samples();
            self.announce_own_end();
        }
    }

    /// Sends samples and settings to a linerate client.
    pub(super) fn report_samples(&mut self) {
        let samples = self.sampler.take();
        let settings = self.sampler.take_settings();
        let state = self.sampler.take_state();
        if self.request.is_some() {
            for message in Message::of_samples(samples) {
                self.control.session.agent(&message);
            }
            if !settings.is_empty() {
                let message = Message::of_settings(settings);
                self.control.session.agent(&message);
            }
            if !state.is_empty() {
                self.control.session.agent(&Message::of_state(state));
            }
        }
    }

    /// Sends the last interval and forgets it: the client keeps them all.
    pub(super) fn send_interval(&mut self) {
        if self.request.is_some() {
            let (sent, received) = self.streams.last_intervals();
            let message = Message::Interval {
                sent: sent.into_iter().cloned().collect(),
                received: received.into_iter().cloned().collect(),
            };
            self.control.session.agent(&message);
        }
        self.streams.forget_intervals();
    }

    /// Sends the final counts once all senders of this end have sent their amount.
    fn announce_own_end(&mut self) {
        if self.request.is_some()
            && !self.final_is_sent
            && !self.is_idle()
            && self.config.direction != Direction::Up
            && self.streams.sending_is_over()
        {
            self.streams.stop_sending();
            self.send_final();
        }
    }

    pub(super) fn send_final(&mut self) {
        let streams = self.streams.sent_counts();
        if !self.final_is_sent && !streams.is_empty() {
            self.control.session.agent(&Message::Final {
                streams,
                drift: None,
            });
        }
        self.final_is_sent = true;
    }
}

/// After its time a test may still drain and close.
const GRACE_NS: u64 = 40 * SECOND_NS;
const MIN_INTERVAL_NS: u64 = 100_000_000;
const MAX_INTERVAL_NS: u64 = 86_400 * SECOND_NS;
