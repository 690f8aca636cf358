// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people paste into mails and forums → records, as far as the text goes.
//!
//! ```text
//! text ──► clean ──► segments (reader by reader, with their context) ──► states ──► one record each
//! ```
//!
//! A text may tell of several hosts and of several states of one host (before and after a change, two kernels): each state
//! is a record of its own, so that nothing of one is subtracted from the other. No text fails; what was understood and
//! what was not is said by line. The work is linear in the length of the text, and what is longer than
//! [`TEXT_BYTES_MAX`] is cut, which is said too.
#![forbid(unsafe_code)]

mod addresses;
mod assemble;
mod clean;
mod command;
mod connections;
mod context;
mod flows;
mod html;
mod limits;
mod markup;
mod prompt;
mod prose;
mod quote;
mod recorded;
mod requested;
mod segment;
mod state;
pub mod text;
mod transfers;

use linerate_model::output::Passage;

use linerate_model::order;
use linerate_model::record::Record;

pub use clean::{Cleaned, Line, clean};
pub use limits::{LINE_BYTES_MAX, LINES_MAX, TEXT_BYTES_MAX};

/// What a text gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pasted {
    /// One a state of a host, in the order of the text; none if nothing was understood.
    pub records: Vec<Record>,
    /// What was understood, by line.
    pub understood: Vec<Passage>,
    /// What was not, by line, and why.
    pub ignored: Vec<Passage>,
}

impl Pasted {
    /// The passages that were left out because there was too much, rather than because nobody knows what they mean.
    pub fn left_out(&self) -> impl Iterator<Item = &Passage> {
        let cut = |passage: &&Passage| CUTS.iter().any(|words| passage.what.contains(words));
        self.ignored.iter().filter(cut)
    }
}

/// In the words of who leaves something out.
const CUTS: &[&str] = &[
    "behind the first",
    "behind its first",
    "too many of them",
    "more than",
    "no text:",
    "too deep",
];

/// Reads a text. `name` is that of its file (`-` if it has none), by which its passages and tests are
/// told from another's.
#[must_use]
pub fn read(name: &str, text: &str) -> Pasted {
    read_counting(name, text).0
}

/// As [`read`], with the number of bytes of lines that the readers looked at: at most a fixed multiple of the text.
#[must_use]
pub fn read_counting(name: &str, text: &str) -> (Pasted, u64) {
    let cleaned = clean(text);
    let (segments, looked) = segment::segments(&cleaned.lines);
    let mut pasted = assemble::records(&segments);
    pasted.ignored.extend(cleaned.refused);
    pasted.ignored.extend(segments.ignored);
    order::by_key(&mut pasted.ignored, |passage| passage.first_line);
    if name != "-" {
        for passage in pasted.understood.iter_mut().chain(&mut pasted.ignored) {
            passage.what = format!("{name}: {}", passage.what);
        }
        for test in pasted
            .records
            .iter_mut()
            .flat_map(|record| &mut record.run.tests)
        {
            test.id = format!("{name}:{}", test.id);
            test.group.clone_from(&test.id);
        }
    }
    (pasted, looked)
}
