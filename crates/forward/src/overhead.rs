// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that trials take in addition to their traffic: waits, orders, a busy machine, the device's counters.

use std::time::Duration;

use linerate_method::profile::Waits;

/// The mean of the trials until now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Overhead {
    trials: u32,
    total: Duration,
    /// Trials in which the tester's sender could not run for a while.
    stalled: u32,
}

impl Overhead {
    /// Records the overhead of a trial, and whether the tester stalled in it.
    pub(crate) fn record(&mut self, overhead: Duration, is_stalled: bool) {
        self.trials += 1;
        self.total += overhead;
        self.stalled += u32::from(is_stalled);
    }

    /// How often a trial runs until it counts: about half of those in which the tester stalled are repeated, and those
    /// often twice.
    pub(crate) fn attempts(&self) -> f64 {
        1.0 + f64::from(self.stalled) / f64::from(self.trials.max(1))
    }

    /// The overhead of the next trial, seconds: at least its waits.
    pub(crate) fn per_trial_s(&self, waits: &Waits) -> f64 {
        let mean_s = self.total.as_secs_f64() / f64::from(self.trials.max(1));
        waits.per_trial_s().max(mean_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tester_that_stalls_needs_more_attempts() {
        let mut overhead = Overhead::default();
        assert_eq!(overhead.attempts(), 1.0);
        for is_stalled in [false, true, false, true] {
            overhead.record(Duration::from_millis(300), is_stalled);
        }
        assert_eq!(overhead.attempts(), 1.5);
        let waits = Waits {
            learning_s: 0.1,
            residual_s: 0.1,
            settle_s: 0.0,
        };
        assert!((overhead.per_trial_s(&waits) - 0.3).abs() < 1e-9);
    }
}
