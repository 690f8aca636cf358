// SPDX-License-Identifier: MIT OR Apache-2.0
//! An e-process for valid early stopping: the average likelihood ratio of the blocks' signs against a fair coin.
//! It may be evaluated after every block (Ville 1939): without an effect its expectation is 1, so it reaches 1/α
//! with a probability of at most α, however often it is evaluated.

use super::beta;

/// Returns the e-value of `wins` among `n` blocks: 2ⁿ B(wins + 1, n − wins + 1). It is also large for few wins: the
/// direction is the sign of `wins` − n/2.
pub(crate) fn e_value(wins: usize, n: usize) -> f64 {
    let (k, n) = (wins as f64, n as f64);
    (n * core::f64::consts::LN_2 + beta::ln_beta(k + 1.0, n - k + 1.0)).exp()
}

/// Returns the e-value of log-ratios, without those that are 0; 1 for none.
pub(crate) fn of_blocks(log_ratios: &[f64]) -> f64 {
    let wins = log_ratios.iter().filter(|value| **value > 0.0).count();
    let losses = log_ratios.iter().filter(|value| **value < 0.0).count();
    e_value(wins, wins + losses)
}

/// Returns the exact probability that a fair coin reaches `threshold` at any block from `first` to `last`: the error
/// that the early looks spend.
pub(crate) fn error_spent(first: usize, last: usize, threshold: f64) -> f64 {
    let mut going = vec![1.0];
    let mut spent = 0.0;
    for n in 1..=last {
        let mut next = vec![0.0; n + 1];
        for (wins, share) in going.iter().enumerate() {
            next[wins] += share / 2.0;
            next[wins + 1] += share / 2.0;
        }
        for (wins, share) in next.iter_mut().enumerate() {
            if n >= first && e_value(wins, n) >= threshold {
                spent += std::mem::take(share);
            }
        }
        going = next;
    }
    spent
}
