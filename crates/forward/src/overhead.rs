// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that trials take in addition to their traffic: waits, orders, a busy machine, the device's counters.

use std::time::Duration;

use linerate_method::profile::Waits;

/// The mean of the trials until now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Overhead {
    trials: u32,
    total: Duration,
}

impl Overhead {
    /// Records the overhead of a trial.
    pub(crate) fn record(&mut self, overhead: Duration) {
        self.trials += 1;
        self.total += overhead;
    }

    /// The overhead of the next trial, seconds: at least its waits.
    pub(crate) fn per_trial_s(&self, waits: &Waits) -> f64 {
        let mean_s = self.total.as_secs_f64() / f64::from(self.trials.max(1));
        waits.per_trial_s().max(mean_s)
    }
}
