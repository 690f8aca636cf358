// SPDX-License-Identifier: MIT OR Apache-2.0
//! How evenly flows share.

/// Jain's index (1984): 1 when all are equal, 1/n when one has all. `None` of nothing or of zeros.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// The fastest over the slowest flow; `None` where one stands still or there is none.
pub fn fastest_to_slowest(rates: &[f64]) -> Option<f64> {
    let fastest = rates.iter().copied().reduce(f64::max)?;
    let slowest = rates
        .iter()
        .copied()
        .reduce(f64::min)
        .filter(|rate| *rate > 0.0)?;
    Some(fastest / slowest)
}
