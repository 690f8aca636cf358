// SPDX-License-Identifier: MIT OR Apache-2.0
//! Learns from `knowledge/posts/CAUSE.txt` and from the descriptions of causes how people write of each: the mean direction
//! of its texts (Rocchio, Relevance feedback in information retrieval, 1971), each text a vector of its tokens weighted by
//! how few texts have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::token::tokens;

/// The tokens of a text, with their weights.
type Vector = BTreeMap<String, f64>;

/// Learns from each cause's texts. Returns the number of texts, the causes, and a line for each token: the token, the
/// number of texts that have it, and pairs of a cause and its weight there.
pub(crate) fn learn(causes: &BTreeMap<String, Vec<String>>) -> String {
    let counted = causes.values().flatten();
    let counted: Vec<BTreeMap<String, u32>> = counted.map(|text| counts(text)).collect();
    let known = known(&counted);
    let texts = counted.len();
    let mut rest = counted.iter();
    let means = causes.values().map(|own| {
        let vectors = rest.by_ref().take(own.len());
        mean(vectors.map(|text| vector(text, &known, texts)))
    });
    let means: Vec<Vector> = means.collect();
    let ids: Vec<&str> = causes.keys().map(String::as_str).collect();
    format!("{texts}\n{}\n{}", ids.join(" "), lines(&known, &means))
}

fn counts(text: &str) -> BTreeMap<String, u32> {
    let lower = text.to_lowercase();
    let tokens = tokens(&lower).into_iter();
    tokens.map(|(token, one)| (token, one.count)).collect()
}

/// The tokens that several texts have, each with how many.
fn known(counted: &[BTreeMap<String, u32>]) -> BTreeMap<&str, usize> {
    let mut having: BTreeMap<&str, usize> = BTreeMap::new();
    for token in counted.iter().flat_map(BTreeMap::keys) {
        *having.entry(token).or_insert(0) += 1;
    }
    having.retain(|_, texts| *texts >= TEXTS_LEAST);
    having
}

/// Of length 1.
fn vector(text: &BTreeMap<String, u32>, known: &BTreeMap<&str, usize>, texts: usize) -> Vector {
    let weighed = text.iter().filter_map(|(token, count)| {
        let having = *known.get(token.as_str())?;
        let specificity = (texts as f64 / having as f64).ln();
        Some((token.clone(), (1.0 + f64::from(*count).ln()) * specificity))
    });
    unit(weighed.collect())
}

fn unit(mut vector: Vector) -> Vector {
    let length = vector
        .values()
        .map(|value| value * value)
        .sum::<f64>()
        .sqrt();
    vector
        .values_mut()
        .for_each(|value| *value /= length.max(f64::MIN_POSITIVE));
    vector
}

/// The direction of several, without what only few of them have.
fn mean(vectors: impl Iterator<Item = Vector>) -> Vector {
    let mut sum = Vector::new();
    for (token, value) in vectors.flatten() {
        *sum.entry(token).or_insert(0.0) += value;
    }
    let mut strongest: Vec<(String, f64)> = unit(sum).into_iter().collect();
    strongest.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    strongest.truncate(TOKENS_MOST);
    strongest.into_iter().collect()
}

fn lines(known: &BTreeMap<&str, usize>, means: &[Vector]) -> String {
    let mut text = String::new();
    for (token, texts) in known {
        let _ = write!(text, "{token}\t{texts}\t");
        for (cause, mean) in means.iter().enumerate() {
            if let Some(value) = mean.get(*token) {
                let _ = write!(text, "{cause}:{:.0} ", value * PER_MILLE);
            }
        }
        text.push('\n');
    }
    text
}

const TEXTS_LEAST: usize = 4;
/// Further tokens of a cause weigh little, and take room in the program.
const TOKENS_MOST: usize = 100;
const PER_MILLE: f64 = 1000.0;
