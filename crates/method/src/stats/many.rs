// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many tests at once: twenty changes without effect, tried at 5 %, leave one that looks good.

use linerate_model::order;

/// Holm's adjusted p (1979), in the order given: the chance of even one false discovery is kept.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let n = p.len();
    let mut highest: f64 = 0.0;
    adjusted(p, ascending(p).into_iter().enumerate(), |rank, p| {
        highest = highest.max((n - rank) as f64 * p);
        highest.min(1.0)
    })
}

/// The adjusted p of Benjamini and Hochberg (1995): the share of false discoveries is kept.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let n = p.len() as f64;
    let mut lowest: f64 = 1.0;
    let order: Vec<_> = ascending(p).into_iter().enumerate().collect();
    adjusted(p, order.into_iter().rev(), |rank, p| {
        lowest = lowest.min(n / (rank + 1) as f64 * p);
        lowest
    })
}

fn adjusted(
    p: &[f64],
    order: impl Iterator<Item = (usize, usize)>,
    mut adjust: impl FnMut(usize, f64) -> f64,
) -> Vec<f64> {
    let mut all = vec![0.0; p.len()];
    order.for_each(|(rank, place)| all[place] = adjust(rank, p[place]));
    all
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order::by(&mut order, |a, b| p[*a].total_cmp(&p[*b]));
    order
}
