// SPDX-License-Identifier: MIT OR Apache-2.0
//! When an experiment stops, and the evidence that it then has.

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
    /// Neither proof was in sight any more.
    Futile,
    /// The last block was done.
    AllBlocks,
}

/// What a number of blocks says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Log-ratios of B over A.
    pub effect: Effect,
    /// Of the exact sign-flip test.
    pub p: f64,
    /// The p that decides here.
    pub alpha: f64,
    /// Of the signs.
    pub e_value: f64,
    /// The ratio differs from 1.
    pub different: bool,
    /// It is inside the margin.
    pub equivalent: bool,
}

impl Evidence {
    /// Of blocks of an experiment that was looked at after every block; `None` below two.
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
            different: e_value >= E_THRESHOLD || (last && p <= alpha),
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
    if e_process::of_blocks(log_ratios) >= E_THRESHOLD {
        Some(Stop::Proven)
    } else if is_equivalent(&effect, plan) {
        Some(Stop::Equivalent)
    } else if n >= plan.most_blocks {
        Some(Stop::AllBlocks)
    } else {
        is_futile(&effect, plan).then_some(Stop::Futile)
    }
}

fn is_equivalent(effect: &Effect, plan: &Plan) -> bool {
    equivalence::p(effect, plan.margin) <= plan.equivalence_alpha(effect.n)
}

/// Past the middle, if the effect looks like a small part of what could still be proven, and the interval
/// will be too wide at the last block to show that it is inside the margin. Stopping without a proof
/// never makes a false one; it costs little power (`simulation`).
fn is_futile(effect: &Effect, plan: &Plan) -> bool {
    let at_end = effect.sd / (plan.most_blocks as f64).sqrt();
    let df = plan.most_blocks as f64 - 1.0;
    let mean = effect.mean.abs();
    let hopeless = || student::two_sided_p(mean / at_end / HOPELESS, df) > ALPHA;
    let too_wide = || student::upper_tail((plan.margin.ln_1p() - mean) / at_end, df) > ALPHA;
    2 * effect.n >= plan.most_blocks && hopeless() && too_wide()
}

/// The share of the provable effect below which hope is given up.
const HOPELESS: f64 = 0.15;
