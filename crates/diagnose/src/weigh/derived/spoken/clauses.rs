// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sentences cut into clauses: whether each says that something is well or bad, the rate that it names, the classes of
//! its words.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::rate::rate_of;
use super::classes::{CLASSES, Class};
use super::polarity::{Polarity, polarity};
use crate::weigh::observed::Line;

/// A part of a sentence with one statement.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    /// In lower case.
    pub(super) words: Vec<String>,
    pub(super) polarity: Polarity,
    /// Bits a second.
    pub(super) rate: Option<f64>,
    pub(super) sentence: usize,
    pub(super) line: u64,
    classes: Class,
    /// What stands before it.
    before: Break,
    original: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Break {
    Sentence,
    /// `but`, `while`, `;`.
    Contrast,
    /// `,`, `and`.
    Weak,
}

impl Clause {
    fn new(sentence: usize, line: u64, before: Break) -> Self {
        Self {
            words: Vec::new(),
            polarity: Polarity::None,
            rate: None,
            sentence,
            line,
            classes: 0,
            before,
            original: Vec::new(),
        }
    }

    pub(super) fn has(&self, classes: Class) -> bool {
        self.classes & classes != 0
    }

    pub(super) fn is_good(&self) -> bool {
        self.polarity == Polarity::Good
    }

    pub(super) fn is_bad(&self) -> bool {
        self.polarity == Polarity::Bad
    }

    /// A number with its unit a second: `12.5 mpps`, `301880 msg/s`.
    pub(super) fn quantity(&self) -> Option<(f64, &str)> {
        let each = self.words.iter().zip(self.words.iter().skip(1));
        let a_second = |unit: &str| UNIT_ENDS.iter().any(|end| unit.ends_with(end));
        let mut found = each.filter(|(_, unit)| a_second(unit));
        found.find_map(|(number, unit)| Some((number.parse().ok()?, unit.as_str())))
    }

    /// Whether it names a number of something a second, or a time.
    fn names_value(&self) -> bool {
        let each = self.words.iter().zip(self.words.iter().skip(1));
        let mut times = each.filter(|(_, unit)| TIMES.contains(&unit.as_str()));
        self.quantity().is_some() || times.any(|(number, _)| number.parse::<f64>().is_ok())
    }

    fn push(&mut self, word: &str) {
        self.words.push(word.to_ascii_lowercase());
        self.original.push(word.to_owned());
    }

    fn judge(&mut self) {
        let originals: Vec<&str> = self.original.iter().map(String::as_str).collect();
        self.rate = rate_of(&originals);
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        self.polarity = polarity(&words, self.rate.is_some());
        self.classes = classes(&words);
    }

    fn is_open(&self) -> bool {
        self.polarity == Polarity::None && self.rate.is_none() && !self.names_value()
    }

    /// `the copy is slow, only 38 MB/s`
    fn belongs_to(&self, last: &Self) -> bool {
        let agrees = self.polarity == Polarity::None || self.polarity == last.polarity;
        let adds = self.rate.is_some() && last.rate.is_none() && self.classes == 0;
        self.before == Break::Weak && adds && agrees
    }

    fn join(&mut self, other: Self) {
        self.words.extend(other.words);
        self.original.extend(other.original);
        self.judge();
    }
}

/// All clauses that the author wrote.
pub(super) fn clauses(lines: &[Line<'_>]) -> Vec<Clause> {
    let mut pieces = Pieces::default();
    let (mut all, mut written) = (0, 0);
    let mut follows = false;
    for line in lines {
        all += line.text.len();
        follows = is_written(line.text, follows);
        if follows {
            written += line.text.len();
            pieces.read(line);
        } else {
            pieces.end(Break::Sentence);
        }
        if all > BYTES_MOST || written > WRITTEN_MOST {
            break;
        }
    }
    pieces.end(Break::Sentence);
    together(pieces.done)
}

/// Whether a line reads like a sentence or continues one.
fn is_written(text: &str, follows: bool) -> bool {
    let text = text.trim_start_matches(['>', '*', '-', '#', ' ', '\t']);
    if text.starts_with(['|', '<']) || text.starts_with("[ ") {
        return false;
    }
    let (mut count, mut plain, mut small) = (0_usize, 0_usize, 0_usize);
    for word in text.split_whitespace() {
        let core = trimmed(word);
        count += 1;
        plain += usize::from(
            core.chars()
                .all(|one| one.is_alphabetic() || "'’-/".contains(one)),
        );
        small += usize::from(SMALL.iter().any(|known| core.eq_ignore_ascii_case(known)));
    }
    let is_labelled = text
        .split_whitespace()
        .next()
        .is_some_and(|word| word.ends_with(':'));
    let goes_on = follows && !is_labelled && count > 0 && count < 6 && plain * 2 >= count;
    goes_on || (count >= 3 && small > 0 && plain * 2 >= count) || (small > 1 && plain * 3 >= count)
}

#[derive(Default)]
struct Pieces {
    done: Vec<Clause>,
    now: Option<Clause>,
    sentence: usize,
    before: Option<Break>,
}

impl Pieces {
    fn read(&mut self, line: &Line<'_>) {
        for raw in line.text.replace('’', "'").split_whitespace() {
            let word = trimmed(raw);
            let lower = word.to_ascii_lowercase();
            if CONTRASTS.contains(&lower.as_str()) {
                self.end(Break::Contrast);
                continue;
            }
            if lower == "and" || !word.contains(char::is_alphanumeric) {
                self.end(Break::Weak);
                continue;
            }
            let before = self.before.unwrap_or(Break::Sentence);
            let new = || Clause::new(self.sentence, line.number, before);
            self.now.get_or_insert_with(new).push(word);
            self.after(raw, &lower);
        }
    }

    fn after(&mut self, raw: &str, lower: &str) {
        let tail = raw.trim_end_matches(['"', '\'', '*', '_', '`']);
        let inner = tail.trim_end_matches(')');
        if inner.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&lower) {
            self.end(Break::Sentence);
        } else if tail.ends_with(';') {
            self.end(Break::Contrast);
        } else if tail.ends_with([',', ')']) {
            self.end(Break::Weak);
        }
    }

    fn end(&mut self, how: Break) {
        let ended = self.now.take();
        let stronger = ended.is_some() || self.before.is_none_or(|before| before == Break::Weak);
        if how == Break::Sentence || stronger {
            self.before = Some(how);
        }
        if how == Break::Sentence {
            self.sentence += 1;
        }
        if let Some(mut clause) = ended {
            clause.judge();
            self.done.push(clause);
        }
    }
}

/// Joins pieces that say nothing of themselves to the statement that they belong to: the next one, or the last.
fn together(pieces: Vec<Clause>) -> Vec<Clause> {
    let mut all: Vec<Clause> = Vec::new();
    let mut rest = pieces.into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        let sentence = piece.sentence;
        let goes_on = |next: &Clause| next.sentence == sentence && next.before == Break::Weak;
        while piece.words.len() < OPEN_WORDS
            && piece.is_open()
            && let Some(next) = rest.next_if(goes_on)
        {
            piece.join(next);
        }
        let of_sentence = |last: &&mut Clause| last.sentence == sentence;
        match all.last_mut().filter(of_sentence) {
            // `works from outside, but not from inside`
            Some(last) if piece.is_open() && piece.before == Break::Contrast => {
                let is_short = piece.words.len() <= SHORT_WORDS;
                piece.polarity = if is_short {
                    last.polarity.opposite()
                } else {
                    Polarity::None
                };
                all.push(piece);
            }
            Some(last) if piece.is_open() || piece.belongs_to(last) => last.join(piece),
            _ => all.push(piece),
        }
    }
    all
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric() && !"~+-/".contains(letter))
        .trim_end_matches(['-', '/'])
}

fn classes(words: &[&str]) -> Class {
    let mut found = 0;
    for at in 0..words.len() {
        let known = words.get(at).and_then(|word| INDEX.get(head(word)));
        for (pattern, class) in known.into_iter().flatten() {
            if begins(pattern, words.get(at..).unwrap_or_default()) {
                found |= class;
            }
        }
    }
    found
}

/// Whether words begin with a pattern; `*` at the end of a word stands for any ending.
fn begins(pattern: &[&str], words: &[&str]) -> bool {
    let fits = |(known, word): (&&str, &&str)| match known.strip_suffix('*') {
        Some(begin) => word.starts_with(begin),
        None => word == known,
    };
    pattern.len() <= words.len() && pattern.iter().zip(words).all(fits)
}

/// As [`begins`], for a pattern as it is written.
pub(super) fn begins_text<W: AsRef<str>>(pattern: &str, words: &[W]) -> bool {
    let mut rest = words.iter();
    pattern.split(' ').all(|known| {
        let Some(word) = rest.next() else {
            return false;
        };
        match known.strip_suffix('*') {
            Some(begin) => word.as_ref().starts_with(begin),
            None => word.as_ref() == known,
        }
    })
}

/// Words of patterns with their classes, by a head.
type Index = HashMap<&'static str, Vec<(Vec<&'static str>, Class)>>;

/// Patterns by the first letters of their first word.
static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::new();
    for (class, patterns) in CLASSES {
        for pattern in *patterns {
            let words: Vec<&str> = pattern.split(' ').collect();
            let head = head(
                words
                    .first()
                    .copied()
                    .unwrap_or_default()
                    .trim_end_matches('*'),
            );
            index.entry(head).or_default().push((words, *class));
        }
    }
    index
});

fn head(word: &str) -> &str {
    word.get(..2).unwrap_or(word)
}

/// How far the text is searched for sentences, and the most that an author writes.
const BYTES_MOST: usize = 1 << 21;
const WRITTEN_MOST: usize = 1 << 17;
const TIMES: &[&str] = &["ms", "seconds", "minutes"];
const UNIT_ENDS: &[&str] = &["/s", "ps", "/sec"];
/// A longer list is not a statement.
const OPEN_WORDS: usize = 40;
const SHORT_WORDS: usize = 7;
const CONTRASTS: &[&str] = &[
    "but", "while", "whereas", "however", "although", "though", "yet", "except", "unlike",
    "instead",
];
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "vs", "approx", "ca", "resp", "max", "min", "no",
];
/// Small words of sentences, which outputs seldom have.
const SMALL: &[&str] = &[
    "the", "a", "an", "is", "are", "was", "it", "i", "we", "to", "in", "on", "with", "from", "but",
    "and", "at", "of", "not", "only", "by", "my", "our", "all", "has", "have", "does", "doesn't",
    "can", "can't", "cannot", "this", "that", "when", "if", "after", "works", "work", "while",
    "without", "for", "every", "each", "there", "always", "over", "as", "per",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(String, Polarity)> {
        let lines: Vec<Line<'_>> = text
            .lines()
            .zip(1..)
            .map(|(text, number)| Line { number, text })
            .collect();
        let all = clauses(&lines).into_iter();
        all.map(|one| (one.words.join(" "), one.polarity)).collect()
    }

    #[test]
    fn a_sentence_is_cut_where_its_judgement_changes() {
        let found = said("With iperf all is fine, but NFS\nis very slow.\n");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].1, Polarity::Good);
        assert_eq!(found[1], ("nfs is very slow".to_owned(), Polarity::Bad));
        let found = said(
            "At 10 Mbit/s nothing comes through, at 100 and 1000 Mbit/s there are no errors\n",
        );
        let polarities: Vec<Polarity> = found.iter().map(|one| one.1).collect();
        assert_eq!(polarities, [Polarity::Bad, Polarity::Good], "{found:?}");
    }

    #[test]
    fn a_contrast_without_a_verb_is_the_opposite() {
        let found = said("From outside it works, but not from the LAN.\n");
        assert_eq!(found[1].1, Polarity::Bad, "{found:?}");
    }

    #[test]
    fn outputs_are_not_sentences() {
        assert_eq!(
            said("eth0: flags=4163<UP> mtu 1500\nRX packets 12 errors 0\n"),
            []
        );
        assert_eq!(said("[ 12.345] e1000e: eth0 NIC Link is Down\n"), []);
        let heading = said("Features for eth0:\ntx-checksumming: off [fixed]\n");
        assert!(
            heading.iter().all(|one| one.1 == Polarity::None),
            "{heading:?}"
        );
    }
}
