// SPDX-License-Identifier: MIT OR Apache-2.0
//! Phrases of general vocabulary, matched word by word.

use std::collections::HashMap;

use linerate_model::map::Map;

/// Many phrases, each with its number in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrases {
    phrases: Vec<Vec<Piece>>,
    /// By their first word.
    by_word: HashMap<String, Vec<usize>>,
    /// By the head of what their first word begins with.
    by_head: HashMap<String, Vec<usize>>,
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

impl Phrases {
    /// Reads phrases: `*` at the end of a word stands for any ending, `…` for up to four words.
    pub fn of<'p>(texts: impl IntoIterator<Item = &'p str>) -> Self {
        let mut all = Self::default();
        for (number, text) in texts.into_iter().enumerate() {
            let phrase = pieces(text);
            match phrase.first() {
                Some(Piece::Word(word)) => {
                    all.by_word.entry(word.clone()).or_default().push(number)
                }
                Some(Piece::Begin(begin)) => {
                    let head = head(begin).to_owned();
                    all.by_head.entry(head).or_default().push(number);
                }
                Some(Piece::Gap) | None => {}
            }
            all.phrases.push(phrase);
        }
        all
    }

    /// The phrases that occur in a text (its [`words()`], in lower case), each with the first word where it begins.
    #[must_use]
    pub fn find(&self, words: &[&str]) -> Map<usize, usize> {
        let mut found = Map::new();
        for at in 0..words.len() {
            for number in self.beginning_at(&words[at..]) {
                found.entry(number).or_insert(at);
            }
        }
        found
    }

    fn beginning_at<'a>(&'a self, words: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        let first = words.first().copied().unwrap_or_default();
        let whole = self.by_word.get(first);
        let beginning = self.by_head.get(head(first));
        let numbers = whole.into_iter().chain(beginning).flatten().copied();
        numbers.filter(move |number| matches(&self.phrases[*number], words))
    }
}

/// Whether a phrase has a word to look for, and none of its ends is open.
#[must_use]
pub fn is_phrase(text: &str) -> bool {
    let pieces = pieces(text);
    let ends = [pieces.first(), pieces.last()];
    ends.iter()
        .all(|end| end.is_some_and(|piece| *piece != Piece::Gap))
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

/// The words of a text, as phrases are compared with them.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let apart = |letter: char| {
        letter.is_whitespace() || "=<>{}|,;\"`()[]".contains(letter) || letter >= FIRST_CJK
    };
    let trimmed = text
        .split(apart)
        .map(|word| word.trim_matches(|letter: char| ".:!?'*".contains(letter)));
    trimmed.filter(|word| word.contains(char::is_alphanumeric))
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in text.split_whitespace() {
        if part == "…" {
            pieces.push(Piece::Gap);
            continue;
        }
        pieces.extend(words(part).map(|word| Piece::Word(word.to_owned())));
        if let (true, Some(Piece::Word(begin))) = (part.ends_with('*'), pieces.last().cloned()) {
            pieces.pop();
            pieces.push(Piece::Begin(begin));
        }
    }
    pieces
}

/// Its first two letters.
fn head(word: &str) -> &str {
    let end = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

const GAP_WORDS: usize = 4;
/// From here on there are scripts that do not put spaces between words.
const FIRST_CJK: char = '\u{2e80}';

#[cfg(test)]
mod tests {
    use super::*;

    fn found(phrases: &[&str], text: &str) -> Vec<(usize, usize)> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = words(&lower).collect();
        let all = Phrases::of(phrases.iter().copied());
        all.find(&words).into_iter().collect()
    }

    #[test]
    fn phrases_are_matched_word_by_word() {
        let slow = ["slow*", "only … mbit*"];
        assert_eq!(found(&slow, "The copy is slower, now"), [(0, 3)]);
        assert_eq!(found(&slow, "We only see about 300 Mbit/s."), [(1, 1)]);
        let far = "only after we had changed the whole switch Mbit";
        assert_eq!(found(&slow, far), []);
        assert_eq!(found(&slow, "all is well"), []);
    }

    #[test]
    fn signs_between_words_do_not_matter() {
        let set = ["pcie_aspm=off", "duplex: half", "-s 1472"];
        let text = "`pcie_aspm=off` helps\n\tDuplex: Half\n$ ping -s 1472 host";
        assert_eq!(found(&set, text).len(), 3);
        assert_eq!(found(&["cwnd"], "拥塞窗口打塌到cwnd，2"), [(0, 0)]);
    }

    #[test]
    fn a_phrase_has_a_word_at_both_ends() {
        assert!(is_phrase("only … mbit*"));
        for not in ["", "…", "… mbit", "only …", "->"] {
            assert!(!is_phrase(not), "{not}");
        }
    }
}
