// SPDX-License-Identifier: MIT OR Apache-2.0
//! Student's t distribution, central and non-central.

use super::memo::Memo;
use super::{beta, normal};

/// P(|T| > |t|) with `df` > 0 degrees of freedom.
pub(crate) fn two_sided_p(t: f64, df: f64) -> f64 {
    beta::regularised(df / (df + t * t), df / 2.0, 0.5)
}

/// P(T > t).
pub(crate) fn upper_tail(t: f64, df: f64) -> f64 {
    let half = two_sided_p(t, df) / 2.0;
    if t > 0.0 { half } else { 1.0 - half }
}

/// The `t` with P(T ≤ t) = `probability` (0…1, both excluded).
pub(crate) fn quantile(probability: f64, df: f64) -> f64 {
    if probability < 0.5 {
        return -quantile(1.0 - probability, df);
    }
    QUANTILES.with(|known| known.of([probability, df], || upper_quantile(probability, df)))
}

thread_local! {
    static QUANTILES: Memo = const { Memo::new() };
}

/// Of a probability from a half on.
fn upper_quantile(probability: f64, df: f64) -> f64 {
    let both_tails = 2.0 * (1.0 - probability);
    // x = df / (df + t²); the smaller of x and 1 − x is the one without cancellation.
    let (x, rest) = if both_tails < 0.5 {
        let x = beta::quantile(both_tails, df / 2.0, 0.5);
        (x, 1.0 - x)
    } else {
        let rest = beta::quantile(1.0 - both_tails, 0.5, df / 2.0);
        (1.0 - rest, rest)
    };
    (df * rest / x).sqrt()
}

/// The quantile of the non-central t distribution, by the approximation of Johnson and Welch (1940):
/// good to a percent for the planning of experiments, which is all that it is for. `None` where the
/// approximation ends (few degrees of freedom with a probability near 1).
pub(crate) fn noncentral_quantile(probability: f64, df: f64, noncentrality: f64) -> Option<f64> {
    // E[s/σ], exactly: √(2/ν) Γ((ν+1)/2) / Γ(ν/2).
    let log_b = beta::ln_gamma(f64::midpoint(df, 1.0)) - beta::ln_gamma(df / 2.0);
    let b = (2.0 / df).sqrt() * log_b.exp();
    let (z, spread) = (normal::quantile(probability), 1.0 - b * b);
    let under = b * b + spread * (noncentrality * noncentrality - z * z);
    let below = b * b - z * z * spread;
    (under >= 0.0 && below > 0.0).then(|| (noncentrality * b + z * under.sqrt()) / below)
}
