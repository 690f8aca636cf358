// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several pasted texts as one, each under a heading with its name, so that `before.txt` and `after.txt`
//! are two states of one host; and back from lines of the whole to lines of each.

use linerate_model::output::Passage;

/// Texts joined.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) whole: String,
    /// Name, first line in the whole, lines.
    parts: Vec<(String, u64, u64)>,
}

impl Texts {
    /// Joins named texts. One alone needs no heading.
    pub(super) fn join(texts: &[(String, String)]) -> Self {
        let mut joined = Self::default();
        let mut line = 1;
        for (name, text) in texts {
            if texts.len() > 1 {
                joined.whole.push_str(heading(name));
                joined.whole.push('\n');
                line += 1;
            }
            let lines = text.lines().count() as u64;
            joined.parts.push((name.clone(), line, lines));
            joined.whole.push_str(text);
            if !text.ends_with('\n') {
                joined.whole.push('\n');
            }
            line += lines;
        }
        joined
    }

    /// Passages of the whole as those of their text; those of our own headings go.
    pub(super) fn place(&self, passages: Vec<Passage>) -> Vec<Passage> {
        let own = |passage: Passage| match passage.first_line {
            // Of several lines, or of none.
            0 => Some(passage),
            _ => self.own(passage),
        };
        passages.into_iter().filter_map(own).collect()
    }

    /// Where a line of the whole stands.
    pub(super) fn quote(&self, line: u64) -> String {
        let alone = Passage {
            first_line: line,
            last_line: line,
            what: String::new(),
        };
        let placed = self.own(alone).unwrap_or_default();
        let line = format!("line {}", placed.first_line);
        match placed.what.as_str() {
            "" => line,
            name => format!("{name}{line}"),
        }
    }

    fn own(&self, mut passage: Passage) -> Option<Passage> {
        let within = |(_, first, lines): &&(String, u64, u64)| {
            passage.last_line >= *first && passage.first_line < first + lines
        };
        let (name, first, lines) = self.parts.iter().find(within)?;
        passage.first_line = passage.first_line.max(*first) - first + 1;
        passage.last_line = passage.last_line.min(first + lines - 1) - first + 1;
        if self.parts.len() > 1 {
            passage.what = format!("{name}: {}", passage.what);
        }
        Some(passage)
    }
}

/// The file name says more than its directory.
fn heading(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(first_line: u64, last_line: u64) -> Passage {
        Passage {
            first_line,
            last_line,
            what: "x".to_owned(),
        }
    }

    #[test]
    fn lines_are_those_of_each_text() {
        let texts = [("/tmp/a.txt", "1\n2\n"), ("b.txt", "1\n2\n3")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()));
        let joined = Texts::join(&texts);
        assert_eq!(joined.whole, "a.txt\n1\n2\nb.txt\n1\n2\n3\n");
        let placed = joined.place(vec![passage(1, 1), passage(2, 3), passage(6, 7)]);
        let names: Vec<_> = placed
            .iter()
            .map(|passage| (passage.first_line, passage.last_line, passage.what.as_str()))
            .collect();
        assert_eq!(names, [(1, 2, "/tmp/a.txt: x"), (2, 3, "b.txt: x")]);
        assert_eq!(joined.quote(5), "b.txt: line 1");
    }

    #[test]
    fn one_text_has_no_heading() {
        let joined = Texts::join(&[("-".to_owned(), "1\n2".to_owned())]);
        assert_eq!(joined.whole, "1\n2\n");
        assert_eq!(joined.place(vec![passage(2, 2)]), [passage(2, 2)]);
        assert_eq!(joined.quote(2), "line 2");
    }
}
