// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people say of their network, by general vocabulary.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::raw::Word;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};
use crate::packed;
use crate::phrase::{Phrases, is_phrase};
use crate::toml_table;

/// A symptom and the phrases that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    /// Its stable name.
    pub id: String,
    /// What people say.
    pub phrases: Vec<String>,
}

static SYMPTOMS: LazyLock<Vec<Symptom>> = LazyLock::new(|| {
    let files = packed::SYMPTOMS.unpack();
    let parsed = files.iter().map(|(file, text)| parse_symptoms(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

/// All phrases, and whose each is.
static PHRASES: LazyLock<(Phrases, Vec<&str>)> = LazyLock::new(|| {
    let each = SYMPTOMS.iter().flat_map(|one| {
        one.phrases
            .iter()
            .map(|text| (text.as_str(), one.id.as_str()))
    });
    let (texts, ids): (Vec<&str>, Vec<&str>) = each.unzip();
    (Phrases::of(texts), ids)
});

/// The symptoms that the program knows.
#[must_use]
pub fn symptoms() -> &'static [Symptom] {
    &SYMPTOMS
}

/// The symptoms that a text names (its [`words()`](crate::words()), in lower case), each with the first word where it does.
#[must_use]
pub fn symptoms_in(words: &[&str]) -> BTreeMap<&'static str, usize> {
    let (phrases, ids) = &*PHRASES;
    let mut named = BTreeMap::new();
    for (phrase, at) in phrases.find(words) {
        let first = named.entry(ids[phrase]).or_insert(at);
        *first = at.min(*first);
    }
    named
}

/// Reads the symptoms `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_symptoms(file: &str, text: &str) -> Result<Vec<Symptom>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| {
        let mut all: Vec<Symptom> = Vec::new();
        for one in &raw.symptom {
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
    })
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
    RawFile {
        symptom: Vec<RawSymptom> = or_default,
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
    fn a_phrase_without_words_is_a_mistake() {
        let text = "[[symptom]]\nid = \"slow\"\nphrases = [\"slow*\", \"…\", \"slow*\"]\n";
        assert_eq!(parse_symptoms("s.toml", text).unwrap_err().len(), 2);
    }
}
