// SPDX-License-Identifier: MIT OR Apache-2.0
//! How likely a text is of each label, by its wording.

use std::collections::{BTreeMap, HashMap};

use crate::pack::{self, Packed, PackedToken};
use crate::token::{Occurrence, tokens};
use crate::train::{Row, softmax};
use crate::vector::{specificity, vector};

/// What was learnt.
#[derive(Debug, Default)]
pub struct Model {
    labels: Vec<String>,
    base: Row,
    tokens: HashMap<String, Token>,
}

#[derive(Debug)]
struct Token {
    specificity: f32,
    /// Labels in their order, and what it says for each.
    weights: Vec<(usize, f32)>,
}

/// How a text reads for one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness<'t> {
    /// The place of the label in [`Model::labels`].
    pub label: usize,
    /// How many times as likely as a text of nothing but chance, in decibans: ten times the logarithm of the label's probability
    /// and of the number of labels.
    pub db: f64,
    /// The words of the text that say it, the most telling first.
    pub words: Vec<&'t str>,
}

impl Model {
    /// Reads what [`learn`](crate::learn) wrote; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let Packed {
            texts,
            labels,
            base,
            tokens,
        } = pack::read(text)?;
        let known = |one: PackedToken| {
            let specificity = specificity(texts, one.having);
            (
                one.token,
                Token {
                    specificity,
                    weights: one.weights,
                },
            )
        };
        (base.len() == labels.len()).then(|| Self {
            tokens: tokens.into_iter().map(known).collect(),
            labels,
            base,
        })
    }

    /// In the order of [`Likeness::label`].
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// How a text in lower case reads: the labels that are likelier than by chance; none for a text without a known word.
    #[must_use]
    pub fn likeness<'t>(&self, lower: &'t str) -> Vec<Likeness<'t>> {
        let counted = tokens(lower);
        let vector = self.vector(&counted);
        if vector.is_empty() {
            return Vec::new();
        }
        let mut scores = self.base.clone();
        for (token, value, _) in &vector {
            for (label, weight) in &token.weights {
                if let Some(score) = scores.get_mut(*label) {
                    *score += value * weight;
                }
            }
        }
        softmax(&mut scores);
        let decibans = |share: f32| 10.0 * (f64::from(share) * self.labels.len() as f64).log10();
        let each = scores.into_iter().map(decibans).enumerate();
        let likely = each.filter(|(_, db)| *db > 0.0);
        likely
            .map(|(label, db)| Likeness {
                label,
                db,
                words: telling(&vector, label),
            })
            .collect()
    }

    fn vector<'m, 't>(
        &'m self,
        counted: &BTreeMap<String, Occurrence<'t>>,
    ) -> Vec<(&'m Token, f32, &'t str)> {
        let counts = counted
            .iter()
            .map(|(token, one)| (token.as_str(), one.count, one.word));
        vector(counts, |token| {
            let known = self.tokens.get(token)?;
            Some((known, known.specificity))
        })
    }
}

/// The words that say most for a label, without numbers.
fn telling<'t>(vector: &[(&Token, f32, &'t str)], label: usize) -> Vec<&'t str> {
    let share = |(token, value, word): &(&Token, f32, &'t str)| {
        let at = token
            .weights
            .binary_search_by_key(&label, |(one, _)| *one)
            .ok()?;
        let (_, weight) = token.weights.get(at)?;
        (*weight > 0.0).then_some((*word, value * weight))
    };
    let mut shares: Vec<(&str, f32)> = vector.iter().filter_map(share).collect();
    shares.retain(|(word, _)| !word.contains(|letter: char| letter.is_ascii_digit()));
    shares.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
    shares.dedup_by_key(|(word, _)| *word);
    shares
        .into_iter()
        .take(WORDS_MOST)
        .map(|(word, _)| word)
        .collect()
}

/// More are not shown.
const WORDS_MOST: usize = 8;
