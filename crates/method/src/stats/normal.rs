// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standard normal distribution.

use super::memo::Memo;

/// P(Z > z).
pub(crate) fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    let density = (-0.5 * z * z).exp() / core::f64::consts::TAU.sqrt();
    if z < SERIES_BELOW {
        0.5 - density * series(z)
    } else {
        density / continued_fraction(z)
    }
}

/// The `z` with P(Z ≤ z) = `probability` (0…1), by bisection.
pub(crate) fn quantile(probability: f64) -> f64 {
    QUANTILES.with(|known| known.of([probability, 0.0], || bisected(probability)))
}

thread_local! {
    static QUANTILES: Memo = const { Memo::new() };
}

fn bisected(probability: f64) -> f64 {
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    while high - low > 1e-14 * (1.0 + high.abs()) {
        let middle = f64::midpoint(low, high);
        // Whichever tail is small is the exact one.
        let below = if middle < 0.0 {
            upper_tail(-middle) < probability
        } else {
            upper_tail(middle) > 1.0 - probability
        };
        if below {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// (P(Z ≤ z) − ½) / density: z + z³/3 + z⁵/15 + … (DLMF 7.6.2).
fn series(z: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (z, z, 1.0);
    while term > sum * 1e-17 {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    sum
}

/// density / P(Z > z) = z + 1/(z + 2/(z + 3/…)), from the far end (DLMF 7.9.3).
fn continued_fraction(z: f64) -> f64 {
    (1..=TERMS).rev().fold(z, |rest, k| z + f64::from(k) / rest)
}

const SERIES_BELOW: f64 = 3.0;
const TERMS: u32 = 200;
/// Beyond it a tail is below 10⁻³⁰⁰.
const FARTHEST: f64 = 37.0;
