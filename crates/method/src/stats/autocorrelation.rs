// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many independent values a series is worth. Neighbours within a run resemble each other; the
//! standard error of their mean is larger than it looks by √τ.

use super::describe;

/// What a series of one run is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    /// The integrated autocorrelation time, samples; 1 for independent values.
    pub tau: f64,
    /// Pairs of Geyer's initial positive sequence that went into it.
    pub pairs: usize,
    /// Independent values that it is worth: n / τ, at most n.
    pub n_eff: f64,
    /// The standard error of the mean, corrected.
    pub standard_error: f64,
}

/// The autocorrelation at a lag, by the biased estimator; `None` where the series is constant or shorter.
pub fn at_lag(series: &[f64], lag: usize) -> Option<f64> {
    let mean = describe::mean(series)?;
    let squares: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
    let later = series.get(lag..)?;
    let products = series.iter().zip(later);
    let products: f64 = products.map(|(a, b)| (a - mean) * (b - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

/// Geyer's initial positive sequence (1992): pairs of lags are added until one is not positive. `None` for
/// a constant series or one of fewer than two values.
pub fn worth(series: &[f64]) -> Option<Worth> {
    let sd = describe::sd(series).filter(|sd| *sd > 0.0)?;
    let pair =
        |at: usize| Some(at_lag(series, 2 * at)? + at_lag(series, 2 * at + 1).unwrap_or(0.0));
    let positive: Vec<f64> = (0..)
        .map_while(|at| pair(at).filter(|sum| *sum > 0.0))
        .collect();
    let n = series.len() as f64;
    let tau = 2.0 * positive.iter().sum::<f64>() - 1.0;
    // A series that alternates is worth more than its length; that is not claimed.
    let tau = tau.max(1.0);
    Some(Worth {
        tau,
        pairs: positive.len(),
        n_eff: n / tau,
        standard_error: sd * (tau / n).sqrt(),
    })
}

/// The standard error of the mean from the means of batches of `size`; a rest is left out. `None` below
/// two batches.
pub fn batch_standard_error(series: &[f64], size: usize) -> Option<f64> {
    let batches = series.chunks_exact(size.max(1));
    let means: Vec<f64> = batches.filter_map(describe::mean).collect();
    Some(describe::sd(&means)? / (means.len() as f64).sqrt())
}

/// What `n` values of a first-order process with correlation `rho` are worth: n (1 − ρ) / (1 + ρ), not
/// capped.
pub fn first_order_n_eff(n: f64, rho: f64) -> f64 {
    n * (1.0 - rho) / (1.0 + rho)
}
