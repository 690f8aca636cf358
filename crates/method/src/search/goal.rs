// SPDX-License-Identifier: MIT OR Apache-2.0
//! Search goals, and the coarser targets that precede them.

use linerate_model::units::format::exact_percent;

use super::classify::Rule;

/// A search goal (RFC 9971, Search Goal). RFC 2544 throughput, NDR, PDR and TST009 are goals, not
/// algorithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// A trial that loses more than this share is bad; equal is good. [0, 1).
    pub loss_ratio: f64,
    /// The share of the duration sum that bad trials may fill at a lower bound. [0, 1).
    pub exceed_ratio: f64,
    /// The search is done when lower and upper bound are closer than this share of the upper one. (0, 1).
    pub width: f64,
    /// Seconds of the first, shortest trials; not used without preceding targets.
    pub initial_trial_s: f64,
    /// Seconds of a full-length trial.
    pub final_trial_s: f64,
    /// Seconds of full-length trials that decide a load at the latest; at least `final_trial_s`.
    pub duration_sum_s: f64,
    /// Coarser targets with shorter trials before the goal itself; at most 7.
    pub preceding_targets: u32,
    /// Factor by which a step outwards that misses its bound widens the next one; at least 2.
    pub expansion: u32,
    /// The whole search ends if the minimum load does not meet this goal.
    pub fail_fast: bool,
}

/// An invalid goal or range of loads.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GoalError {
    #[error("a search needs at least one goal")]
    NoGoal,
    #[error("{name} {value} must be at least 0 and below 1")]
    Ratio { name: &'static str, value: f64 },
    #[error("width {0} must be above 0 and below 1")]
    Width(f64),
    #[error(
        "durations must be 0 < initial ({initial_s} s) <= final ({final_s} s) <= sum ({sum_s} s)"
    )]
    Durations {
        initial_s: f64,
        final_s: f64,
        sum_s: f64,
    },
    #[error("expansion {0} must be at least 2")]
    Expansion(u32),
    #[error("{0} preceding targets are too many: at most {MOST_PRECEDING}")]
    PrecedingTargets(u32),
    #[error("loads must be 0 < minimum ({min_fps} frames/s) < maximum ({max_fps} frames/s)")]
    Loads { min_fps: f64, max_fps: f64 },
    #[error("{min_fps} frames/s for {trial_s} s is less than one frame: raise the minimum load")]
    NotOneFrame { min_fps: f64, trial_s: f64 },
}

impl Goal {
    /// No-drop rate as FD.io's testbeds define it: no loss, half of 21 trials of 1 s may be bad.
    pub const fn ndr() -> Self {
        Self {
            loss_ratio: 0.0,
            exceed_ratio: 0.5,
            width: 0.005,
            initial_trial_s: 1.0,
            final_trial_s: 1.0,
            duration_sum_s: 21.0,
            preceding_targets: 2,
            expansion: 2,
            fail_fast: false,
        }
    }

    /// Partial-drop rate: as [`Self::ndr`], with 0.5 % of loss allowed.
    pub const fn pdr() -> Self {
        Self {
            loss_ratio: 0.005,
            ..Self::ndr()
        }
    }

    /// RFC 2544 §26.1 throughput: one trial of 60 s (§24) without loss decides; one with loss too.
    pub const fn rfc2544() -> Self {
        Self {
            exceed_ratio: 0.0,
            final_trial_s: 60.0,
            duration_sum_s: 60.0,
            ..Self::ndr()
        }
    }

    /// ETSI GS NFV-TST 009 binary search with loss verification: a trial of 60 s with loss is
    /// repeated, and a load fails only after two of them.
    pub const fn tst009() -> Self {
        Self {
            exceed_ratio: 0.5,
            duration_sum_s: 120.0,
            ..Self::rfc2544()
        }
    }

    /// How a goal without loss differs from RFC 2544's throughput, as text; `None` if no trial of a load may lose.
    pub fn deviation(&self, name: &str) -> Option<String> {
        let differs = self.loss_ratio == 0.0 && self.exceed_ratio > 0.0;
        differs.then(|| {
            let percent = exact_percent(self.exceed_ratio);
            let ratio = self.exceed_ratio;
            format!(
                "RFC 2544 §26.1: {name}: {percent} % of a load's trials may lose frames (exceed ratio {ratio}), not none; use --goal rfc2544 or --profile strict"
            )
        })
    }

    /// The rule that classifies a load for this goal.
    pub fn rule(&self) -> Rule {
        self.rule_for(self.duration_sum_s)
    }

    /// Coarsest first, the goal itself last: widths double backwards, duration sums shrink
    /// geometrically down to the initial trial.
    pub(super) fn targets(&self, width_steps: usize) -> Vec<Target> {
        let count = self.preceding_targets;
        let target = |back: u32| Target {
            rule: self.rule_for(self.sum_before(back)),
            width_steps: width_steps
                .saturating_mul(1 << back.min(24))
                .min(WIDEST_STEPS),
        };
        (0..=count).rev().map(target).collect()
    }

    pub(super) fn validate(&self) -> Result<(), GoalError> {
        for (name, value) in [
            ("loss ratio", self.loss_ratio),
            ("exceed ratio", self.exceed_ratio),
        ] {
            if !(0.0..1.0).contains(&value) {
                return Err(GoalError::Ratio { name, value });
            }
        }
        if !(self.width > 0.0 && self.width < 1.0) {
            return Err(GoalError::Width(self.width));
        }
        if self.expansion < 2 {
            return Err(GoalError::Expansion(self.expansion));
        }
        if self.preceding_targets > MOST_PRECEDING {
            return Err(GoalError::PrecedingTargets(self.preceding_targets));
        }
        self.validate_durations()
    }

    /// The shortest trial of a search for this goal.
    pub(super) fn shortest_trial_s(&self) -> f64 {
        self.rule_for(self.sum_before(self.preceding_targets))
            .full_trial_s
    }

    fn validate_durations(&self) -> Result<(), GoalError> {
        let (initial_s, final_s, sum_s) = (
            self.initial_trial_s,
            self.final_trial_s,
            self.duration_sum_s,
        );
        let ordered = initial_s > 0.0 && initial_s <= final_s && final_s <= sum_s;
        if ordered && sum_s.is_finite() {
            return Ok(());
        }
        Err(GoalError::Durations {
            initial_s,
            final_s,
            sum_s,
        })
    }

    fn sum_before(&self, back: u32) -> f64 {
        if back == 0 {
            return self.duration_sum_s;
        }
        if back >= self.preceding_targets {
            return self.initial_trial_s;
        }
        let share = f64::from(back) / f64::from(self.preceding_targets);
        self.duration_sum_s * (self.initial_trial_s / self.duration_sum_s).powf(share)
    }

    fn rule_for(&self, duration_sum_s: f64) -> Rule {
        Rule {
            loss_ratio: self.loss_ratio,
            exceed_ratio: self.exceed_ratio,
            full_trial_s: self.final_trial_s.min(duration_sum_s),
            duration_sum_s,
        }
    }
}

/// The current target of a selector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    pub(super) rule: Rule,
    /// Close enough, in steps of the lattice.
    pub(super) width_steps: usize,
}

/// Checks that a search for all of `goals` between these loads is possible.
pub(super) fn validate_all(goals: &[Goal], min_fps: f64, max_fps: f64) -> Result<(), GoalError> {
    goals.iter().try_for_each(Goal::validate)?;
    if !(min_fps > 0.0 && min_fps < max_fps && max_fps.is_finite()) {
        return Err(GoalError::Loads { min_fps, max_fps });
    }
    let shortest_s = goals.iter().map(Goal::shortest_trial_s);
    let trial_s = shortest_s.min_by(f64::total_cmp).ok_or(GoalError::NoGoal)?;
    if min_fps * trial_s < 1.0 {
        return Err(GoalError::NotOneFrame { min_fps, trial_s });
    }
    Ok(())
}

const MOST_PRECEDING: u32 = 7;
/// No lattice has more steps.
const WIDEST_STEPS: usize = 1 << 24;
