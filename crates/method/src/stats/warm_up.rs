// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a run becomes steady: MSER-5 (White, Cobb, Spratt 2000) drops the prefix whose absence makes the
//! mean of the rest best known.

use super::describe;

/// How many values at the beginning of a series are warm-up, a multiple of five and at most half of them.
/// `None`: fewer than ten values, or nothing in the first half was better than its end (not steady).
pub fn warm_up(series: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = series
        .chunks_exact(BATCH)
        .filter_map(describe::mean)
        .collect();
    if batches.len() < 2 {
        return None;
    }
    let most = batches.len() / 2;
    let costs: Vec<f64> = (0..=most).map(|drop| cost(&batches[drop..])).collect();
    let best = (0..=most).min_by(|a, b| costs[*a].total_cmp(&costs[*b]))?;
    (best < most || costs[0] <= costs[best]).then_some(best * BATCH)
}

/// The squared standard error of the mean.
fn cost(batches: &[f64]) -> f64 {
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    let squares: f64 = batches.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (batches.len() as f64).powi(2)
}

const BATCH: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(level: f64, at: usize) -> f64 {
        level + [0.3, -0.2, 0.1, -0.4, 0.2, -0.1, 0.1][at % 7]
    }

    #[test]
    fn a_slow_start_is_dropped_and_a_steady_run_keeps_all() {
        let slow: Vec<f64> = (0..60)
            .map(|at| {
                noisy(
                    if at < 12 {
                        500.0 + 30.0 * at as f64
                    } else {
                        940.0
                    },
                    at,
                )
            })
            .collect();
        let dropped = warm_up(&slow);
        assert!(dropped == Some(15) || dropped == Some(20), "{dropped:?}");
        let steady: Vec<f64> = (0..60).map(|at| noisy(940.0, at)).collect();
        assert!(
            warm_up(&steady).is_some_and(|dropped| dropped <= 15),
            "{:?}",
            warm_up(&steady)
        );
        assert_eq!(warm_up(&[5.0; 40]), Some(0));
    }

    #[test]
    fn a_run_that_never_settles_says_so() {
        let rising: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(warm_up(&rising), None);
        assert_eq!(warm_up(&[1.0; 9]), None);
    }
}
