// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which effect a number of blocks would probably find, and how many blocks an effect needs.

use super::student;

/// The smallest ratio minus 1 that `n` blocks whose log-ratios have a standard deviation of `sd` find with a
/// probability of 80 %, at a two-sided error of 5 %. `None` below two blocks.
pub fn minimal_effect(sd: f64, n: usize) -> Option<f64> {
    if n < 2 {
        return None;
    }
    let df = (n - 1) as f64;
    let quantiles = student::quantile(0.975, df) + student::quantile(POWER, df);
    Some((quantiles * sd / (n as f64).sqrt()).exp_m1())
}

/// The smallest number of blocks that finds an effect of `effect` (0.02 is 2 %); `None` beyond 10 000.
pub fn needed_blocks(sd: f64, effect: f64) -> Option<usize> {
    let enough = |n: &usize| minimal_effect(sd, *n).is_some_and(|found| found <= effect);
    // The effect falls with the number: halving instead of counting.
    let (mut low, mut high) = (2, MOST_BLOCKS);
    if !enough(&high) {
        return None;
    }
    while low < high {
        let middle = usize::midpoint(low, high);
        if enough(&middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// With which probability an effect that is there is to be found.
pub const POWER: f64 = 0.8;
const MOST_BLOCKS: usize = 10_000;
