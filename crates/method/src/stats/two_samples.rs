// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two groups of independent runs: the test of Mann and Whitney, exact also with ties.

use super::normal;

/// Returns the two-sided p of the test; `None` if a group is empty.
pub(crate) fn mann_whitney(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let ranks = doubled_midranks(&[first, second].concat());
    let n = first.len();
    if ranks.len() > MOST_EXACT {
        return Some(by_normal(&ranks, n));
    }
    let sum: usize = ranks[..n].iter().sum();
    let counts = sums_of(&ranks, n);
    // Compared in whole numbers: a sum and the mean, both multiplied by the number of values.
    let distance = |sum: usize| (sum * ranks.len()).abs_diff(n * ranks.iter().sum::<usize>());
    let far: f64 = (0..counts.len())
        .filter(|at| distance(*at) >= distance(sum))
        .map(|at| counts[at])
        .sum();
    Some(far / counts.iter().sum::<f64>())
}

/// The smallest two-sided p that groups of these sizes can reach, however different they are.
pub(crate) fn smallest_p(n: usize, m: usize) -> f64 {
    (2.0 / arrangements(n, m)).min(1.0)
}

/// The smallest size of two equal groups that can reach a p of at most `alpha` (> 0).
pub(crate) fn needed_runs(alpha: f64) -> usize {
    (1..).find(|n| smallest_p(*n, *n) <= alpha).unwrap_or(1)
}

/// The number of arrangements of n values among n + m.
pub(super) fn arrangements(n: usize, m: usize) -> f64 {
    (1..=n)
        .fold(1.0, |ways, k| ways * (m + k) as f64 / k as f64)
        .round()
}

/// Returns twice the midrank of each value: ties share a rank, and doubled ranks are whole numbers.
pub(super) fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        2 * below + equal + 1
    };
    values.iter().map(rank).collect()
}

/// Returns the number of ways to choose `n` of the ranks, by their sum.
pub(super) fn sums_of(ranks: &[usize], n: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; n + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        for chosen in (1..=n.min(seen + 1)).rev() {
            let (fewer, these) = ways.split_at_mut(chosen);
            for sum in *rank..=most {
                these[0][sum] += fewer[chosen - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(n)
}

/// The p by the normal approximation, corrected for continuity and ties.
pub(super) fn by_normal(ranks: &[usize], first: usize) -> f64 {
    let sum: usize = ranks[..first].iter().sum();
    let u = (sum - first * (first + 1)) as f64 / 2.0;
    let total = ranks.len() as f64;
    let (n, m) = (first as f64, total - first as f64);
    let ties = |rank: &usize| {
        let equal = ranks.iter().filter(|other| *other == rank).count() as f64;
        equal * equal - 1.0
    };
    let tied: f64 = ranks.iter().map(ties).sum();
    let variance = n * m / 12.0 * (total + 1.0 - tied / (total * (total - 1.0)));
    let from_mean = u - n * m / 2.0;
    let z = ((from_mean.abs() - 0.5) / variance.sqrt()).max(0.0);
    (2.0 * normal::upper_tail(z)).min(1.0)
}

/// The most values of both groups for which every arrangement is counted.
const MOST_EXACT: usize = 60;
