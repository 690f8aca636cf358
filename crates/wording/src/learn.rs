// SPDX-License-Identifier: MIT OR Apache-2.0
//! From texts with labels to a packed model.

use std::collections::BTreeMap;

use crate::pack::{self, Packed, PackedToken};
use crate::token::tokens;
use crate::train::{Row, Sample, train};
use crate::vector::{having, specificity, vector};

/// Learns how texts of each label are worded; the result is what [`Model::parse`](crate::Model::parse) reads.
#[must_use]
pub fn learn(labels: &BTreeMap<String, Vec<String>>) -> String {
    let counted: Vec<Vec<BTreeMap<String, u32>>> = labels
        .values()
        .map(|texts| texts.iter().map(|text| counts(text)).collect())
        .collect();
    let texts = counted.iter().map(Vec::len).sum();
    let known = having(counted.iter().flatten());
    let places: BTreeMap<&str, (usize, f32)> = known
        .iter()
        .enumerate()
        .map(|(at, (token, having))| (*token, (at, specificity(texts, *having))))
        .collect();
    let trained = train(
        &samples(&counted, &places, texts),
        known.len(),
        counted.len(),
    );
    let rows = trained.rows.into_iter().map(|row| telling(centred(row)));
    let packed = known
        .iter()
        .zip(rows)
        .map(|((token, having), weights)| PackedToken {
            token: (*token).to_owned(),
            having: *having,
            weights,
        });
    pack::write(&Packed {
        texts,
        labels: labels.keys().cloned().collect(),
        base: trained.base,
        tokens: packed.filter(|token| !token.weights.is_empty()).collect(),
    })
}

fn counts(text: &str) -> BTreeMap<String, u32> {
    let lower = text.to_lowercase();
    let tokens = tokens(&lower).into_iter();
    tokens.map(|(token, one)| (token, one.count)).collect()
}

/// Labels with fewer texts count almost as much as others, all of their texts together.
fn samples(
    counted: &[Vec<BTreeMap<String, u32>>],
    places: &BTreeMap<&str, (usize, f32)>,
    texts: usize,
) -> Vec<Sample> {
    let usual = texts as f32 / counted.len() as f32;
    let of_label = |(label, own): (usize, &Vec<BTreeMap<String, u32>>)| {
        let weight = (usual / own.len() as f32).powf(BALANCE);
        own.iter()
            .map(|text| {
                let counts = text
                    .iter()
                    .map(|(token, count)| (token.as_str(), *count, ()));
                let vector = vector(counts, |token| places.get(token).copied());
                Sample {
                    vector: vector
                        .into_iter()
                        .map(|(at, value, ())| (at, value))
                        .collect(),
                    label,
                    weight,
                }
            })
            .collect::<Vec<_>>()
    };
    counted.iter().enumerate().flat_map(of_label).collect()
}

/// Without what it says for most labels: probabilities stay as they are if a token says as much more or less for all.
fn centred(mut row: Row) -> Row {
    let mut sorted = row.clone();
    sorted.sort_by(f32::total_cmp);
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    row.iter_mut().for_each(|weight| *weight -= usual);
    row
}

/// Labels and what a token says for them, where it says something.
fn telling(row: Row) -> Vec<(usize, f32)> {
    let each = row.into_iter().enumerate();
    each.filter(|(_, weight)| !pack::is_none(*weight)).collect()
}

const BALANCE: f32 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    fn labelled() -> BTreeMap<String, Vec<String>> {
        let texts = |words: &[&str]| {
            let pairs = words.iter().zip(words.iter().cycle().skip(1));
            let each = pairs.map(|(one, other)| format!("{one} and {other}"));
            each.cycle().take(6 * words.len()).collect::<Vec<_>>()
        };
        let all = [
            ("cable", ["crc errors", "old cable", "long cable"]),
            ("dns", ["names fail", "no resolver", "unknown host"]),
            (
                "vpn",
                ["downloads hang", "the tunnel stalls", "large pages hang"],
            ),
        ];
        let each = all
            .iter()
            .map(|(label, words)| ((*label).to_owned(), texts(words)));
        each.collect()
    }

    #[test]
    fn the_same_texts_give_the_same_model() {
        assert_eq!(learn(&labelled()), learn(&labelled()));
    }

    #[test]
    fn new_texts_are_told_apart_by_their_words() {
        let model = Model::parse(&learn(&labelled())).expect("a model");
        for (text, label) in [
            ("crc errors, old cable", "cable"),
            ("my tunnel hangs", "vpn"),
        ] {
            let likely = model.likeness(text);
            assert_eq!(likely.len(), 1, "{text}: {likely:?}");
            assert_eq!(model.labels()[likely[0].label], label);
            assert!(likely[0].db > 1.0, "{likely:?}");
            assert!(!likely[0].words.is_empty(), "{likely:?}");
        }
        assert_eq!(model.likeness("zzzz"), []);
    }

    #[test]
    fn a_row_is_centred_without_a_change_of_probabilities() {
        assert_eq!(centred(vec![1.0, -0.5, -0.5]), [1.5, 0.0, 0.0]);
    }
}
