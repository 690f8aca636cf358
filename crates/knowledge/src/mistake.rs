// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mistake in a table, in the words of the engineer who made it.

use std::fmt;

use crate::keys::Word;

/// A mistake in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file name.
    pub file: String,
    /// The line, from 1; none for the whole file.
    pub line: Option<usize>,
    /// What is wrong.
    pub wrong: String,
    /// What would be right.
    pub allowed: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.wrong)?;
        if !self.allowed.is_empty() {
            write!(f, "\n    allowed: {}", self.allowed)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistake {}

/// Collects the mistakes of one file.
pub struct Mistakes<'t> {
    file: &'t str,
    text: &'t str,
    found: Vec<Mistake>,
}

impl<'t> Mistakes<'t> {
    pub(crate) const fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            found: Vec::new(),
        }
    }

    /// Adds a mistake at a byte of the text.
    pub fn at(&mut self, byte: usize, wrong: String, allowed: &str) {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        self.note(Some(line), wrong, allowed);
    }

    /// Adds a mistake of the whole file.
    pub fn of_file(&mut self, wrong: String, allowed: &str) {
        self.note(None, wrong, allowed);
    }

    /// Parses a word; an unknown one is a mistake.
    pub fn word<T>(
        &mut self,
        key: &str,
        word: &Word,
        understand: fn(&str) -> Option<T>,
        allowed: &[&str],
    ) -> Option<T> {
        let understood = understand(word.get_ref());
        if understood.is_none() {
            let wrong = format!("`{key}` cannot be `{}`", word.get_ref());
            self.at(word.span().start, wrong, &allowed.join(", "));
        }
        understood
    }

    pub(crate) fn into_found(self) -> Vec<Mistake> {
        self.found
    }

    fn note(&mut self, line: Option<usize>, wrong: String, allowed: &str) {
        let (file, allowed) = (self.file.to_owned(), allowed.to_owned());
        self.found.push(Mistake {
            file,
            line,
            wrong,
            allowed,
        });
    }
}
