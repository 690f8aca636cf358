// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words by which causes are spoken of: phrases that their tables list, and the words of their descriptions. Few
//! causes share a telling one, many a common one, so that its weight is counted, not chosen (Spärck Jones, A statistical
//! interpretation of term specificity, 1972).

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use linerate_model::map::Map;
use linerate_model::order::{self, Gather as _};

use crate::cause::{Cause, causes, faults};
use crate::message::messages;
use crate::phrase::{Phrases, words};

/// A phrase and the causes that it supports.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    /// As the table has it.
    pub text: &'static str,
    /// Their places in [`causes`].
    pub causes: Vec<usize>,
    /// What it says for each of them, decibans.
    pub db: f64,
}

static VOCABULARY: LazyLock<(Phrases, Vec<Spoken>)> = LazyLock::new(|| {
    let spoken = spoken(causes());
    (Phrases::of(spoken.iter().map(|one| one.text)), spoken)
});

/// What a text (its [`words()`](crate::words()), in lower case) speaks of, each with the first word where it does.
pub fn spoken_in(words: &[&str]) -> impl Iterator<Item = (&'static Spoken, usize)> + use<> {
    let (phrases, spoken) = &*VOCABULARY;
    let found = phrases.find(words).into_iter();
    found.map(|(number, at)| (&spoken[number], at))
}

fn spoken(causes: &'static [Cause]) -> Vec<Spoken> {
    let mut whose: Map<&'static str, Vec<usize>> = Map::new();
    for (at, cause) in causes.iter().enumerate() {
        for text in &cause.words {
            whose.entry(text).or_default().push(at);
        }
    }
    let all = causes.len();
    whose
        .into_iter()
        .map(|(text, causes)| Spoken {
            text,
            db: weight_db(causes.len(), all),
            causes,
        })
        .collect()
}

/// What a text has in common with the description of a cause.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shared {
    /// The words, the most telling first.
    pub words: Vec<&'static str>,
    /// What they say for the cause, decibans.
    pub db: f64,
}

/// What a text (its [`words()`], in lower case) shares with the descriptions of causes, by their places in [`causes`].
#[must_use]
pub fn shared_with(words: &[&str]) -> Map<usize, Shared> {
    let Described { causes, lengths } = &*DESCRIBED;
    let mut shared: Map<usize, Shared> = Map::new();
    let distinct: BTreeSet<&str> = words.iter().copied().gather();
    let mut found: Vec<(&str, &[usize])> = distinct
        .iter()
        .filter_map(|word| causes.get_key_value(*word))
        .map(|(word, causes)| (word.as_str(), causes.as_slice()))
        .collect();
    order::by_key(&mut found, |(_, causes)| causes.len());
    for (word, of) in found {
        for cause in of {
            let entry = shared.entry(*cause).or_default();
            entry.words.push(word);
            entry.db += described_db(of.len(), lengths.len(), lengths[*cause]);
        }
    }
    shared
}

/// Words and the causes that they describe.
struct Described {
    causes: HashMap<String, Vec<usize>>,
    /// How many words describe each cause.
    lengths: Vec<usize>,
}

static DESCRIBED: LazyLock<Described> = LazyLock::new(|| {
    let each: Vec<BTreeSet<String>> = descriptions().iter().map(|text| telling(text)).collect();
    let mut described: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, words) in each.iter().enumerate() {
        for word in words {
            described.entry(word.clone()).or_default().push(at);
        }
    }
    described.retain(|_, causes| causes.len() <= SHARED_MOST);
    Described {
        causes: described,
        lengths: each.iter().map(BTreeSet::len).collect(),
    }
});

/// What is known of each cause in sentences: its own, those of its known faults and of its messages.
fn descriptions() -> Vec<String> {
    let own = |cause: &Cause| {
        let (check, change) = (&cause.check, &cause.change);
        let said = [
            &cause.title,
            &cause.why,
            &check.command,
            &check.confirms,
            &change.side_effects,
        ];
        let said = said.into_iter().chain(&change.commands);
        said.fold(String::new(), |text, more| text + " " + more)
    };
    let mut all: Vec<String> = causes().iter().map(own).collect();
    let place = |id: &str| causes().iter().position(|cause| cause.id == id);
    for fault in faults() {
        if let Some(text) = place(&fault.cause).and_then(|at| all.get_mut(at)) {
            let names = fault.drivers.iter().chain(&fault.chips);
            let said = [&fault.title, &fault.why, &fault.change.side_effects];
            let said = said.into_iter().chain(&fault.change.commands).chain(names);
            said.for_each(|more| *text += &format!(" {more}"));
        }
    }
    for message in messages().all() {
        let clear = message.supports.iter().filter(|(_, db)| *db >= CLEAR_DB);
        for (cause, _) in clear {
            if let Some(text) = place(cause).and_then(|at| all.get_mut(at)) {
                *text += &format!(" {} {}", message.means, message.patterns[0].text());
            }
        }
    }
    all
}

fn telling(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let long = words(&lower).filter(|word| word.chars().count() > 2);
    long.map(str::to_owned).gather()
}

/// That of a word which describes `some` of `all` causes, for one that `length` words describe.
fn described_db(some: usize, all: usize, length: usize) -> f64 {
    let specificity = (all as f64 / some as f64).ln();
    DESCRIBED_DB * specificity / (length as f64 + LENGTH_LEAST).sqrt()
}

/// That of a phrase which `some` of `all` causes share.
fn weight_db(some: usize, all: usize) -> f64 {
    ALONE_DB * (1.0 - (some as f64).ln() / (all.max(2) as f64).ln())
}

/// That of a phrase which one cause alone has: four times as likely.
const ALONE_DB: f64 = 6.0;
/// By how much descriptions count, and from how many words on their length counts against them: what separates the
/// causes of the cases to learn from best.
const DESCRIBED_DB: f64 = 4.0;
const LENGTH_LEAST: f64 = 20.0;
/// A word that describes more causes is not evidence.
const SHARED_MOST: usize = 60;
/// From here on a message is one of its cause.
const CLEAR_DB: f64 = 6.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_few_share_weighs_most() {
        assert!((weight_db(1, 300) - ALONE_DB).abs() < 1e-9);
        assert!(weight_db(2, 300) > weight_db(20, 300));
        assert!(weight_db(300, 300).abs() < 1e-9);
    }

    #[test]
    fn a_text_shares_words_with_descriptions() {
        let shared = shared_with(&[
            "two",
            "bridges",
            "send",
            "broadcasts",
            "round",
            "spanning",
            "tree",
        ]);
        let best = shared
            .iter()
            .max_by(|(_, one), (_, other)| one.db.total_cmp(&other.db));
        assert_eq!(causes()[*best.unwrap().0].id, "bridge-loop-or-stp");
    }

    #[test]
    fn a_text_speaks_of_causes() {
        let words = ["the", "wireguard", "tunnel", "is", "slow"];
        let spoken: Vec<&Spoken> = spoken_in(&words).map(|(one, _)| one).collect();
        let known = spoken.iter().find(|one| one.text == "wireguard").unwrap();
        let ids = known.causes.iter().map(|at| causes()[*at].id.as_str());
        assert!(ids.into_iter().any(|id| id == "tunnel-costs-processor"));
    }
}
