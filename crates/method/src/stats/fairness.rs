// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fairness among flows.

/// Jain's index (1984): 1 if all rates are equal, 1/n if one flow has everything. `None` without a positive rate.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// The rate of the fastest flow over that of the slowest; `None` without flows or if one has rate 0.
pub fn fastest_to_slowest(rates: &[f64]) -> Option<f64> {
    let fastest = rates.iter().copied().reduce(f64::max)?;
    let slowest = rates
        .iter()
        .copied()
        .reduce(f64::min)
        .filter(|rate| *rate > 0.0)?;
    Some(fastest / slowest)
}
