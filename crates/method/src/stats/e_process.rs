// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stopping early without lying: the average likelihood ratio of the signs of blocks against a fair coin.
//! It may be looked at after every block (Ville 1939); the mean of an e-value is 1 if there is no effect,
//! so that it reaches 1/α with a probability of at most α, however often one looks.

use super::beta;

/// The e-value of `wins` among `n` blocks with any difference: 2ⁿ B(wins + 1, n − wins + 1). Large for few
/// wins, too: the direction is that of `wins` − n/2.
pub fn e_value(wins: usize, n: usize) -> f64 {
    let (k, n) = (wins as f64, n as f64);
    (n * core::f64::consts::LN_2 + beta::ln_beta(k + 1.0, n - k + 1.0)).exp()
}

/// Of log-ratios: those of 0 count for neither side. 1 of nothing.
pub fn of_blocks(log_ratios: &[f64]) -> f64 {
    let wins = log_ratios.iter().filter(|value| **value > 0.0).count();
    let losses = log_ratios.iter().filter(|value| **value < 0.0).count();
    e_value(wins, wins + losses)
}

/// The exact probability that a fair coin reaches `threshold`, on either side, at some look from the
/// `first` to the `last` block: the error that looking spends.
pub fn error_spent(first: usize, last: usize, threshold: f64) -> f64 {
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
