// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two groups of independent runs: the test of Mann and Whitney, exact also with ties, and Cliff's δ.

use super::normal;

/// The answer of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// How often a value of the first group is above one of the second; a tie is a half.
    pub u: f64,
    /// The probability of a U at least as far from its mean, were there no difference.
    pub p: f64,
    /// The probability of a U at most as large.
    pub p_less: f64,
    /// Every arrangement was counted; else by the normal approximation.
    pub exact: bool,
}

/// The test of two groups; `None` if one is empty.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let ranks = doubled_midranks(&[first, second].concat());
    let n = first.len();
    let sum: usize = ranks[..n].iter().sum();
    let u = (sum - n * (n + 1)) as f64 / 2.0;
    if ranks.len() > MOST_EXACT {
        return Some(by_normal(u, &ranks, n));
    }
    let counts = sums_of(&ranks, n);
    let total: f64 = counts.iter().sum();
    // Compared in whole numbers: a sum and the mean, both multiplied by the number of values.
    let distance = |sum: usize| (sum * ranks.len()).abs_diff(n * ranks.iter().sum::<usize>());
    let far: f64 = (0..counts.len())
        .filter(|at| distance(*at) >= distance(sum))
        .map(|at| counts[at])
        .sum();
    Some(MannWhitney {
        u,
        p: far / total,
        p_less: counts[..=sum].iter().sum::<f64>() / total,
        exact: true,
    })
}

/// The normal approximation with corrections for continuity and ties.
pub fn mann_whitney_approximate(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let ranks = doubled_midranks(&[first, second].concat());
    let n = first.len();
    let sum: usize = ranks[..n].iter().sum();
    Some(by_normal((sum - n * (n + 1)) as f64 / 2.0, &ranks, n))
}

/// Cliff's δ: how much more often a value of the second group is above one of the first than below,
/// −1…1; `None` if one is empty.
pub fn cliffs_delta(first: &[f64], second: &[f64]) -> Option<f64> {
    let pairs = (first.len() * second.len()) as f64;
    let signs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| sign(b - a)));
    (pairs > 0.0).then(|| signs.sum::<f64>() / pairs)
}

/// The smallest two-sided p that groups of these sizes can reach, however different they are.
pub fn smallest_p(n: usize, m: usize) -> f64 {
    (2.0 / arrangements(n, m)).min(1.0)
}

/// The smallest size of two equal groups that can reach a p of at most `alpha` (> 0).
pub fn needed_runs(alpha: f64) -> usize {
    (1..).find(|n| smallest_p(*n, *n) <= alpha).unwrap_or(1)
}

/// How many arrangements of n values among n + m there are.
pub(super) fn arrangements(n: usize, m: usize) -> f64 {
    (1..=n)
        .fold(1.0, |ways, k| ways * (m + k) as f64 / k as f64)
        .round()
}

/// Twice the rank of each value among all, ties sharing theirs: whole numbers.
pub(super) fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        2 * below + equal + 1
    };
    values.iter().map(rank).collect()
}

/// How many ways there are to choose `n` of the ranks with each sum.
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

fn by_normal(u: f64, ranks: &[usize], n: usize) -> MannWhitney {
    let total = ranks.len() as f64;
    let (n, m) = (n as f64, total - n as f64);
    let ties = |rank: &usize| {
        let equal = ranks.iter().filter(|other| *other == rank).count() as f64;
        equal * equal - 1.0
    };
    let tied: f64 = ranks.iter().map(ties).sum();
    let variance = n * m / 12.0 * (total + 1.0 - tied / (total * (total - 1.0)));
    let from_mean = u - n * m / 2.0;
    let z = ((from_mean.abs() - 0.5) / variance.sqrt()).max(0.0);
    MannWhitney {
        u,
        p: (2.0 * normal::upper_tail(z)).min(1.0),
        p_less: normal::upper_tail(-(from_mean + 0.5) / variance.sqrt()),
        exact: false,
    }
}

fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Values of both groups up to which every arrangement is counted.
const MOST_EXACT: usize = 60;
