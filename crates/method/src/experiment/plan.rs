// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is fixed before the first run.

use crate::stats::{e_process, normal, sign_flip, student};

/// An experiment's plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Blocks with A as both arms; 0 for none.
    pub aa_blocks: usize,
    /// At most so many blocks of A and B, at least [`FEWEST_BLOCKS`].
    pub most_blocks: usize,
    /// A ratio that differs from 1 by less does not matter: 0.02 is 2 %.
    pub margin: f64,
    /// Of the coin.
    pub seed: u64,
}

impl Plan {
    /// Whether `ab` makes such a plan: a damaged record of another would be judged for hours.
    pub(super) fn is_possible(&self) -> bool {
        self.most_blocks <= MOST_BLOCKS
            && self.aa_blocks <= MOST_BLOCKS
            && self.margin.is_finite()
            && self.margin >= 0.0
    }

    /// Runs until the limit, A/A included.
    pub fn most_runs(&self) -> usize {
        super::order::RUNS * (self.aa_blocks + self.most_blocks)
    }

    /// The p that the sign-flip test at the last block has to reach: 5 % less what the looks before spent.
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

    /// The ratio minus 1 that this experiment finds with a probability of 80 %, if blocks have the standard
    /// deviation `sd` known with `df` degrees of freedom. It accounts for three things that the textbook's
    /// formula does not: that the looks cost some error, that `sd` is itself an estimate, and that few
    /// blocks have few sign patterns.
    pub fn minimal_effect(&self, sd: f64, df: f64) -> Option<f64> {
        let n = self.most_blocks as f64;
        let step = sign_flip::smallest_p(self.most_blocks);
        // The p of the sign-flip test has steps: the largest that still proves.
        let reached = (self.last_alpha() / step).floor().max(1.0) * step;
        let critical = student::quantile(1.0 - reached / 2.0, n - 1.0);
        let known = critical + normal::quantile(PLANNED_POWER);
        let estimated = student::noncentral_quantile(PLANNED_POWER, df, critical)?.max(known);
        let by_size = estimated / n.sqrt();
        // At the fewest blocks every sign has to agree.
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
/// More than any plan has.
const MOST_BLOCKS: usize = 200;
/// 80 %, and what giving up and noise that is not normal cost (`simulation`).
const PLANNED_POWER: f64 = 0.88;
/// The probability to see an effect, or an equivalence, that is not there.
pub(super) const ALPHA: f64 = 0.05;
/// 1 / α of the e-process.
pub(super) const E_THRESHOLD: f64 = 1.0 / ALPHA;
/// Of the 5 % for equivalence, what all early looks together may spend.
const EARLY_EQUIVALENCE: f64 = 0.01;
