// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sign: something that a text can show, and how strongly it supports a cause if it does, or contradicts it if the text
//! shows the opposite.

use super::message::MessagePattern;
use super::raw::Word;
use crate::keys::{FromToml, Given, Keys, Wrong};
use crate::mistake::Mistakes;
use linerate_model::output::Value;

/// A sign of a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Sign {
    /// What it is.
    pub shows: Shows,
    /// Decibans if it is there.
    pub db: f64,
    /// Decibans if the text shows that it is not there.
    pub not_db: f64,
}

/// What a text can show.
#[derive(Debug, Clone, PartialEq)]
pub enum Shows {
    /// A line of a log.
    Message(MessagePattern),
    /// A counter, by a glob of its name.
    Counter {
        /// The name, with `*` for any letters.
        name: String,
        /// It is larger than this.
        above: f64,
        /// It is more than this share of the packets at its place.
        share_above: Option<f64>,
    },
    /// A value that an output names: `ethtool Duplex`.
    Field {
        /// The tool's name and the field's.
        name: String,
        /// What it is compared with.
        test: FieldTest,
    },
    /// What the writer says, by a name of the vocabulary.
    Symptom(String),
}

/// A comparison of a field's value.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldTest {
    /// It is this word, whatever its case.
    Is(String),
    /// It is another word.
    Isnt(String),
    /// It contains this.
    Has(String),
    /// It is a larger number.
    Above(f64),
    /// It is a smaller number.
    Below(f64),
}

impl FieldTest {
    /// Whether a value passes; `None` if it cannot be compared.
    #[must_use]
    pub fn passes(&self, value: &str) -> Option<bool> {
        let value = value.trim();
        Some(match self {
            Self::Is(word) => value.eq_ignore_ascii_case(word),
            Self::Isnt(word) => !value.eq_ignore_ascii_case(word),
            Self::Has(part) => value
                .to_ascii_lowercase()
                .contains(&part.to_ascii_lowercase()),
            Self::Above(bound) => number(value)? > *bound,
            Self::Below(bound) => number(value)? < *bound,
        })
    }
}

/// The number at the beginning of a value: `1000` of `1000Mb/s`.
fn number(value: &str) -> Option<f64> {
    let digits = |letter: char| letter.is_ascii_digit() || "+-.".contains(letter);
    let end = value.find(|letter| !digits(letter)).unwrap_or(value.len());
    value.get(..end)?.parse().ok()
}

/// Whether a glob with `*` matches a whole name.
#[must_use]
pub fn glob(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pattern.rsplit_once('*').map(|(_, last)| last) else {
        return rest.is_empty();
    };
    let inner = pieces.collect::<Vec<_>>();
    for piece in inner.iter().take(inner.len().saturating_sub(1)) {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// A sign as it stands in a file.
pub(super) struct RawSign {
    at: usize,
    message: Option<String>,
    counter: Option<String>,
    field: Option<String>,
    symptom: Option<String>,
    is: Option<Value>,
    isnt: Option<Value>,
    has: Option<String>,
    above: Option<f64>,
    below: Option<f64>,
    share_above: Option<f64>,
    db: f64,
    not: f64,
}

impl FromToml for RawSign {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let at = given.span().start;
        let mut keys = Keys::of(given, KEYS)?;
        Ok(Self {
            at,
            message: keys.or_default("message")?,
            counter: keys.or_default("counter")?,
            field: keys.or_default("field")?,
            symptom: keys.or_default("symptom")?,
            is: keys.or_default("is")?,
            isnt: keys.or_default("isnt")?,
            has: keys.or_default("has")?,
            above: keys.or_default("above")?,
            below: keys.or_default("below")?,
            share_above: keys.or_default("share_above")?,
            db: keys.need("db")?,
            not: keys.or_default("not")?,
        })
    }
}

impl RawSign {
    pub(super) fn understand(&self, mistakes: &mut Mistakes<'_>) -> Option<Sign> {
        let kinds = [&self.message, &self.counter, &self.field, &self.symptom];
        if kinds.iter().filter(|kind| kind.is_some()).count() != 1 {
            mistakes.at(self.at, "what the sign is, is not clear".to_owned(), KINDS);
            return None;
        }
        if self.db.abs() > DECIBANS_MAX || self.not.abs() > DECIBANS_MAX {
            mistakes.at(self.at, format!("`db = {}` is no weight", self.db), WEIGHT);
        }
        Some(Sign {
            shows: self.shows(mistakes)?,
            db: self.db,
            not_db: self.not,
        })
    }

    fn shows(&self, mistakes: &mut Mistakes<'_>) -> Option<Shows> {
        if let Some(text) = &self.message {
            let pattern = MessagePattern::parse(text);
            let pattern = pattern.map_err(|(wrong, allowed)| mistakes.at(self.at, wrong, allowed));
            return pattern.ok().map(Shows::Message);
        }
        let counter = self.counter.clone().map(|name| Shows::Counter {
            name,
            above: self.above.unwrap_or(0.0),
            share_above: self.share_above,
        });
        let symptom = || self.symptom.clone().map(Shows::Symptom);
        counter.or_else(symptom).or_else(|| self.field(mistakes))
    }

    fn field(&self, mistakes: &mut Mistakes<'_>) -> Option<Shows> {
        let name = self.field.clone()?;
        let words = (self.is.as_ref(), self.isnt.as_ref(), self.has.as_ref());
        let test = test_of(&name, self.at, words, (self.above, self.below), mistakes)?;
        Some(Shows::Field { name, test })
    }
}

/// The one comparison of the field `name`: of `is`, `isnt`, `has`, or of `above`, `below`.
pub(super) fn test_of(
    name: &str,
    at: usize,
    (is, isnt, has): (Option<&Value>, Option<&Value>, Option<&String>),
    (above, below): (Option<f64>, Option<f64>),
    mistakes: &mut Mistakes<'_>,
) -> Option<FieldTest> {
    let tests = [
        is.map(|value| FieldTest::Is(value.to_string())),
        isnt.map(|value| FieldTest::Isnt(value.to_string())),
        has.cloned().map(FieldTest::Has),
        above.map(FieldTest::Above),
        below.map(FieldTest::Below),
    ];
    let mut tests = tests.into_iter().flatten();
    let first = tests.next();
    if first.is_none() || tests.next().is_some() {
        let wrong = format!("`{name}` is compared with nothing, or twice");
        mistakes.at(at, wrong, TESTS);
        return None;
    }
    first
}

/// Reads signs.
pub(super) fn signs(raw: &[RawSign], mistakes: &mut Mistakes<'_>) -> Vec<Sign> {
    let signs = raw.iter();
    signs.filter_map(|sign| sign.understand(mistakes)).collect()
}

/// Where the words of sources are not checked as a driver's are: they may be addresses, standards, commits.
pub(super) fn sourced(source: &[Word], at: usize, mistakes: &mut Mistakes<'_>) -> Vec<String> {
    if source.is_empty() {
        mistakes.at(at, "`source` is empty".to_owned(), "where it stands");
    }
    source.iter().map(|word| word.get_ref().clone()).collect()
}

const KEYS: &[&str] = &[
    "message",
    "counter",
    "field",
    "symptom",
    "is",
    "isnt",
    "has",
    "above",
    "below",
    "share_above",
    "db",
    "not",
];
const KINDS: &str = "exactly one of message, counter, field, symptom";
const TESTS: &str = "exactly one of is, isnt, has, above, below";
const WEIGHT: &str = "decibans from -20 to 20";
const DECIBANS_MAX: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        for (pattern, name, expected) in [
            ("*crc*", "rx_crc_errors", true),
            ("*crc*", "rx_errors", false),
            ("rx_*_drops", "rx_queue_0_drops", true),
            ("rx_*_drops", "rx_queue_0_dropped", false),
            ("rx_errors", "rx_errors", true),
            ("rx_errors", "rx_errors_2", false),
            ("*late*collision*", "tx_late_collisions", true),
            ("tx*", "rx", false),
        ] {
            assert_eq!(glob(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn fields_are_compared_as_they_are_printed() {
        let half = FieldTest::Is("Half".to_owned());
        assert_eq!(half.passes(" half"), Some(true));
        assert_eq!(FieldTest::Below(1000.0).passes("100Mb/s"), Some(true));
        assert_eq!(FieldTest::Above(1.0).passes("Unknown!"), None);
    }
}
