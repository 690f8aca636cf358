// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is counted of a text: the stems of its words.

use std::collections::BTreeMap;

/// How a token occurs in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrence<'t> {
    /// How often.
    pub(crate) count: u32,
    /// The first word that has it.
    pub(crate) word: &'t str,
}

/// The tokens of a text in lower case. Numbers are one, addresses none.
pub(crate) fn tokens(lower: &str) -> BTreeMap<String, Occurrence<'_>> {
    let mut tokens = BTreeMap::new();
    for word in lower.lines().flat_map(words) {
        for stem in stems(word) {
            let first = Occurrence { count: 0, word };
            tokens.entry(stem).or_insert(first).count += 1;
        }
    }
    tokens
}

/// The words of a line that say something.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let apart = |letter: char| letter.is_whitespace() || "=<>{}|,;\"`()[]:/!?*".contains(letter);
    let trimmed = line
        .split(apart)
        .map(|word| word.trim_matches(|letter: char| ".'-+#$%&@~^".contains(letter)));
    trimmed.filter(|word| is_word(word) && !COMMON.contains(word))
}

/// Whether it has a letter, and is no address.
fn is_word(word: &str) -> bool {
    let has = |kind: fn(char) -> bool| word.contains(kind);
    let is_address = || {
        has(|letter| letter.is_ascii_digit())
            && !has(|letter| !letter.is_ascii_hexdigit() && letter != '.')
    };
    has(char::is_alphabetic) && word.len() > 1 && !is_address()
}

/// Its stem, and the stems of what `_` and `-` join.
fn stems(word: &str) -> impl Iterator<Item = String> + '_ {
    let parts = word.split(['_', '-']).filter(move |part| {
        part.len() > 2 && part.len() < word.len() && part.contains(char::is_alphabetic)
    });
    std::iter::once(word).chain(parts).map(stem)
}

/// Without its ending, and with one digit for each number.
fn stem(word: &str) -> String {
    let known =
        |ending: &&&str| word.ends_with(**ending) && word.len() >= ending.len() + STEM_LEAST;
    let cut = ENDINGS.iter().find(known).map_or(0, |ending| ending.len());
    let mut stem = String::with_capacity(word.len());
    for letter in word[..word.len() - cut].chars() {
        let digit = letter.is_ascii_digit();
        if !(digit && stem.ends_with('0')) {
            stem.push(if digit { '0' } else { letter });
        }
    }
    stem
}

const ENDINGS: &[&str] = &["ing", "edly", "ed", "ies", "es", "s", "ly"];
const STEM_LEAST: usize = 4;
/// Words of every text.
const COMMON: &[&str] = &[
    "also", "am", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could", "did",
    "do", "does", "for", "from", "had", "has", "have", "he", "here", "how", "i'm", "if", "in",
    "is", "it", "its", "just", "me", "my", "no", "not", "of", "on", "or", "our", "so", "some",
    "than", "that", "the", "them", "then", "there", "they", "this", "to", "us", "very", "was",
    "we", "were", "what", "when", "which", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_counted() {
        let counted =
            tokens("the link flaps; rx_missed_errors: 51\nlinks flapped at 00:1b:21:3c 192.0.2.7");
        let count = |token: &str| counted.get(token).map(|one| one.count);
        assert_eq!((count("link"), count("flap")), (Some(2), Some(1)));
        assert_eq!(
            (count("rx_missed_error"), count("miss")),
            (Some(1), Some(1))
        );
        assert_eq!(counted["flap"].word, "flaps");
        assert!(
            counted.keys().all(|token| !token.contains("192")),
            "{counted:?}"
        );
    }

    #[test]
    fn a_number_is_one_digit() {
        let tokens = tokens("eth10 at 2500mb");
        assert!(
            tokens.contains_key("eth0") && tokens.contains_key("0mb"),
            "{tokens:?}"
        );
    }
}
