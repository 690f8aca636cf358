// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a text says in words: symptoms, and the causes that it speaks of.

use std::collections::{BTreeMap, BTreeSet};

use linerate_knowledge::{Shared, Spoken, shared_with, spoken_in, symptoms_in, words};

use linerate_model::output::Passage;

use super::observed::{Line, Text};

/// What is said, each with its first line.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// Whether somebody writes at all.
    pub(super) is_complaint: bool,
    /// Where somebody writes sentences.
    pub(super) symptoms: BTreeMap<&'static str, u64>,
    /// Anywhere but in the labels of tables.
    pub(super) spoken: Vec<(&'static Spoken, u64)>,
    /// What it has in common with the descriptions of causes.
    pub(super) shared: BTreeMap<usize, Shared>,
    /// What its words count: the longer a text, the more of them are there by chance.
    pub(super) weight: f64,
}

impl Speech {
    /// The lines `normal` are messages of what is well.
    pub(super) fn of(text: &Text<'_>, normal: &BTreeSet<u64>) -> Self {
        let tables: Vec<&Passage> = text.read.iter().filter(|one| is_table(one)).collect();
        let lines = || {
            text.lines
                .iter()
                .filter(|line| !normal.contains(&line.number))
        };
        let prose = Lower::of(lines().filter(|line| is_in(text.prose, line)));
        let other = Lower::of(lines().filter(|line| !is_in(tables.iter().copied(), line)));
        let words = other.words();
        Self {
            weight: (WORDS_USUAL / words.len() as f64).sqrt().min(1.0),
            is_complaint: !prose.0.is_empty(),
            symptoms: prose.find(symptoms_in).collect(),
            spoken: other.find(spoken_in).collect(),
            shared: shared_with(&words),
        }
    }
}

fn is_in<'p>(passages: impl IntoIterator<Item = &'p Passage>, line: &Line<'_>) -> bool {
    let mut passages = passages.into_iter();
    passages.any(|one| (one.first_line..=one.last_line).contains(&line.number))
}

/// Whether the words of an output are its labels, which it always has.
fn is_table(passage: &Passage) -> bool {
    !SPEAKING.contains(&passage.what.as_str())
}

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
struct Lower(Vec<(u64, String)>);

impl Lower {
    fn of<'l>(lines: impl Iterator<Item = &'l Line<'l>>) -> Self {
        let lower = |line: &Line<'_>| (line.number, line.text.to_lowercase().replace('’', "'"));
        Self(lines.map(lower).collect())
    }

    fn words(&self) -> Vec<&str> {
        self.0.iter().flat_map(|(_, text)| words(text)).collect()
    }

    /// What `find` finds, with the line of the word where it begins.
    fn find<T, F: IntoIterator<Item = (T, usize)>>(
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
