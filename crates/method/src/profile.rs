// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles: named sets of waits and durations of a forwarding test.
//!
//! RFC 2544 asks for trials of 60 s (§24) and waits of 2, 2 and 5 s around each (§23). Only `strict`
//! complies; [`Profile::deviations`] lists what the others shorten.
//!
//! The profiles are data, `knowledge/profiles/*.toml` with a reason for each deviation, turned into constants by `build.rs`.

mod wall_time;

use crate::search::Goal;

/// A named set of waits and durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    pub name: &'static str,
    pub waits: Waits,
    /// The throughput goal, without loss. [`Self::goal`] returns it for another loss ratio.
    pub throughput: Goal,
    /// Default limit of one search in seconds; its bounds so far are then reported.
    pub search_limit_s: Option<f64>,
    /// Whether the partial-drop rate is searched as well.
    pub with_pdr: bool,
    /// Whether the loss curve and the back-to-back frames are measured by default.
    pub with_curves: bool,
    /// Seconds of one trial of the frame loss curve (RFC 2544 §26.3).
    pub loss_curve_trial_s: f64,
    /// Seconds of traffic of one latency measurement (RFC 2544 §26.2 asks for 120).
    pub latency_stream_s: f64,
    /// Seconds before the first frame counts for latency (RFC 8219 §7.2: 60).
    pub latency_settle_s: f64,
    /// Repetitions of the latency measurement (RFC 8219 §7.2: at least 20).
    pub latency_repeats: u32,
    /// Independent back-to-back searches for each size (RFC 9004 §6.3: N, to be reported).
    pub burst_searches: u32,
    /// The longest burst tried in seconds (RFC 9004 §6.2: up to 30).
    pub burst_limit_s: f64,
    /// The wait for residual frames of a burst in seconds (RFC 9004 §6.2: 2).
    pub burst_residual_s: f64,
    /// Seconds of overload before the rate is halved (RFC 2544 §26.5: at least 60).
    pub overload_s: f64,
    /// Seconds observed at the halved rate.
    pub recovery_s: f64,
    /// Seconds observed after a reset (RFC 6201).
    pub reset_s: f64,
    /// Repetitions of recovery and reset.
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

/// A requirement of an RFC, and the value that it concerns.
type Asked = (&'static str, fn(&Profile) -> f64);

impl Profile {
    /// Returns the profile with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::STRICT, Self::LAB, Self::QUICK]
            .into_iter()
            .find(|profile| profile.name == name)
    }

    /// The default goals of the profile.
    pub fn goals(&self) -> Vec<Goal> {
        let mut goals = vec![self.throughput];
        if self.with_pdr {
            goals.push(self.goal(Goal::pdr().loss_ratio));
        }
        goals
    }

    /// The profile's goal with some loss allowed. The width is at least the loss ratio, which limits the
    /// precision of a trial (RFC 9971).
    pub fn goal(&self, loss_ratio: f64) -> Goal {
        Goal {
            loss_ratio,
            width: self.throughput.width.max(loss_ratio),
            ..self.throughput
        }
    }

    /// Returns the durations that are shorter than the RFCs require, as text; empty for `strict`.
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
    /// The duration of a trial beyond its traffic, in seconds.
    pub fn per_trial_s(&self) -> f64 {
        self.learning_s + self.residual_s + self.settle_s
    }

    /// Extends the last wait so that a trial takes this many seconds beyond its traffic.
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

    /// A profile's rate is RFC 2544's throughput only if each trial of a load counts.
    #[test]
    fn a_goal_that_forgives_a_lossy_trial_is_not_rfc_2544() {
        for profile in [Profile::STRICT, Profile::LAB, Profile::QUICK] {
            for goal in profile.goals() {
                let forgives = goal.loss_ratio == 0.0 && goal.exceed_ratio > 0.0;
                assert_eq!(goal.deviation("ndr").is_some(), forgives, "{goal:?}");
            }
        }
        assert_eq!(Profile::STRICT.throughput.deviation("ndr"), None);
        assert_eq!(Goal::rfc2544().deviation("rfc2544"), None);
        let named = Profile::LAB.throughput.deviation("ndr").unwrap();
        assert!(named.starts_with("RFC 2544 §26.1: ndr: 50 % of a load's trials"));
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
