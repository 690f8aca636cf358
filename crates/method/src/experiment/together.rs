// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures that are judged together: of twenty without an effect, tested at 5 % each, one looks like an effect.

use linerate_model::output::Comparison;

use super::plan::ALPHA;
use super::verdict::judge;
use crate::stats::{equivalence, many};

/// Adds the verdicts of figures that share one error of 5 %: each p is adjusted for their number (Holm), and so is
/// the number of observations that a proof needs; `needed` returns it for the p that must be reached.
pub(super) fn settle(together: &mut [&mut Comparison], needed: fn(f64) -> usize) {
    let p: Vec<f64> = together.iter().map(|one| one.p.unwrap_or(1.0)).collect();
    let share = ALPHA / p.len().max(1) as f64;
    for (one, adjusted) in together.iter_mut().zip(many::holm(&p)) {
        one.p_adjusted = one.p.map(|_| adjusted);
        let out_of_reach = one.smallest_p.is_some_and(|smallest| smallest > share);
        one.needed = out_of_reach.then(|| needed(share) as u32);
        let different = adjusted <= one.alpha;
        let inside = |ends| equivalence::is_inside(ends, one.margin);
        let equivalent = one.ci90.is_some_and(inside);
        let ratio = one.ratio.unwrap_or(1.0);
        one.verdict = judge(different, equivalent, ratio, one.higher_is_better);
    }
}
