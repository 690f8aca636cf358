// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a text is like what people write of each cause. `build.rs` learns it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use linerate_model::order::{self, Gather as _};

use crate::cause::causes;
use crate::packed;
use crate::token::tokens;

/// What is known of a token.
#[derive(Debug)]
struct Token {
    /// How few posts have it: the logarithm of their inverse share.
    specificity: f64,
    /// Causes, by their places in [`causes`], and what it weighs in the direction of each.
    weights: Vec<(usize, f64)>,
}

static LEARNT: LazyLock<HashMap<String, Token>> = LazyLock::new(|| {
    let files = packed::LEARNT.unpack();
    let text = files.first().map_or("", |(_, text)| text.as_str());
    learnt(text).unwrap_or_default()
});

/// Reads what `build.rs` wrote.
fn learnt(text: &str) -> Option<HashMap<String, Token>> {
    let mut lines = text.lines();
    let posts: f64 = lines.next()?.parse().ok()?;
    let place = |id: &str| causes().iter().position(|cause| cause.id == id);
    let ids: Vec<Option<usize>> = lines.next()?.split(' ').map(place).collect();
    let token = |line: &str| {
        let (token, rest) = line.split_once('\t')?;
        let (having, weights) = rest.split_once('\t')?;
        let having: f64 = having.parse().ok()?;
        let known = Token {
            specificity: (posts / having).ln(),
            weights: weights
                .split(' ')
                .filter_map(|one| weight(one, &ids))
                .collect(),
        };
        Some((token.to_owned(), known))
    };
    Some(lines.filter_map(token).collect())
}

/// `CAUSE:WEIGHT`.
fn weight(text: &str, ids: &[Option<usize>]) -> Option<(usize, f64)> {
    let (cause, weight) = text.split_once(':')?;
    let cause = *ids.get(cause.parse::<usize>().ok()?)?;
    Some((cause?, weight.parse::<f64>().ok()? / PER_MILLE))
}

/// How much a text reads like what people write of a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    /// What that says for the cause, decibans.
    pub db: f64,
    /// The words of the text that make it so, those that weigh most first.
    pub words: Vec<String>,
}

/// A word of a text, and what it adds to the likeness of the text and a cause.
type Share<'t> = (&'t str, f64);

/// How much a text in lower case reads like what people write of each cause, by its place in [`causes`]: how far its likeness,
/// the cosine of the angle between them, is above that of the average cause. Causes below it are absent.
#[must_use]
pub fn alike(lower: &str) -> BTreeMap<usize, Alike> {
    let mut shares: BTreeMap<usize, Vec<Share<'_>>> = BTreeMap::new();
    for (token, one) in tokens(lower) {
        let Some(known) = LEARNT.get(&token) else {
            continue;
        };
        let value = (1.0 + f64::from(one.count).ln()) * known.specificity;
        for (cause, weight) in &known.weights {
            let share = (one.word, value * weight);
            shares.entry(*cause).or_default().push(share);
        }
    }
    above_average(shares)
}

fn above_average(shares: BTreeMap<usize, Vec<Share<'_>>>) -> BTreeMap<usize, Alike> {
    let count = causes().len() as f64;
    let likeness: Vec<f64> = shares.values().map(|shares| sum(shares)).collect();
    let mean = likeness.iter().sum::<f64>() / count;
    let squares = likeness.iter().map(|one| one * one).sum::<f64>() / count;
    let deviation = (squares - mean * mean).sqrt().max(f64::MIN_POSITIVE);
    let above = shares.into_iter().map(|(cause, shares)| {
        let db = LIKE_DB * (sum(&shares) - mean) / deviation;
        let words = strongest(shares);
        (cause, Alike { db, words })
    });
    above.filter(|(_, alike)| alike.db > 0.0).gather()
}

fn sum(shares: &[Share<'_>]) -> f64 {
    shares.iter().map(|(_, share)| share).sum()
}

/// The words that weigh most, without numbers.
fn strongest(mut shares: Vec<Share<'_>>) -> Vec<String> {
    shares.retain(|(word, _)| !word.contains(|letter: char| letter.is_ascii_digit()));
    order::by(&mut shares, |(_, one), (_, other)| other.total_cmp(one));
    shares.dedup_by_key(|(word, _)| *word);
    let first = shares.into_iter().take(WORDS_MOST);
    first.map(|(word, _)| word.to_owned()).collect()
}

/// More are not shown.
const WORDS_MOST: usize = 8;
const PER_MILLE: f64 = 1000.0;
/// Decibans for each standard deviation above the average.
const LIKE_DB: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn most_alike(text: &str) -> &'static str {
        let alike = alike(text);
        let best = alike
            .iter()
            .max_by(|(_, one), (_, other)| one.db.total_cmp(&other.db));
        best.map_or("", |(cause, _)| &causes()[*cause].id)
    }

    #[test]
    fn a_text_is_like_what_people_write_of_its_cause() {
        let text = "our wireguard vpn is up, ping works, but big pages hang; with mtu 1280 on wg0 they load";
        assert!(most_alike(text).contains("mtu"), "{}", most_alike(text));
        assert_eq!(most_alike("zzzz"), "");
    }

    /// Its own description is more like it than like the average cause.
    #[test]
    fn every_cause_is_learnt() {
        let reads_like_itself = |at: usize, cause: &crate::Cause| {
            let text = format!("{}\n{}\n{}", cause.title, cause.why, cause.example);
            alike(&text.to_lowercase()).contains_key(&at)
        };
        let all = causes().iter().enumerate();
        let lost = all.filter(|(at, cause)| !reads_like_itself(*at, cause));
        let lost: Vec<&str> = lost.map(|(_, cause)| cause.id.as_str()).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
