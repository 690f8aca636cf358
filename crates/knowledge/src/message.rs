// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages of the kernel and of daemons: how each is recognised, how abnormal it is, and which causes it supports.

mod pattern;

pub use pattern::{Found, MessagePattern, Open};

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use linerate_model::map::Map;
use linerate_model::order;
use linerate_model::output::Value;

use super::raw::Word;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};
use crate::packed;
use crate::toml_table;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its forms in different versions, the usual one first.
    pub patterns: Vec<MessagePattern>,
    /// Only lines of these drivers; any if empty.
    pub drivers: Vec<String>,
    /// How abnormal it is.
    pub level: Level,
    /// Causes that it supports or contradicts: decibans.
    pub supports: Vec<(String, f64)>,
    /// What it means.
    pub means: String,
    /// The files that print it.
    pub sources: Vec<String>,
    /// A line.
    pub example: String,
}

/// How abnormal a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing is wrong.
    Normal,
    /// Degraded or suspicious.
    Odd,
    /// Packets, the link or the card are lost.
    Bad,
}

impl Level {
    const WORDS: &[&str] = &["normal", "odd", "bad"];

    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "normal" => Self::Normal,
            "odd" => Self::Odd,
            "bad" => Self::Bad,
            _ => return None,
        })
    }
}

impl Message {
    /// Finds it in a line.
    #[must_use]
    pub fn find<'l>(&self, line: &'l str) -> Option<Found<'l>> {
        let ours = self.drivers.is_empty() || self.drivers.iter().any(|name| line.contains(name));
        let mut patterns = self.patterns.iter().filter(|_| ours);
        patterns.find_map(|pattern| pattern.find(line))
    }
}

/// All messages, ready to be looked for.
#[derive(Debug)]
pub struct Messages {
    all: Vec<Message>,
    /// The longest literal text of each pattern.
    search: Option<AhoCorasick>,
    /// The message of each of those.
    owners: Vec<usize>,
}

impl Messages {
    /// Prepares a list.
    #[must_use]
    pub fn new(all: Vec<Message>) -> Self {
        let (mut literals, mut owners) = (Vec::new(), Vec::new());
        for (owner, message) in all.iter().enumerate() {
            for pattern in &message.patterns {
                literals.push(pattern.longest_literal().to_owned());
                owners.push(owner);
            }
        }
        Self {
            search: AhoCorasick::new(&literals).ok(),
            all,
            owners,
        }
    }

    /// The message that a line is: of several the one with the longest pattern.
    #[must_use]
    pub fn find<'l>(&self, line: &'l str) -> Option<(&Message, Found<'l>)> {
        let search = self.search.as_ref()?;
        let hits = search.find_overlapping_iter(line);
        let mut owners: Vec<usize> = hits
            .filter_map(|hit| self.owners.get(hit.pattern().as_usize()).copied())
            .collect();
        order::by(&mut owners, Ord::cmp);
        owners.dedup();
        let found = owners.into_iter().filter_map(|owner| {
            let message = self.all.get(owner)?;
            Some((message, message.find(line)?))
        });
        found.max_by_key(|(message, _)| message.patterns[0].text().len())
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Message] {
        &self.all
    }
}

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let files = packed::MESSAGES.unpack();
    let parsed = files.iter().map(|(file, text)| parse_messages(file, text));
    Messages::new(parsed.filter_map(Result::ok).flatten().collect())
});

/// The messages that the program carries.
#[must_use]
pub fn messages() -> &'static Messages {
    &MESSAGES
}

/// Reads the messages `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_messages(file: &str, text: &str) -> Result<Vec<Message>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| {
        let messages = raw.message.iter();
        messages
            .filter_map(|one| understand(one, mistakes))
            .collect()
    })
}

fn understand(raw: &RawMessage, mistakes: &mut Mistakes<'_>) -> Option<Message> {
    let level = mistakes.word("level", &raw.level, Level::of_word, Level::WORDS)?;
    let all = std::iter::once(&raw.pattern).chain(&raw.also);
    let patterns: Vec<MessagePattern> = all.filter_map(|text| pattern(text, mistakes)).collect();
    let supports = supports(raw, mistakes);
    let message = Message {
        patterns,
        drivers: raw.driver.clone(),
        level,
        supports,
        means: raw.means.clone(),
        sources: raw.source.clone(),
        example: raw.example.get_ref().clone(),
    };
    let shown = message.find(&message.example).is_some();
    if !message.patterns.is_empty() && !shown {
        let at = raw.example.span().start;
        mistakes.at(at, "the example is not this message".to_owned(), EXAMPLE);
    }
    Some(message).filter(|message| !message.patterns.is_empty())
}

fn pattern(text: &Word, mistakes: &mut Mistakes<'_>) -> Option<MessagePattern> {
    MessagePattern::parse(text.get_ref())
        .map_err(|(wrong, allowed)| mistakes.at(text.span().start, wrong, allowed))
        .ok()
}

fn supports(raw: &RawMessage, mistakes: &mut Mistakes<'_>) -> Vec<(String, f64)> {
    let at = raw.pattern.span().start;
    let mut causes = Vec::new();
    for (cause, value) in &raw.supports {
        match value.number() {
            Some(db) if db.abs() <= DECIBANS_MAX => causes.push((cause.clone(), db)),
            _ => mistakes.at(at, format!("`{cause} = {value}` is no weight"), WEIGHT),
        }
    }
    causes
}

toml_table! {
    RawFile {
        message: Vec<RawMessage> = or_default,
    }
}

toml_table! {
    RawMessage {
        pattern: Word = need,
        also: Vec<Word> = or_default,
        driver: Vec<String> = or_default,
        level: Word = need,
        supports: Map<String, Value> = or_default,
        means: String = need,
        source: Vec<String> = need,
        example: Word = need,
    }
}

/// A weight that decides alone.
const DECIBANS_MAX: f64 = 20.0;
const WEIGHT: &str = "decibans from -20 to 20: 20 names the mechanism, 10 is strong, 3 weak";
const EXAMPLE: &str = "a line that the pattern matches";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[[message]]
pattern = "NETDEV WATCHDOG: {interface} ({driver}): transmit queue {number} timed out"
level = "bad"
supports = { tx-timeout = 20, interrupts-lost = 6 }
means = "a transmit queue has completed nothing for longer than its timeout"
source = ["net/sched/sch_generic.c dev_watchdog"]
example = "NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out"
"#;

    #[test]
    fn a_line_is_its_message() {
        let messages = Messages::new(parse_messages("m.toml", TEXT).unwrap());
        let line =
            "Mar 3 12:00:00 box kernel: NETDEV WATCHDOG: enp1s0 (igb): transmit queue 3 timed out";
        let (message, found) = messages.find(line).unwrap();
        assert_eq!(message.level, Level::Bad);
        assert_eq!(message.supports[1], ("tx-timeout".to_owned(), 20.0));
        assert_eq!(found.first(Open::Interface), Some("enp1s0"));
        assert!(messages.find("eth0: link is up").is_none());
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let wrong = TEXT
            .replace("tx-timeout = 20", "tx-timeout = 200")
            .replace("transmit queue 0", "queue 0");
        let found = parse_messages("m.toml", &wrong).unwrap_err();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found[0].starts_with("m.toml:3: `tx-timeout = 200` is no weight"));
        assert!(found[1].starts_with("m.toml:8: the example is not this message"));
    }
}
