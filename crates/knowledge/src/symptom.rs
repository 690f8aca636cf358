// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people say of their network, by general vocabulary.

use std::sync::LazyLock;

use super::raw::Word;
use crate::keys;
use crate::mistake::Mistake;
use crate::packed;
use crate::toml_table;

/// A symptom and the phrases that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    /// Its stable name.
    pub id: String,
    phrases: Vec<Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// A word.
    Word(String),
    /// Words that begin so.
    Begin(String),
    /// Up to [`GAP_WORDS`] words.
    Gap,
}

impl Symptom {
    /// The first word of a text (its words in lower case) where one of the phrases begins.
    #[must_use]
    pub fn find(&self, words: &[&str]) -> Option<usize> {
        (0..words.len()).find(|at| {
            let rest = &words[*at..];
            self.phrases.iter().any(|phrase| matches(phrase, rest))
        })
    }
}

fn matches(phrase: &[Piece], words: &[&str]) -> bool {
    let Some((piece, more)) = phrase.split_first() else {
        return true;
    };
    let fits = |word: &&str| match piece {
        Piece::Word(known) => *word == known,
        Piece::Begin(known) => word.starts_with(known.as_str()),
        Piece::Gap => false,
    };
    match piece {
        Piece::Gap => (0..=GAP_WORDS.min(words.len())).any(|skip| matches(more, &words[skip..])),
        _ => words.first().is_some_and(fits) && matches(more, &words[1..]),
    }
}

/// The words of a sentence, as phrases are compared with them.
#[must_use]
pub fn words(text: &str) -> Vec<&str> {
    let trimmed = text
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| ",.;:!?()[]\"'`*".contains(letter)));
    trimmed.filter(|word| !word.is_empty()).collect()
}

static SYMPTOMS: LazyLock<Vec<Symptom>> = LazyLock::new(|| {
    let files = packed::SYMPTOMS.unpack();
    let parsed = files.iter().map(|(file, text)| parse_symptoms(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

/// The symptoms that the program knows.
#[must_use]
pub fn symptoms() -> &'static [Symptom] {
    &SYMPTOMS
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
            let phrases = one.phrases.iter().map(|text| pieces(text)).collect();
            all.push(Symptom { id, phrases });
        }
        all
    })
}

fn pieces(text: &str) -> Vec<Piece> {
    let piece = |word: &str| match (word, word.strip_suffix('*')) {
        ("…", _) => Piece::Gap,
        (_, Some(begin)) => Piece::Begin(begin.to_owned()),
        (word, None) => Piece::Word(word.to_owned()),
    };
    text.split_whitespace().map(piece).collect()
}

toml_table! {
    RawFile {
        symptom: Vec<RawSymptom> = or_default,
    }
}

toml_table! {
    RawSymptom {
        id: Word = need,
        phrases: Vec<String> = need,
    }
}

const GAP_WORDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_matched_word_by_word() {
        let text = "[[symptom]]\nid = \"slow\"\nphrases = [\"slow*\", \"only … mbit*\"]\n";
        let slow = &parse_symptoms("s.toml", text).unwrap()[0];
        let found = |text: &str| slow.find(&words(&text.to_lowercase()));
        assert_eq!(found("The copy is slower, now"), Some(3));
        assert_eq!(found("We only see about 300 Mbit/s."), Some(1));
        assert_eq!(
            found("only after we had changed the whole switch Mbit"),
            None
        );
        assert_eq!(found("all is well"), None);
    }
}
