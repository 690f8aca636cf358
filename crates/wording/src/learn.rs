// SPDX-License-Identifier: MIT OR Apache-2.0
//! From texts with labels to a packed model.

use std::collections::BTreeMap;

use crate::pack::{self, Packed, PackedToken};
use crate::token::tokens;
use crate::train::{Row, Sample, train};
use crate::vector::{Vector, having, specificity, vector};

/// A text to learn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The text.
    pub text: String,
    /// What it is a text of, and how much it counts as one (above 0); of a label that stands here twice, both count.
    pub labels: Vec<(String, f32)>,
}

/// Learns how texts of each label are worded; the result is what [`Model::parse`](crate::Model::parse) reads.
#[must_use]
pub fn learn(lessons: &[Lesson]) -> String {
    let counted: Vec<BTreeMap<String, u32>> =
        lessons.iter().map(|lesson| counts(&lesson.text)).collect();
    let known = having(counted.iter());
    let places: BTreeMap<&str, (usize, f32)> = known
        .iter()
        .enumerate()
        .map(|(at, (token, having))| (*token, (at, specificity(lessons.len(), *having))))
        .collect();
    let labels = Labels::of(lessons);
    let vectors = counted.iter().map(|counts| placed(counts, &places));
    let samples = vectors.zip(lessons).map(|(vector, lesson)| Sample {
        vector,
        labels: labels.balanced(lesson),
    });
    let samples: Vec<Sample> = samples.collect();
    let trained = train(&samples, known.len(), labels.0.len());
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
        texts: lessons.len(),
        labels: labels.0.keys().map(|label| (*label).to_owned()).collect(),
        base: trained.base,
        tokens: packed.filter(|token| !token.weights.is_empty()).collect(),
    })
}

fn counts(text: &str) -> BTreeMap<String, u32> {
    let lower = text.to_lowercase();
    let tokens = tokens(&lower).into_iter();
    tokens.map(|(token, one)| (token, one.count)).collect()
}

fn placed(counts: &BTreeMap<String, u32>, places: &BTreeMap<&str, (usize, f32)>) -> Vector {
    let counts = counts
        .iter()
        .map(|(token, count)| (token.as_str(), *count, ()));
    let vector = vector(counts, |token| places.get(token).copied());
    vector
        .into_iter()
        .map(|(at, value, ())| (at, value))
        .collect()
}

/// All labels in their order, each with its place and what a text of it counts: labels with fewer texts count almost as much as
/// others, all of their texts together.
struct Labels<'l>(BTreeMap<&'l str, (usize, f32)>);

impl<'l> Labels<'l> {
    fn of(lessons: &'l [Lesson]) -> Self {
        let mut sums: BTreeMap<&str, f32> = BTreeMap::new();
        for (label, counts) in lessons.iter().flat_map(|lesson| &lesson.labels) {
            *sums.entry(label).or_insert(0.0) += counts;
        }
        let usual = sums.values().sum::<f32>() / sums.len() as f32;
        let weight = |own: f32| (usual / own).powf(BALANCE);
        let each = sums.into_iter().enumerate();
        Self(
            each.map(|(at, (label, own))| (label, (at, weight(own))))
                .collect(),
        )
    }

    fn balanced(&self, lesson: &Lesson) -> Vec<(usize, f32)> {
        let each = lesson.labels.iter();
        each.filter_map(|(label, counts)| {
            let (at, weight) = self.0.get(label.as_str())?;
            Some((*at, counts * weight))
        })
        .collect()
    }
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

    fn lessons() -> Vec<Lesson> {
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
        let each = all.iter().flat_map(|(label, words)| {
            let lesson = |text| lesson(text, &[(label, 1.0)]);
            texts(words).into_iter().map(lesson).collect::<Vec<_>>()
        });
        each.collect()
    }

    fn lesson(text: String, labels: &[(&str, f32)]) -> Lesson {
        let labels = labels
            .iter()
            .map(|(label, counts)| ((*label).to_owned(), *counts));
        Lesson {
            text,
            labels: labels.collect(),
        }
    }

    #[test]
    fn the_same_texts_give_the_same_model() {
        assert_eq!(learn(&lessons()), learn(&lessons()));
    }

    #[test]
    fn new_texts_are_told_apart_by_their_words() {
        let model = Model::parse(&learn(&lessons())).expect("a model");
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
    fn a_text_may_be_one_of_several_labels() {
        let mut lessons = lessons();
        for _ in 0..20 {
            lessons.push(lesson(
                "flapping wobble".to_owned(),
                &[("cable", 0.8), ("dns", 0.2)],
            ));
        }
        let model = Model::parse(&learn(&lessons)).expect("a model");
        let likely = model.likeness("wobble");
        let best = likely
            .iter()
            .max_by(|one, other| one.db.total_cmp(&other.db));
        assert_eq!(best.map(|one| one.label), Some(0), "{likely:?}");
    }

    #[test]
    fn a_row_is_centred_without_a_change_of_probabilities() {
        assert_eq!(centred(vec![1.0, -0.5, -0.5]), [1.5, 0.0, 0.0]);
    }
}
