// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exact sign-flip test of paired differences: without an effect, each difference is equally likely to have the
//! other sign. It makes no assumption about the noise, and with a random order it is valid under any drift.

use crate::rng::Rng;

/// Returns the share of the sign patterns whose sum is at least as far from 0 as that of `differences`: exact up to
/// 20 of them, else estimated from random draws, and at least 1 / (draws + 1). `None` for none.
pub(crate) fn p(differences: &[f64], seed: u64) -> Option<f64> {
    if differences.is_empty() {
        return None;
    }
    let observed = differences.iter().sum::<f64>().abs();
    let tolerance = 1e-10 * differences.iter().map(|value| value.abs()).sum::<f64>();
    let at_least = observed - tolerance;
    Some(if differences.len() <= MOST_EXACT {
        every_pattern(differences, at_least)
    } else {
        drawn_patterns(differences, at_least, seed)
    })
}

/// The smallest p that `n` differences can reach.
pub(crate) fn smallest_p(n: usize) -> f64 {
    0.5_f64.powi(n as i32 - 1).min(1.0)
}

/// The number of differences needed to reach a p of at most `alpha` (> 0).
pub(crate) fn needed_blocks(alpha: f64) -> usize {
    (1..).find(|n| smallest_p(*n) <= alpha).unwrap_or(1)
}

/// In Gray's order one sign changes at a time. The first keeps its sign: the others mirror.
fn every_pattern(differences: &[f64], at_least: f64) -> f64 {
    let rest = &differences[1..];
    let patterns = 1_u32 << rest.len();
    let mut signs = vec![1.0; rest.len()];
    let mut sum: f64 = differences.iter().sum();
    let mut far = u32::from(sum.abs() >= at_least);
    for number in 1..patterns {
        let flipped = number.trailing_zeros() as usize;
        signs[flipped] = -signs[flipped];
        sum += 2.0 * signs[flipped] * rest[flipped];
        far += u32::from(sum.abs() >= at_least);
    }
    f64::from(far) / f64::from(patterns)
}

fn drawn_patterns(differences: &[f64], at_least: f64, seed: u64) -> f64 {
    let mut rng = Rng::new(seed);
    let mut sum = || -> f64 {
        let signed = differences.iter().map(|value| {
            if rng.next_u64() >> 63 == 0 {
                *value
            } else {
                -value
            }
        });
        signed.sum()
    };
    let far = (0..DRAWS).filter(|_| sum().abs() >= at_least).count();
    (far + 1) as f64 / f64::from(DRAWS + 1)
}

const MOST_EXACT: usize = 20;
const DRAWS: u32 = 100_000;
