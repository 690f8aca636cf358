// SPDX-License-Identifier: MIT OR Apache-2.0
//! A text as numbers: how often it has each known token, the rare ones weighing more (Spärck Jones, A statistical
//! interpretation of term specificity, 1972), and of length 1.

use std::collections::BTreeMap;

/// Places of tokens, and their values.
pub(crate) type Vector = Vec<(usize, f32)>;

/// How much a token tells that `having` of `texts` texts have.
pub(crate) fn specificity(texts: usize, having: usize) -> f32 {
    ((1.0 + texts as f32) / (1.0 + having as f32)).ln() + 1.0
}

/// The vector of the tokens that `known` knows, by their places and specificities.
pub(crate) fn vector<'t, P, T>(
    counts: impl Iterator<Item = (&'t str, u32, T)>,
    known: impl Fn(&str) -> Option<(P, f32)>,
) -> Vec<(P, f32, T)> {
    let weighed = counts.filter_map(|(token, count, rest)| {
        let (place, specificity) = known(token)?;
        Some((place, (1.0 + (count as f32).ln()) * specificity, rest))
    });
    let mut vector: Vec<(P, f32, T)> = weighed.collect();
    let squares: f32 = vector.iter().map(|(_, value, _)| value * value).sum();
    let length = squares.sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|(_, value, _)| *value /= length);
    vector
}

/// In how many of these texts each token is, without those that hardly any has.
pub(crate) fn having<'t>(
    texts: impl Iterator<Item = &'t BTreeMap<String, u32>>,
) -> BTreeMap<&'t str, usize> {
    let mut having: BTreeMap<&str, usize> = BTreeMap::new();
    for token in texts.flat_map(BTreeMap::keys) {
        *having.entry(token).or_insert(0) += 1;
    }
    having.retain(|_, texts| *texts >= TEXTS_LEAST);
    having
}

const TEXTS_LEAST: usize = 5;
