// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stopping rule of an experiment, and its evidence.

use super::plan::{ALPHA, E_THRESHOLD, FEWEST_BLOCKS, Plan};
use crate::stats::equivalence;
use crate::stats::paired::Effect;
use crate::stats::{e_process, sign_flip, student};

/// Why an experiment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The e-process proved a difference.
    Proven,
    /// The difference, if any, is inside the margin.
    Equivalent,
    /// A proof had become unlikely.
    Futile,
    /// The last block was done.
    AllBlocks,
}

/// The evidence of a number of blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Log-ratios of B over A.
    pub effect: Effect,
    /// The p of the exact sign-flip test.
    pub p: f64,
    /// The p that proves a difference.
    pub alpha: f64,
    /// The e-value of the signs.
    pub e_value: f64,
    /// The ratio differs from 1.
    pub different: bool,
    /// It is inside the margin.
    pub equivalent: bool,
}

impl Evidence {
    /// The evidence of an experiment that was evaluated after every block; `None` below two blocks.
    pub fn of(log_ratios: &[f64], plan: &Plan) -> Option<Self> {
        let effect = Effect::of(log_ratios)?;
        let (p, alpha) = (sign_flip::p(log_ratios, plan.seed)?, plan.last_alpha());
        let e_value = e_process::of_blocks(log_ratios);
        let last = log_ratios.len() >= plan.most_blocks;
        Some(Self {
            effect,
            p,
            alpha,
            e_value,
            different: is_proven(log_ratios, &effect) || (last && p <= alpha),
            equivalent: is_equivalent(&effect, plan),
        })
    }
}

/// Whether to stop after these blocks.
pub(super) fn stop(log_ratios: &[f64], plan: &Plan) -> Option<Stop> {
    let n = log_ratios.len();
    if n < FEWEST_BLOCKS.min(plan.most_blocks) {
        return None;
    }
    let effect = Effect::of(log_ratios)?;
    if is_proven(log_ratios, &effect) {
        Some(Stop::Proven)
    } else if is_equivalent(&effect, plan) {
        Some(Stop::Equivalent)
    } else if n >= plan.most_blocks {
        Some(Stop::AllBlocks)
    } else {
        is_futile(&effect, plan).then_some(Stop::Futile)
    }
}

/// Whether the signs prove a difference, in the direction of the mean: a few large blocks may contradict many small
/// ones, and then neither direction is shown.
fn is_proven(log_ratios: &[f64], effect: &Effect) -> bool {
    let signs: f64 = log_ratios
        .iter()
        .filter(|ratio| **ratio != 0.0)
        .map(|ratio| ratio.signum())
        .sum();
    e_process::of_blocks(log_ratios) >= E_THRESHOLD && signs * effect.mean > 0.0
}

fn is_equivalent(effect: &Effect, plan: &Plan) -> bool {
    equivalence::p(effect, plan.margin) <= plan.equivalence_alpha(effect.n)
}

/// In the second half: whether the effect seems to be a small part of the provable one, and the interval at the
/// last block would be too wide to prove equivalence. A futility stop cannot cause a false proof, and it costs
/// little power (`simulation`).
fn is_futile(effect: &Effect, plan: &Plan) -> bool {
    let at_end = effect.sd / (plan.most_blocks as f64).sqrt();
    let df = plan.most_blocks as f64 - 1.0;
    let mean = effect.mean.abs();
    let hopeless = || student::two_sided_p(mean / at_end / HOPELESS, df) > ALPHA;
    let too_wide = || student::upper_tail((plan.margin.ln_1p() - mean) / at_end, df) > ALPHA;
    2 * effect.n >= plan.most_blocks && hopeless() && too_wide()
}

/// The share of the provable effect below which the experiment is futile.
const HOPELESS: f64 = 0.15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_by_signs_has_the_direction_of_the_mean() {
        let plan = Plan {
            aa_blocks: 0,
            most_blocks: 20,
            margin: 0.02,
            seed: 1,
        };
        let mut blocks = vec![
            0.03, 0.031, 0.029, 0.03, 0.032, 0.028, 0.03, 0.03, 0.03, 0.03,
        ];
        assert_eq!(stop(&blocks, &plan), Some(Stop::Proven));
        // B collapsed once: most blocks are better, the mean is worse.
        blocks[4] = -0.9;
        blocks.extend([0.03; 3]);
        assert!(e_process::of_blocks(&blocks) >= E_THRESHOLD);
        assert_ne!(stop(&blocks, &plan), Some(Stop::Proven));
        assert!(Evidence::of(&blocks, &plan).is_some_and(|evidence| !evidence.different));
    }
}
