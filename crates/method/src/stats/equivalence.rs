// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equivalence: two one-sided tests (Schuirmann 1987). A p above 0.05 does not prove equivalence; an interval inside
//! the margin does.

use super::paired::Effect;
use super::student;

/// The p of equivalence within ±`margin` (0.02 is 2 %): the larger of the two one-sided tests against
/// ln(1 + margin) and −ln(1 + margin).
pub(crate) fn p(effect: &Effect, margin: f64) -> f64 {
    let bound = margin.ln_1p();
    let (above, below) = (effect.mean + bound, bound - effect.mean);
    let closest = above.min(below);
    if effect.sd == 0.0 {
        return if closest > 0.0 { 0.0 } else { 1.0 };
    }
    student::upper_tail(closest / effect.standard_error(), effect.df())
}

/// Whether an interval of ratios lies inside the margin.
pub(crate) fn is_inside([low, high]: [f64; 2], margin: f64) -> bool {
    low > 1.0 / (1.0 + margin) && high < 1.0 + margin
}
