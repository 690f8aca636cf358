// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts of a workbook (ECMA-376 part 1, §18.4): each different one once; a cell has its number.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{SHEET, XML};
use crate::xml::escaped;

/// Texts in the order in which they were first needed.
#[derive(Debug, Default)]
pub(super) struct Strings<'s> {
    known: HashMap<Cow<'s, str>, usize>,
    items: String,
}

impl<'s> Strings<'s> {
    /// The number of a text. What exceeds a cell's limit is cut off.
    pub(super) fn of(&mut self, text: Cow<'s, str>) -> usize {
        let next = self.known.len();
        let items = &mut self.items;
        *self.known.entry(text).or_insert_with_key(|text| {
            items.extend([
                "<si><t xml:space=\"preserve\">",
                &escaped(fitting(text)),
                "</t></si>",
            ]);
            next
        })
    }

    /// `xl/sharedStrings.xml`.
    pub(super) fn part(&self) -> String {
        let (unique, items) = (self.known.len(), &self.items);
        format!("{XML}<sst xmlns=\"{SHEET}\" uniqueCount=\"{unique}\">{items}</sst>")
    }
}

/// The most that a cell holds.
fn fitting(text: &str) -> &str {
    match text.len() > MOST_CHARACTERS {
        true => text
            .char_indices()
            .nth(MOST_CHARACTERS)
            .map_or(text, |(end, _)| &text[..end]),
        false => text,
    }
}

const MOST_CHARACTERS: usize = 32_767;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_stored_once_and_cut_at_what_a_cell_holds() {
        let mut strings = Strings::default();
        let long = "é".repeat(MOST_CHARACTERS + 1);
        let numbers = ["a", "b", "a", &long].map(|text| strings.of(text.into()));
        assert_eq!(numbers, [0, 1, 0, 2]);
        let part = strings.part();
        assert!(part.contains("uniqueCount=\"3\""), "{part}");
        assert_eq!(part.matches('é').count(), MOST_CHARACTERS);
    }
}
