// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long everything takes: the waits and durations of a forwarding test, by name.
//!
//! RFC 2544 asks for trials of 60 s (§24) and waits of 2, 2 and 5 s around each (§23). Only `strict`
//! keeps to that; what the others shorten is a deviation, and [`Profile::deviations`] says so.

mod wall_time;

use crate::back_to_back::RESIDUAL_S;
use crate::search::Goal;

/// A named set of waits and durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    pub name: &'static str,
    pub waits: Waits,
    /// The throughput goal, without loss. [`Self::goal`] gives it for another loss ratio.
    pub throughput: Goal,
    /// Seconds after which one search ends, if it was not said otherwise; its bounds are told as far
    /// as they are known.
    pub search_limit_s: Option<f64>,
    /// Whether the partial-drop rate is searched for together with the throughput.
    pub with_pdr: bool,
    /// Whether the loss curve and the back-to-back frames are measured without being asked for.
    pub with_curves: bool,
    /// One trial of the frame loss curve (RFC 2544 §26.3).
    pub loss_curve_trial_s: f64,
    /// Seconds of traffic of one latency measurement (RFC 2544 §26.2 asks for 120).
    pub latency_stream_s: f64,
    /// Seconds before the first frame counts for latency (RFC 8219 §7.2: 60).
    pub latency_settle_s: f64,
    /// How often latency is measured (RFC 8219 §7.2: at least 20 times).
    pub latency_repeats: u32,
    /// Independent back-to-back searches for each size (RFC 9004 §6.3: N, to be reported).
    pub burst_searches: u32,
    /// The longest burst tried in seconds (RFC 9004 §6.2: up to 30).
    pub burst_limit_s: f64,
    /// The wait for residual frames of a burst in seconds (RFC 9004 §6.2: 2).
    pub burst_residual_s: f64,
    /// Seconds of overload before the rate is halved (RFC 2544 §26.5: at least 60).
    pub overload_s: f64,
    /// Seconds watched at the halved rate.
    pub recovery_s: f64,
    /// Seconds watched for the device to come back from a reset (RFC 6201).
    pub reset_s: f64,
    /// How often recovery and reset are measured.
    pub repeats: u32,
}

/// The waits of one trial in seconds (RFC 2544 §23).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waits {
    /// After the learning frames (§23 b).
    pub learning_s: f64,
    /// For residual frames, which still count (§23 d).
    pub residual_s: f64,
    /// For the device to settle (§23 e).
    pub settle_s: f64,
}

impl Profile {
    /// To the letter: hours for all sizes.
    pub const STRICT: Self = Self {
        name: "strict",
        waits: Waits {
            learning_s: 2.0,
            residual_s: 2.0,
            settle_s: 5.0,
        },
        throughput: Goal {
            initial_trial_s: 60.0,
            preceding_targets: 0,
            ..Goal::rfc2544()
        },
        search_limit_s: None,
        with_pdr: false,
        with_curves: true,
        loss_curve_trial_s: 60.0,
        latency_stream_s: 120.0,
        latency_settle_s: 60.0,
        latency_repeats: 20,
        burst_searches: 50,
        burst_limit_s: 30.0,
        burst_residual_s: RESIDUAL_S,
        overload_s: 60.0,
        recovery_s: 60.0,
        reset_s: 300.0,
        repeats: 10,
    };

    /// For a bench that is at hand: full-length trials of 10 s, a loss is verified once.
    pub const LAB: Self = Self {
        name: "lab",
        waits: Waits {
            learning_s: 0.5,
            residual_s: 0.5,
            settle_s: 0.5,
        },
        throughput: Goal {
            exceed_ratio: 0.5,
            initial_trial_s: 1.0,
            final_trial_s: 10.0,
            duration_sum_s: 20.0,
            ..Goal::rfc2544()
        },
        search_limit_s: None,
        with_pdr: true,
        with_curves: true,
        loss_curve_trial_s: 10.0,
        latency_stream_s: 20.0,
        latency_settle_s: 5.0,
        latency_repeats: 5,
        burst_searches: 5,
        burst_limit_s: 5.0,
        burst_residual_s: 0.5,
        overload_s: 10.0,
        recovery_s: 10.0,
        reset_s: 120.0,
        repeats: 3,
    };

    /// All seven sizes in a few minutes: two good seconds out of three decide a load.
    pub const QUICK: Self = Self {
        name: "quick",
        waits: Waits {
            learning_s: 0.1,
            residual_s: 0.1,
            settle_s: 0.1,
        },
        throughput: Goal {
            initial_trial_s: 0.5,
            final_trial_s: 1.0,
            duration_sum_s: 3.0,
            preceding_targets: 1,
            ..Goal::ndr()
        },
        search_limit_s: Some(40.0),
        with_pdr: true,
        with_curves: false,
        loss_curve_trial_s: 1.0,
        latency_stream_s: 2.0,
        latency_settle_s: 0.5,
        latency_repeats: 1,
        burst_searches: 3,
        burst_limit_s: 1.0,
        burst_residual_s: 0.1,
        overload_s: 2.0,
        recovery_s: 2.0,
        reset_s: 60.0,
        repeats: 1,
    };

    /// The profile of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::STRICT, Self::LAB, Self::QUICK]
            .into_iter()
            .find(|profile| profile.name == name)
    }

    /// The goals that the profile searches for unless told otherwise.
    pub fn goals(&self) -> Vec<Goal> {
        let mut goals = vec![self.throughput];
        if self.with_pdr {
            goals.push(self.goal(Goal::pdr().loss_ratio));
        }
        goals
    }

    /// The profile's goal with some loss allowed. A width below the loss ratio would ask for more
    /// than one trial can tell (RFC 9971), so it grows with it.
    pub fn goal(&self, loss_ratio: f64) -> Goal {
        Goal {
            loss_ratio,
            width: self.throughput.width.max(loss_ratio),
            ..self.throughput
        }
    }

    /// What is shorter than the RFCs ask, in words for the report; empty for `strict`.
    pub fn deviations(&self) -> Vec<String> {
        let strict = Self::STRICT;
        let table = [
            (
                "RFC 2544 §24: full-length trials",
                self.throughput.final_trial_s,
                strict.throughput.final_trial_s,
            ),
            (
                "RFC 2544 §23 b: wait after learning frames",
                self.waits.learning_s,
                strict.waits.learning_s,
            ),
            (
                "RFC 2544 §23 d: wait for residual frames",
                self.waits.residual_s,
                strict.waits.residual_s,
            ),
            (
                "RFC 2544 §23 e: wait for the device to settle",
                self.waits.settle_s,
                strict.waits.settle_s,
            ),
            (
                "RFC 9004 §6.2: wait for residual frames of a burst",
                self.burst_residual_s,
                strict.burst_residual_s,
            ),
            (
                "RFC 9004 §6.2: longest burst",
                self.burst_limit_s,
                strict.burst_limit_s,
            ),
            (
                "RFC 2544 §26.2: latency stream",
                self.latency_stream_s,
                strict.latency_stream_s,
            ),
            (
                "RFC 8219 §7.2: latency after",
                self.latency_settle_s,
                strict.latency_settle_s,
            ),
            (
                "RFC 2544 §26.5: overload before recovery",
                self.overload_s,
                strict.overload_s,
            ),
        ];
        let shorter = table.into_iter().filter(|(_, ours, asked)| ours < asked);
        shorter
            .map(|(what, ours, asked)| format!("{what}: {ours} s, not {asked} s"))
            .collect()
    }
}

impl Waits {
    /// What each trial takes beyond its traffic, in seconds.
    pub fn per_trial_s(&self) -> f64 {
        self.learning_s + self.residual_s + self.settle_s
    }

    /// As if the last wait were longer: what trials take that need so many seconds in all beside their traffic.
    #[must_use]
    pub fn taking(self, per_trial_s: f64) -> Self {
        let more_s = (per_trial_s - self.per_trial_s()).max(0.0);
        Self {
            settle_s: self.settle_s + more_s,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Controller;

    #[test]
    fn every_profile_can_be_searched_with() {
        for name in ["strict", "lab", "quick"] {
            let profile = Profile::named(name).unwrap();
            assert_eq!(profile.name, name);
            assert!(Controller::new(&profile.goals(), 100.0, 1_488_095.0).is_ok());
            assert!(profile.goal(0.02).width >= 0.02);
        }
        assert_eq!(Profile::named("slow"), None);
    }

    #[test]
    fn only_strict_keeps_to_the_letter() {
        assert_eq!(Profile::STRICT.deviations(), Vec::<String>::new());
        assert_eq!(Profile::LAB.deviations().len(), 9);
        assert_eq!(
            Profile::QUICK.deviations()[0],
            "RFC 2544 §24: full-length trials: 1 s, not 60 s"
        );
    }
}
