// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bootstrap of a ratio of medians. It resamples runs, never packets. Up to five runs a side every
//! resample is looked at, so that the answer is the same everywhere; above, a seed draws them.
//!
//! The interval of a median's bootstrap is too narrow below eight runs: it is shown, and not decided by.

use super::describe;
use crate::rng::Rng;
use linerate_model::order;

/// What the resamples say of `median(second) / median(first)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Of the runs themselves.
    pub point: f64,
    /// Of the resamples.
    pub mean: f64,
    /// 2.5 % of the resamples are below.
    pub q025: f64,
    /// Half of them.
    pub q50: f64,
    /// 97.5 %.
    pub q975: f64,
    /// Which share of them is at most 1.
    pub at_most_one: f64,
}

/// The bootstrap of two groups of positive values: exhaustive up to five values each, else `replicates`
/// drawn from `seed`. `None` if one is empty.
pub fn ratio_of_medians(
    first: &[f64],
    second: &[f64],
    replicates: usize,
    seed: u64,
) -> Option<Bootstrap> {
    let point = describe::median(second)? / describe::median(first)?;
    let weighted = if first.len().max(second.len()) <= MOST_EXHAUSTIVE {
        every_ratio(first, second)
    } else {
        let drawn = draw(first, second, replicates, seed);
        drawn.into_iter().map(|ratio| (ratio, 1.0)).collect()
    };
    Some(summary(point, weighted))
}

/// The ratios of `replicates` resamples, in the order drawn: the first group's places first.
pub fn draw(first: &[f64], second: &[f64], replicates: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut resample = |values: &[f64]| -> Option<f64> {
        let n = values.len() as u64;
        let drawn: Vec<f64> = values
            .iter()
            .map(|_| values[rng.below(n) as usize])
            .collect();
        describe::median(&drawn)
    };
    let ratios = (0..replicates).filter_map(|_| {
        let below = resample(first)?;
        Some(resample(second)? / below)
    });
    ratios.collect()
}

/// Every ratio with how many pairs of resamples have it.
fn every_ratio(first: &[f64], second: &[f64]) -> Vec<(f64, f64)> {
    let below = every_median(first);
    let pairs = every_median(second).into_iter().flat_map(|(b, times)| {
        let ratios = below.iter().map(move |(a, of)| (b / a, times * of));
        ratios.collect::<Vec<_>>()
    });
    pairs.collect()
}

/// Every median of a resample with how many resamples have it.
fn every_median(values: &[f64]) -> Vec<(f64, f64)> {
    let n = values.len();
    let mut medians: Vec<(f64, f64)> = Vec::new();
    for number in 0..n.pow(n as u32) {
        let places = (0..n).scan(number, |rest, _| {
            let place = *rest % n;
            *rest /= n;
            Some(values[place])
        });
        let resample: Vec<f64> = places.collect();
        let Some(median) = describe::median(&resample) else {
            continue;
        };
        match medians.iter_mut().find(|(known, _)| *known == median) {
            Some((_, times)) => *times += 1.0,
            None => medians.push((median, 1.0)),
        }
    }
    medians
}

fn summary(point: f64, mut weighted: Vec<(f64, f64)>) -> Bootstrap {
    order::by(&mut weighted, |a, b| a.0.total_cmp(&b.0));
    let total: f64 = weighted.iter().map(|(_, times)| times).sum();
    let at_most_one = weighted.iter().filter(|(ratio, _)| *ratio <= 1.0);
    Bootstrap {
        point,
        mean: weighted
            .iter()
            .map(|(ratio, times)| ratio * times)
            .sum::<f64>()
            / total,
        q025: quantile(&weighted, total, 0.025),
        q50: quantile(&weighted, total, 0.5),
        q975: quantile(&weighted, total, 0.975),
        at_most_one: at_most_one.map(|(_, times)| times).sum::<f64>() / total,
    }
}

/// Type 7, of values each of which stands for several.
fn quantile(weighted: &[(f64, f64)], total: f64, q: f64) -> f64 {
    let place = q * (total - 1.0);
    let at = |rank: f64| {
        let mut seen = 0.0;
        let found = weighted.iter().find(|(_, times)| {
            seen += times;
            rank < seen
        });
        found
            .or(weighted.last())
            .map_or(f64::NAN, |(value, _)| *value)
    };
    let low = at(place.floor());
    low + place.fract() * (at(place.floor() + 1.0) - low)
}

const MOST_EXHAUSTIVE: usize = 5;
