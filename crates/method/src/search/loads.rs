// SPDX-License-Identifier: MIT OR Apache-2.0
//! All trials by load, and the relevant bounds.

use std::collections::BTreeMap;

use super::classify::{Rule, Trial, Verdict};

/// Trials by lattice step.
#[derive(Debug, Clone, Default)]
pub(super) struct Loads {
    trials: BTreeMap<usize, Vec<Trial>>,
}

/// The relevant bounds (RFC 9971, Relevant Upper and Lower Bound) as lattice steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bracket {
    /// The largest lower bound below `upper`; lower bounds above it are irrelevant.
    pub(super) lower: Option<usize>,
    /// The smallest upper bound.
    pub(super) upper: Option<usize>,
}

impl Loads {
    pub(super) fn add(&mut self, step: usize, trial: Trial) {
        self.trials.entry(step).or_default().push(trial);
    }

    pub(super) fn at(&self, step: usize) -> &[Trial] {
        self.trials.get(&step).map_or(&[], Vec::as_slice)
    }

    pub(super) fn bracket(&self, rule: &Rule) -> Bracket {
        let mut bracket = Bracket::default();
        for (&step, trials) in &self.trials {
            match rule.classify(trials) {
                Verdict::Lower => bracket.lower = Some(step),
                Verdict::Undecided => {}
                Verdict::Upper => {
                    bracket.upper = Some(step);
                    break;
                }
            }
        }
        bracket
    }
}

impl Bracket {
    /// The distance of the bounds in steps; `None` while one is missing.
    pub(super) fn width_steps(&self) -> Option<usize> {
        Some(self.upper?.saturating_sub(self.lower?))
    }

    /// Whether a trial at `step` could add or improve a bound, given the target width `enough_steps`.
    pub(super) fn is_worth(&self, step: usize, enough_steps: usize) -> bool {
        self.lower.is_none_or(|lower| lower < step)
            && self.upper.is_none_or(|upper| step < upper)
            && self.width_steps().is_none_or(|width| width > enough_steps)
    }
}
