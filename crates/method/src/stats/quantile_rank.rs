// SPDX-License-Identifier: MIT OR Apache-2.0
//! How well a quantile is known: the order statistics that enclose it, whatever the distribution.

use super::beta;

/// Ranks from 1 of the order statistics that enclose a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Of the lower bound; `None`: below every value.
    pub low: Option<u64>,
    /// Of the upper bound; `None`: there is none, the quantile may be above every value.
    pub high: Option<u64>,
    /// With which probability both hold.
    pub coverage: f64,
}

/// The ranks that enclose the quantile `q` (0…1) of `n` independent values, each side with an error of at
/// most `alpha` / 2; `None` for n = 0.
pub fn ranks(n: u64, q: f64, alpha: f64) -> Option<Ranks> {
    if n == 0 {
        return None;
    }
    let low = binomial_quantile(alpha / 2.0, n, q);
    let high = binomial_quantile(1.0 - alpha / 2.0, n, q) + 1;
    let below = |rank: u64| rank.checked_sub(1).map_or(0.0, |k| at_most(k, n, q));
    Some(Ranks {
        low: (low > 0).then_some(low),
        high: (high <= n).then_some(high),
        coverage: below(high) - below(low),
    })
}

/// The smallest k with P(X ≤ k) ≥ `probability`.
fn binomial_quantile(probability: f64, n: u64, q: f64) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = u64::midpoint(low, high);
        if at_most(middle, n, q) < probability {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// P(X ≤ k) of the binomial distribution.
fn at_most(k: u64, n: u64, q: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    beta::regularised(1.0 - q, (n - k) as f64, k as f64 + 1.0)
}
