// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many tests at once: of twenty changes without effect, tested at 5 % each, one looks like an improvement.

/// Returns Holm's adjusted p (1979), in the order given. They bound the chance of even one false discovery.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    linerate_model::order::by(&mut order, |a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut highest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        highest = highest.max((p.len() - rank) as f64 * p[place]);
        adjusted[place] = highest.min(1.0);
    }
    adjusted
}
