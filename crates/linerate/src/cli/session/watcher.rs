// SPDX-License-Identifier: MIT OR Apache-2.0
//! Passes the events of a running test on to screen, store and record.

use linerate_model::output::{Direction, Interval};
use serde::Serialize;

use super::state::State;
use crate::cli::live::Live;
use crate::cli::progress::Progress;
use crate::cli::sample_log::SampleLog;
use crate::output::Console;
use crate::store::Store;
use linerate_endpoint::{Event, Observer, TestPlan};

/// Observes one test.
pub(super) struct Watcher<'a> {
    pub(super) plan: &'a TestPlan,
    pub(super) console: &'a mut Console,
    pub(super) store: &'a mut Store,
    pub(super) samples: &'a mut SampleLog,
    pub(super) progress: Progress,
    pub(super) live: &'a mut Live,
    pub(super) state: &'a mut State,
}

#[derive(Serialize)]
struct StreamInterval<'a> {
    test: &'a str,
    direction: Direction,
    #[serde(flatten)]
    interval: &'a Interval,
}

impl Observer for Watcher<'_> {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::Interval {
            direction,
            interval,
        } = event
        {
            let (direction, interval) = (*direction, *interval);
            let test = &self.plan.name;
            let _ = self.console.event(
                "interval",
                &StreamInterval {
                    test,
                    direction,
                    interval,
                },
            );
        }
        if let Event::Samples(samples) = event {
            for sample in *samples {
                self.store.sample(sample);
                self.samples.take(sample);
            }
        }
        if let Event::Settings(settings) = event {
            self.store.settings(settings);
            self.state.learn(settings);
        }
        if let Event::State(settings) = event {
            self.state.update(settings, self.store);
        }
        if let Event::Latency {
            phase,
            buckets,
            over_time,
        } = event
        {
            self.store.latency(*phase, buckets);
            self.store.latency_over_time(*phase, over_time);
        }
        if matches!(event, Event::Started) {
            let _ = self.console.event(
                "start",
                &serde_json::json!({ "test": self.plan.name, "host": self.plan.host }),
            );
        }
        self.progress.show(self.console, self.plan, event);
        self.live.show(self.console, self.plan, event);
    }
}
