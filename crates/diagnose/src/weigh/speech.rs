// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a text says in words: symptoms, and the causes that it speaks of.

use std::collections::BTreeSet;

use linerate_knowledge::{
    Alike, Mention, Shared, Spoken, circumstances_in, mentioned, shared_with, spoken_in,
    symptoms_in, words,
};
use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use linerate_model::output::Passage;

use super::observed::{Line, Text};

/// What is said, each with its first line.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// Whether there is an author's text at all.
    pub(super) is_complaint: bool,
    /// Where the author writes sentences.
    pub(super) symptoms: Map<&'static str, u64>,
    /// Anywhere but in the labels of tables.
    pub(super) spoken: Vec<(&'static Spoken, u64)>,
    /// What it has in common with the descriptions of causes.
    pub(super) shared: Map<usize, Shared>,
    /// How much a complaint is like what people write of causes.
    pub(super) alike: Map<usize, Alike>,
    /// How well what a complaint mentions fits causes.
    pub(super) mentioned: Map<usize, Mention>,
    /// What its words count: the longer a text, the more of them are there by chance.
    pub(super) weight: f64,
}

impl Speech {
    /// The lines `normal` are messages of what is well.
    pub(super) fn of(text: &Text<'_>, normal: &BTreeSet<u64>) -> Self {
        let tables = Marked::of(text.read.iter().filter(|one| is_table(one)));
        let sentences = Marked::of(text.prose.iter());
        let lines = || {
            text.lines
                .iter()
                .filter(|line| !normal.contains(&line.number))
        };
        let prose = Lower::of(lines().filter(|line| sentences.has(line)));
        let other = Lower::of(lines().filter(|line| !tables.has(line)));
        let words = other.words();
        let symptoms: Map<&'static str, u64> = prose.find(symptoms_in).gather();
        let all = (!prose.0.is_empty()).then(|| Lower::of(lines()));
        let report =
            all.filter(|all| !(symptoms.is_empty() && text.wording.reports_nothing(&all.text())));
        let (alike, mentioned) = report.map_or_else(Default::default, |all| {
            let mentioned = all.mentioned(symptoms.keys().copied());
            (text.wording.alike(&all.text()), mentioned)
        });
        Self {
            weight: (WORDS_USUAL / words.len() as f64).sqrt().min(1.0),
            is_complaint: !prose.0.is_empty(),
            symptoms,
            spoken: other.find(spoken_in).collect(),
            shared: shared_with(&words),
            alike,
            mentioned,
        }
    }
}

/// The lines of passages.
struct Marked(Vec<bool>);

impl Marked {
    fn of<'p>(passages: impl Iterator<Item = &'p Passage>) -> Self {
        let mut lines = Vec::new();
        for passage in passages {
            let (first, last) = (place(passage.first_line), place(passage.last_line));
            lines.resize(lines.len().max(last + 1), false);
            if let Some(own) = lines.get_mut(first..=last) {
                own.fill(true);
            }
        }
        Self(lines)
    }

    fn has(&self, line: &Line<'_>) -> bool {
        self.0.get(place(line.number)).is_some_and(|is| *is)
    }
}

fn place(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

/// Whether the words of an output are its labels, which it always has.
fn is_table(passage: &Passage) -> bool {
    !SPEAKING.contains(&passage.what.as_str())
}

/// Text written by hand is shorter.
const BYTES_MOST: usize = 1 << 20;
/// Words of a complaint with an output or two.
const WORDS_USUAL: f64 = 1000.0;
/// Outputs that have words only where there is something to say.
const SPEAKING: &[&str] = &[
    "dmesg",
    "files of the kernel",
    "file of the kernel",
    "lshw -C network",
    "lspci -vv",
    "lsusb -t",
    "perf",
    "sysctl",
    "tcpdump",
    "top",
];

/// Lines in lower case, as phrases are.
pub(super) struct Lower(Vec<(u64, String)>);

impl Lower {
    /// Of a long text its beginning.
    pub(super) fn of<'l>(lines: impl Iterator<Item = &'l Line<'l>>) -> Self {
        let lower = |line: &Line<'_>| (line.number, line.text.to_lowercase().replace('’', "'"));
        let mut bytes = 0;
        let first = lines.take_while(|line| {
            bytes += line.text.len();
            bytes <= BYTES_MOST
        });
        Self(first.map(lower).collect())
    }

    fn text(&self) -> String {
        let lines: Vec<&str> = self.0.iter().map(|(_, line)| line.as_str()).collect();
        lines.join("\n")
    }

    /// How well these symptoms and the circumstances of all lines fit causes.
    fn mentioned<'s>(&self, symptoms: impl Iterator<Item = &'s str>) -> Map<usize, Mention> {
        let circumstances = circumstances_in(&self.words());
        mentioned(&circumstances.keys().copied().chain(symptoms).gather())
    }

    pub(super) fn words(&self) -> Vec<&str> {
        self.0.iter().flat_map(|(_, text)| words(text)).collect()
    }

    /// What `find` finds, with the line of the word where it begins.
    pub(super) fn find<T, F: IntoIterator<Item = (T, usize)>>(
        &self,
        find: impl Fn(&[&str]) -> F,
    ) -> impl Iterator<Item = (T, u64)> {
        let each = self.0.iter();
        let each = each.flat_map(|(line, text)| words(text).map(move |word| (word, *line)));
        let (words, lines): (Vec<&str>, Vec<u64>) = each.unzip();
        let found: Vec<(T, usize)> = find(&words).into_iter().collect();
        found.into_iter().map(move |(what, at)| (what, lines[at]))
    }
}
