// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text for a terminal. Names, errors and reports come from peers, devices and files; what they print must not
//! move the cursor, answer for the user, or reverse what is read.

use std::fmt;
use std::ops::Deref;

/// Text without hidden characters ([`is_hidden`]). Whatever writes to a terminal takes only this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printable(String);

impl Printable {
    /// Any text, with `?` for each hidden character. Line ends and tabs stay.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::shown(text, |_| 0)
    }

    /// A text of this program: its colours stay, too.
    #[must_use]
    pub fn coloured(text: &str) -> Self {
        Self::shown(text, colour)
    }

    /// A JSON document, with the same meaning: a hidden character is in a string, where it is escaped.
    #[must_use]
    pub fn json(text: &str) -> Self {
        let mut safe = String::with_capacity(text.len());
        let mut rest = text;
        loop {
            let (plain, after) = rest.split_at(plain_bytes(rest));
            safe.push_str(plain);
            let mut letters = after.chars();
            let Some(letter) = letters.next() else {
                break;
            };
            rest = letters.as_str();
            if !is_hidden(letter) {
                safe.push(letter);
                continue;
            }
            for unit in letter.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        }
        Self(safe)
    }

    /// `colour` returns the length of the colour sequence at the start of a text.
    fn shown(text: &str, colour: fn(&str) -> usize) -> Self {
        let mut safe = String::with_capacity(text.len());
        let mut rest = text;
        loop {
            // Most text is plain: it is taken at once.
            let (plain, after) = rest.split_at(plain_bytes(rest));
            safe.push_str(plain);
            rest = after;
            let Some(letter) = rest.chars().next() else {
                break;
            };
            let length = match (letter, colour(rest)) {
                ('\r', _) if rest.starts_with("\r\n") => 2,
                (_, colour @ 1..) => colour,
                (letter, _) if is_hidden(letter) => 0,
                (letter, _) => letter.len_utf8(),
            };
            let (kept, after) = rest.split_at(length);
            match length {
                0 => safe.push('?'),
                _ => safe.push_str(kept),
            }
            rest = after
                .get(letter.len_utf8() * usize::from(length == 0)..)
                .unwrap_or("");
        }
        Self(safe)
    }

    /// The text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Deref for Printable {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Printable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq<&str> for Printable {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for Printable {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

/// Whether a terminal obeys a character instead of showing it: C0, DEL and C1 (ECMA-48), and what Unicode has
/// without a shape of its own: bidirectional controls, line separators, tags.
#[must_use]
pub const fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The length of the ASCII text at the start that stays as it is.
fn plain_bytes(text: &str) -> usize {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let end = text.bytes().position(|byte| !is_plain(byte));
    end.unwrap_or(text.len())
}

/// The length of a colour of ours at the start of a text; 0 for any other sequence (one conceals text).
fn colour(text: &str) -> usize {
    let ours = COLOURS.iter().find(|colour| text.starts_with(**colour));
    ours.map_or(0, |colour| colour.len())
}

/// Reset, bold, red, green, yellow (ECMA-48 SGR).
const COLOURS: [&str; 5] = ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOSTILE: &str = "\x1b]0;t\x07\x1b[2J\x1b[5n\u{9b}31m\u{202e}\u{61c}\u{200e}\u{2066}\u{2028}\u{feff}\u{e0041}\x7f\ra";

    #[test]
    fn a_terminal_obeys_nothing_of_it() {
        assert_eq!(Printable::of(HOSTILE), "?]0;t??[2J?[5n?31m?????????a");
        assert_eq!(Printable::of("a\tb\r\nc\n"), "a\tb\r\nc\n");
        assert_eq!(Printable::of("µ …\u{e9}\u{1f600}"), "µ …\u{e9}\u{1f600}");
    }

    #[test]
    fn only_colours_stay_in_a_text_of_this_program() {
        let text = "\x1b[31mbad\x1b[0m\x1b[2J\x1b[1;2m\x1b[8m";
        assert_eq!(
            Printable::coloured(text),
            "\x1b[31mbad\x1b[0m?[2J?[1;2m?[8m"
        );
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_printed(text in "(\\PC|\\p{C}|\x1b\\[|[0-9m]){0,40}") {
            let hidden = |letter: char| is_hidden(letter) && !"\n\t\r".contains(letter);
            let plain = Printable::of(&text);
            prop_assert!(!plain.contains(hidden), "{plain:?}");
            prop_assert!(!plain.replace("\r\n", "").contains('\r'));
            prop_assert_eq!(plain.chars().count(), text.chars().count());
            let coloured = Printable::coloured(&text);
            for after in coloured.split('\x1b').skip(1) {
                prop_assert!(after.starts_with('[') && after.contains('m'), "{coloured:?}");
            }
        }

        #[test]
        fn a_document_means_the_same(text in "(\\PC|\\p{C}){0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            let printed = Printable::json(&json);
            prop_assert!(!printed.contains(is_hidden), "{printed:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), text);
        }
    }
}
