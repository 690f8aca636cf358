// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters that are fixed before the first run.

use crate::stats::{e_process, normal, sign_flip, student};

/// An experiment's plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Blocks with A as both arms; 0 for none.
    pub aa_blocks: usize,
    /// The maximum number of blocks of A and B, at least [`FEWEST_BLOCKS`].
    pub most_blocks: usize,
    /// Smaller differences do not matter: 0.02 is 2 %.
    pub margin: f64,
    /// Seed of the order of the blocks.
    pub seed: u64,
}

impl Plan {
    /// Whether `ab` can make this plan: judging a damaged record could take hours.
    pub(super) fn is_possible(&self) -> bool {
        self.most_blocks <= MOST_BLOCKS
            && self.aa_blocks <= MOST_BLOCKS
            && self.margin.is_finite()
            && self.margin >= 0.0
    }

    /// The maximum number of runs, A/A included.
    pub fn most_runs(&self) -> usize {
        super::order::RUNS * (self.aa_blocks + self.most_blocks)
    }

    /// The p that the sign-flip test must reach after the last block: 5 % minus the error spent before.
    pub fn last_alpha(&self) -> f64 {
        ALPHA - e_process::error_spent(FEWEST_BLOCKS, self.most_blocks, E_THRESHOLD)
    }

    /// The error of one look for equivalence after `blocks` blocks.
    pub(super) fn equivalence_alpha(&self, blocks: usize) -> f64 {
        let early = self.most_blocks.saturating_sub(FEWEST_BLOCKS);
        match (early, blocks >= self.most_blocks) {
            (0, _) => ALPHA,
            (_, true) => ALPHA - EARLY_EQUIVALENCE,
            (looks, false) => EARLY_EQUIVALENCE / looks as f64,
        }
    }

    /// Returns the ratio minus 1 that this experiment detects with a probability of 80 %, if blocks have the
    /// standard deviation `sd`, known with `df` degrees of freedom. Unlike the textbook formula it accounts for
    /// the error spent on early looks, the uncertainty of `sd`, and the few sign patterns of few blocks.
    pub fn minimal_effect(&self, sd: f64, df: f64) -> Option<f64> {
        let n = self.most_blocks as f64;
        let step = sign_flip::smallest_p(self.most_blocks);
        // The p of the sign-flip test has steps: the largest that still proves.
        let reached = (self.last_alpha() / step).floor().max(1.0) * step;
        let critical = student::quantile(1.0 - reached / 2.0, n - 1.0);
        let known = critical + normal::quantile(PLANNED_POWER);
        let estimated = student::noncentral_quantile(PLANNED_POWER, df, critical)?.max(known);
        let by_size = estimated / n.sqrt();
        // With the fewest blocks all signs must agree.
        let all_agree = sign_flip::smallest_p(self.most_blocks) * 3.0 > self.last_alpha();
        let by_sign = normal::quantile(PLANNED_POWER.powf(1.0 / n)) * estimated / known;
        let deviations = if all_agree {
            by_size.max(by_sign)
        } else {
            by_size
        };
        Some((deviations * sd).exp_m1())
    }
}

/// Below six blocks the sign-flip test cannot reach 5 %.
pub const FEWEST_BLOCKS: usize = 6;
/// The most blocks of any plan.
const MOST_BLOCKS: usize = 200;
/// 80 %, plus the power lost by futility stops and non-normal noise (`simulation`).
const PLANNED_POWER: f64 = 0.88;
/// The error: the probability of a false effect, or of a false equivalence.
pub(super) const ALPHA: f64 = 0.05;
/// 1 / α of the e-process.
pub(super) const E_THRESHOLD: f64 = 1.0 / ALPHA;
/// The part of the 5 % for equivalence that all early looks together may spend.
const EARLY_EQUIVALENCE: f64 = 0.01;
