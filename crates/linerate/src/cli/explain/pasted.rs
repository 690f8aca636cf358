// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is concluded from a pasted text as a whole: causes by the weight of all that it shows and says.

use linerate_diagnose::weigh::{self, Conclusion, Line, Text};
use linerate_model::output::{Fact, Finding, Passage};
use linerate_model::record::Record;
use linerate_paste as paste;

use super::texts::Texts;

/// A text, or several as one.
#[derive(Debug)]
pub(super) struct Pasted {
    pub(super) joined: Texts,
    pub(super) lines: Vec<paste::Line>,
    /// Of the whole.
    pub(super) understood: Vec<Passage>,
    /// Of the whole.
    pub(super) ignored: Vec<Passage>,
}

impl Pasted {
    /// Weighs causes by the text, by the facts of its records, and by what rules found in them.
    pub(super) fn conclude(
        &self,
        records: &[Record],
        facts: &[Fact],
        findings: &[Finding],
    ) -> Conclusion {
        let lines = self.lines.iter().map(|line| Line {
            number: line.number,
            text: &line.text,
        });
        let lines: Vec<Line<'_>> = lines.collect();
        let is_prose = |one: &&Passage| one.what == "prose";
        let prose: Vec<Passage> = self.ignored.iter().filter(is_prose).cloned().collect();
        let text = Text {
            records,
            facts,
            findings,
            lines: &lines,
            prose: &prose,
            read: &self.understood,
            ..Text::default()
        };
        let mut conclusion = weigh::conclude(&text, &|line| self.joined.quote(line));
        conclusion.odd = self.joined.place(conclusion.odd);
        conclusion
    }
}
