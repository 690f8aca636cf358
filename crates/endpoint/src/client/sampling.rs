// SPDX-License-Identifier: MIT OR Apache-2.0
//! Passes the samples of both ends to the observer, each with the test that it belongs to.

use super::{Client, Ended};
use crate::Event;
use linerate_linux::clock::monotonic_ns;
use linerate_model::output::Role;
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;

impl Client<'_> {
    /// The idle control interval: both ends count, and nothing is sent.
    pub(super) fn idle_control(&mut self) -> Result<(), Ended> {
        if self.plan.control_ms == 0 {
            return Ok(());
        }
        self.sampler.read_idle();
        self.sampler.read_settings(self.plan.settings);
        let end_ns = monotonic_ns() + self.plan.control_ms * 1_000_000;
        self.idle_until(end_ns, |client| client.interrupt.requested().is_some())?;
        self.sampler.read_idle();
        Ok(())
    }

    /// Without a load a test is at rest all the time.
    pub(super) fn sample_phase(&self) -> Phase {
        if self.load { Phase::Load } else { Phase::Idle }
    }

    /// Passes on the samples and settings of this end.
    pub(super) fn report_samples(&mut self) {
        let samples = self.sampler.take();
        self.report_samples_of(Role::Local, samples);
        let settings = self.sampler.take_settings();
        self.report_settings(Role::Local, settings);
        let state = self.sampler.take_state();
        self.report_state(Role::Local, state);
    }

    /// Takes the last sample while the connection is served.
    pub(super) fn sample_last(&mut self) -> Result<(), Ended> {
        self.sampler.finish();
        while !self.sampler.has_ended() {
            self.idle_until(monotonic_ns() + GLANCE_NS, |_| false)?;
        }
        self.report_samples();
        Ok(())
    }

    /// Passes on the settings of `host`.
    pub(super) fn report_settings(&mut self, host: Role, mut settings: Vec<Setting>) {
        settings.iter_mut().for_each(|setting| setting.host = host);
        if !settings.is_empty() {
            self.observer.observe(&Event::Settings(&settings));
        }
    }

    /// Passes on the state of `host` after the test.
    pub(super) fn report_state(&mut self, host: Role, mut state: Vec<Setting>) {
        state.iter_mut().for_each(|setting| setting.host = host);
        if !state.is_empty() {
            self.observer.observe(&Event::State(&state));
        }
    }

    /// Passes on samples of `host` as part of this test.
    pub(super) fn report_samples_of(&mut self, host: Role, mut samples: Vec<Sample>) {
        for sample in &mut samples {
            sample.host = host;
            sample.group = Some(self.plan.group.clone());
            // An older server does not say.
            sample.phase = sample.phase.or(Some(self.sample_phase()));
        }
        if !samples.is_empty() {
            self.observer.observe(&Event::Samples(&samples));
        }
    }
}

/// The control connection is served this often while counters are read.
const GLANCE_NS: u64 = 1_000_000;
