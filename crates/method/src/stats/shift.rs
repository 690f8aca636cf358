// SPDX-License-Identifier: MIT OR Apache-2.0
//! The difference of two groups: the median of all pairwise differences or ratios (Hodges and Lehmann
//! 1963), with the exact interval of the test of Mann and Whitney.

use super::describe;
use super::two_samples::{arrangements, sums_of};

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shift {
    /// The median of the pairs.
    pub(crate) estimate: f64,
    /// The interval; `None` with too few runs.
    pub(crate) interval: Option<Interval>,
}

/// An interval of order statistics of the pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// Its lower end.
    pub(crate) low: f64,
    /// Its upper end.
    pub(crate) high: f64,
    /// The probability that it contains the shift.
    pub(crate) coverage: f64,
}

/// Returns the second group over the first; `alpha` (0…1) is the two-sided error. `None` if a group is empty or a value is
/// not positive.
pub(crate) fn ratio(first: &[f64], second: &[f64], alpha: f64) -> Option<Shift> {
    let positive = first.iter().chain(second).all(|value| *value > 0.0);
    positive
        .then(|| of_pairs(first, second, alpha, |a, b| b / a))
        .flatten()
}

pub(super) fn of_pairs(
    first: &[f64],
    second: &[f64],
    alpha: f64,
    of: fn(f64, f64) -> f64,
) -> Option<Shift> {
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| of(*a, *b)));
    let pairs = describe::sorted(&pairs.collect::<Vec<_>>());
    let estimate = describe::quantile_of_sorted(&pairs, 0.5)?;
    let interval = enclosing(first.len(), second.len(), alpha).map(|(out, coverage)| Interval {
        low: pairs[out],
        high: pairs[pairs.len() - 1 - out],
        coverage,
    });
    Some(Shift { estimate, interval })
}

/// Returns the number of pairs to cut on each side, and the coverage: 1 − 2 P(U ≤ k − 1) for the k-th pair from
/// either end.
fn enclosing(n: usize, m: usize, alpha: f64) -> Option<(usize, f64)> {
    let ranks: Vec<usize> = (1..=n + m).collect();
    let ways = sums_of(&ranks, n);
    let lowest = n * (n + 1) / 2;
    let mut below = 0.0;
    let mut found = None;
    for (out, ways) in ways.get(lowest..)?.iter().enumerate() {
        below += ways / arrangements(n, m);
        if 2.0 * below > alpha {
            break;
        }
        found = Some((out, 1.0 - 2.0 * below));
    }
    found
}
