// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people say of their network, what they try, and in which circumstances, by general vocabulary.

use std::sync::LazyLock;

use linerate_model::map::Map;

use super::raw::Word;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};
use crate::packed;
use crate::phrase::{Phrases, is_phrase};
use crate::toml_table;

/// A symptom, a remedy or a circumstance, and the phrases that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    /// Its stable name.
    pub id: String,
    /// What people say.
    pub phrases: Vec<String>,
}

/// All of one kind, and whose each phrase is.
struct Vocabulary {
    all: Vec<Symptom>,
    phrases: Phrases,
    /// The place of each phrase's owner in `all`.
    owners: Vec<usize>,
}

static SYMPTOMS: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::of(packed::SYMPTOMS, parse_symptoms));
static REMEDIES: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::of(packed::REMEDIES, parse_remedies));

static CIRCUMSTANCES: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::of(packed::CIRCUMSTANCES, parse_circumstances));

type Parse = fn(&str, &str) -> Result<Vec<Symptom>, Vec<Mistake>>;

impl Vocabulary {
    fn of(packed: packed::Packed, parse: Parse) -> Self {
        let files = packed.unpack();
        let parsed = files.iter().map(|(file, text)| parse(file, text));
        let all: Vec<Symptom> = parsed.filter_map(Result::ok).flatten().collect();
        let each = all.iter().enumerate();
        let each = each.flat_map(|(at, one)| one.phrases.iter().map(move |text| (text, at)));
        let (texts, owners): (Vec<&String>, Vec<usize>) = each.unzip();
        let phrases = Phrases::of(texts.into_iter().map(String::as_str));
        Self {
            all,
            phrases,
            owners,
        }
    }

    /// What `words` name, each with the first word where they do.
    fn named(&self, words: &[&str]) -> Map<&str, usize> {
        let mut named = Map::new();
        for (phrase, at) in self.phrases.find(words) {
            let id = self.all[self.owners[phrase]].id.as_str();
            let first = named.entry(id).or_insert(at);
            *first = at.min(*first);
        }
        named
    }
}

/// The symptoms that the program knows.
#[must_use]
pub fn symptoms() -> &'static [Symptom] {
    &SYMPTOMS.all
}

/// The symptoms that a text names (its [`words()`](crate::words()), in lower case), each with the first word where it does.
#[must_use]
pub fn symptoms_in(words: &[&str]) -> Map<&'static str, usize> {
    SYMPTOMS.named(words)
}

/// The remedies that words in lower case name, as [`symptoms_in`].
#[must_use]
pub fn remedies_in(words: &[&str]) -> Map<&'static str, usize> {
    REMEDIES.named(words)
}

/// The circumstances that words in lower case name, as [`symptoms_in`].
#[must_use]
pub fn circumstances_in(words: &[&str]) -> Map<&'static str, usize> {
    CIRCUMSTANCES.named(words)
}

/// Reads the symptoms `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_symptoms(file: &str, text: &str) -> Result<Vec<Symptom>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawSymptoms, mistakes| {
        understood(&raw.symptom, mistakes)
    })
}

/// Reads the remedies `text` of the file `file`.
///
/// # Errors
/// As of [`parse_symptoms`].
pub fn parse_remedies(file: &str, text: &str) -> Result<Vec<Symptom>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawRemedies, mistakes| {
        understood(&raw.remedy, mistakes)
    })
}

/// Reads the circumstances `text` of the file `file`.
///
/// # Errors
/// As of [`parse_symptoms`].
pub fn parse_circumstances(file: &str, text: &str) -> Result<Vec<Symptom>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawCircumstances, mistakes| {
        understood(&raw.circumstance, mistakes)
    })
}

fn understood(raw: &[RawSymptom], mistakes: &mut Mistakes<'_>) -> Vec<Symptom> {
    let mut all: Vec<Symptom> = Vec::new();
    for one in raw {
        let id = one.id.get_ref().clone();
        if all.iter().any(|known| known.id == id) {
            let at = one.id.span().start;
            mistakes.at(at, format!("`{id}` is listed twice"), "each name once");
        }
        all.push(Symptom {
            id,
            phrases: phrases(&one.phrases, mistakes),
        });
    }
    all
}

/// Phrases, each once.
pub(super) fn phrases(raw: &[Word], mistakes: &mut Mistakes<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for one in raw {
        let text = one.get_ref();
        if !is_phrase(text) {
            let what = format!("`{text}` has no word at one of its ends");
            mistakes.at(one.span().start, what, "words, `word*`, `word … word`");
        } else if all.contains(text) {
            mistakes.at(
                one.span().start,
                format!("`{text}` is listed twice"),
                "each phrase once",
            );
        }
        all.push(text.clone());
    }
    all
}

toml_table! {
    RawSymptoms {
        symptom: Vec<RawSymptom> = or_default,
    }
}

toml_table! {
    RawRemedies {
        remedy: Vec<RawSymptom> = or_default,
    }
}

toml_table! {
    RawCircumstances {
        circumstance: Vec<RawSymptom> = or_default,
    }
}

toml_table! {
    RawSymptom {
        id: Word = need,
        phrases: Vec<Word> = need,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    #[test]
    fn a_text_names_symptoms() {
        let lower = "since the update only one cpu core is full";
        let words: Vec<&str> = words(lower).collect();
        let named = symptoms_in(&words);
        assert_eq!(named.get("since-update"), Some(&0));
        assert!(!named.contains_key("duplicates"));
    }

    #[test]
    fn a_clause_names_remedies() {
        let words = ["everything", "is", "fine", "with", "tso", "off"];
        let named: Vec<&str> = remedies_in(&words).into_keys().collect();
        assert_eq!(named, ["cured-by-offload-off"]);
    }

    #[test]
    fn a_phrase_without_words_is_a_mistake() {
        let text = "[[symptom]]\nid = \"slow\"\nphrases = [\"slow*\", \"…\", \"slow*\"]\n";
        assert_eq!(parse_symptoms("s.toml", text).unwrap_err().len(), 2);
    }
}
