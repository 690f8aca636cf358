// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wilcoxon's signed-rank test, exact also with ties; differences of 0 are dropped.

use super::two_samples::doubled_midranks;

/// The answer of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// The smaller of the sums of ranks of positive and of negative differences.
    pub w: f64,
    /// Two-sided.
    pub p: f64,
}

/// The test of paired differences; `None` where all are 0 or there is none.
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    let kept: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|value| *value != 0.0)
        .collect();
    if kept.is_empty() {
        return None;
    }
    let sizes: Vec<f64> = kept.iter().map(|value| value.abs()).collect();
    let ranks = doubled_midranks(&sizes);
    let total: usize = ranks.iter().sum();
    let positive = kept.iter().zip(&ranks).filter(|(value, _)| **value > 0.0);
    let positive: usize = positive.map(|(_, rank)| rank).sum();
    let w = positive.min(total - positive);
    let ways = subset_sums(&ranks, total);
    let below: f64 = ways[..=w].iter().sum::<f64>() / ways.iter().sum::<f64>();
    Some(SignedRank {
        w: w as f64 / 2.0,
        p: (2.0 * below).min(1.0),
    })
}

/// How many subsets of the ranks have each sum.
fn subset_sums(ranks: &[usize], total: usize) -> Vec<f64> {
    let mut ways = vec![0.0; total + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (*rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}
