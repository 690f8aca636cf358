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
        let cleaned = paste::clean(&self.joined.whole);
        let line = |line: &'_ paste::Line| (line.number, line.text.clone());
        let lines: Vec<(u64, String)> = cleaned.lines.iter().map(line).collect();
        let lines: Vec<Line<'_>> = lines
            .iter()
            .map(|(number, text)| Line {
                number: *number,
                text,
            })
            .collect();
        let is_prose = |one: &&Passage| one.what == "prose";
        let prose: Vec<Passage> = self.ignored.iter().filter(is_prose).cloned().collect();
        let text = Text {
            records,
            facts,
            findings,
            lines: &lines,
            prose: &prose,
            read: &self.understood,
        };
        let mut conclusion = weigh::conclude(&text, &|line| self.joined.quote(line));
        conclusion.odd = self.joined.place(conclusion.odd);
        conclusion
    }
}
