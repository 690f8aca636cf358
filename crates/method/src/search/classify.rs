// SPDX-License-Identifier: MIT OR Apache-2.0
//! Load classification and conditional throughput: the normative part of RFC 9971, to the letter.
//!
//! Where the published text and its own appendix code disagree, the code is followed: the quantile
//! of the conditional throughput is taken over `max(duration_sum, full)`, not over `full` alone.
//! In one point this is stricter than the RFC: a trial in which the tester did not send all that was
//! intended is bad for every goal, so that it can never help to make a lower bound.

use linerate_model::order;

/// What one goal (or a coarser target on the way to it) asks of the trials at one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// A trial that loses more than this share is bad; equal is good. [0, 1).
    pub loss_ratio: f64,
    /// The share of the duration sum that bad trials may fill at a lower bound. [0, 1).
    pub exceed_ratio: f64,
    /// Trials of at least this duration in seconds are full-length, others are short.
    pub full_trial_s: f64,
    /// At most this many seconds of trials decide a load.
    pub duration_sum_s: f64,
}

/// One trial at one load, as far as classification is concerned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Intended duration in seconds: decides between full-length and short.
    pub duration_s: f64,
    /// The seconds that count: the duration, or with overheads where the report says so.
    pub effective_duration_s: f64,
    /// Lost and unsent frames over intended ones, all directions together. [0, 1].
    pub loss_ratio: f64,
    /// The tester sent less than intended: never good, whatever the ratio.
    pub under_run: bool,
}

/// What the trials at one load make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The goal is met here, whatever the trials still missing bring.
    Lower,
    /// The goal is not met here, whatever the trials still missing bring.
    Upper,
    /// More trials decide.
    Undecided,
}

impl Rule {
    /// Classifies a load by all trials at it (RFC 9971, Load Classification).
    pub fn classify(&self, trials: &[Trial]) -> Verdict {
        let seconds = self.seconds(trials);
        let forgiven = seconds.short_low * self.exceed_ratio / (1.0 - self.exceed_ratio);
        let high = seconds.full_high + (seconds.short_high - forgiven).max(0.0);
        let whole = (seconds.full_low + high).max(self.duration_sum_s);
        let limit = whole * (self.exceed_ratio + ROUNDING);
        match (high <= limit, whole - seconds.full_low <= limit) {
            (true, true) => Verdict::Lower,
            (false, false) => Verdict::Upper,
            _ => Verdict::Undecided,
        }
    }

    /// The loss ratio of the conditional throughput: the quantile `1 − exceed_ratio` over the
    /// full-length trials, with what is missing of the duration sum taken as lost altogether.
    /// Meaningful at a lower bound only. 1 without any trial.
    pub fn conditional_loss_ratio(&self, trials: &[Trial]) -> f64 {
        let mut full: Vec<&Trial> = trials.iter().filter(|trial| self.is_full(trial)).collect();
        order::by(&mut full, |a, b| {
            a.judged_ratio().total_cmp(&b.judged_ratio())
        });
        let full_s: f64 = full.iter().map(|trial| trial.effective_duration_s).sum();
        let whole = full_s.max(self.duration_sum_s);
        let mut remaining_s = whole * (1.0 - self.exceed_ratio - ROUNDING);
        let mut quantile = None;
        for trial in full {
            if quantile.is_some() && remaining_s <= 0.0 {
                return quantile.unwrap_or(1.0);
            }
            quantile = Some(trial.judged_ratio());
            remaining_s -= trial.effective_duration_s;
        }
        match quantile {
            Some(ratio) if remaining_s <= 0.0 => ratio,
            _ => 1.0,
        }
    }

    fn seconds(&self, trials: &[Trial]) -> Seconds {
        let mut seconds = Seconds::default();
        for trial in trials {
            let low = !trial.under_run && trial.loss_ratio <= self.loss_ratio;
            *match (self.is_full(trial), low) {
                (true, true) => &mut seconds.full_low,
                (true, false) => &mut seconds.full_high,
                (false, true) => &mut seconds.short_low,
                (false, false) => &mut seconds.short_high,
            } += trial.effective_duration_s;
        }
        seconds
    }

    fn is_full(&self, trial: &Trial) -> bool {
        trial.duration_s >= self.full_trial_s
    }
}

impl Trial {
    /// An under-run sorts after all good trials.
    fn judged_ratio(&self) -> f64 {
        if self.under_run { 1.0 } else { self.loss_ratio }
    }
}

/// Seconds of trials, full-length or short, with low or high loss.
#[derive(Debug, Clone, Copy, Default)]
struct Seconds {
    full_low: f64,
    full_high: f64,
    short_low: f64,
    short_high: f64,
}

/// Durations that are not binary fractions do not sum up exactly: a sum that is short by less than
/// this share is whole.
const ROUNDING: f64 = 1e-9;
