// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long everything takes: the waits and durations of a forwarding test, by name.
//!
//! RFC 2544 asks for trials of 60 s (§24) and waits of 2, 2 and 5 s around each (§23). Only `strict`
//! keeps to that; what the others shorten is a deviation, and [`Profile::deviations`] says so.
//!
//! The profiles are data, `knowledge/profiles/*.toml` with a reason for each deviation, made constants by `build.rs`.

mod wall_time;

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

include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// What an RFC asks, and the value that it is about.
type Asked = (&'static str, fn(&Profile) -> f64);

impl Profile {
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
        let values = ASKED.iter().map(|(what, of)| (what, of(self), of(&strict)));
        let shorter = values.filter(|(_, ours, asked)| ours < asked);
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
