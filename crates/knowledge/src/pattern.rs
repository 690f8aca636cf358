// SPDX-License-Identifier: MIT OR Apache-2.0
//! A counter's name in a table: `rx_queue_N_drops` stands for every queue.
//!
//! A capital `N` is a decimal number unless a letter follows it or a capital precedes it, so
//! `rxN_drops` is a pattern and `XON` is not.

/// A counter's name, with or without numbers left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// The literal text before, between and after the numbers: a name is asked of many patterns, a pattern of many names.
    pieces: Vec<String>,
}

impl Pattern {
    /// Parses a name of a table.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            pieces: pieces(text),
        }
    }

    /// Returns the name as in the table.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name with this number.
    #[must_use]
    pub fn with_number(&self, number: &str) -> String {
        self.pieces.join(number)
    }

    /// Whether the kernel's `name` matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let mut pieces = self.pieces.iter().map(String::as_str);
        let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or_default()) else {
            return false;
        };
        for piece in pieces {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            match rest[digits..].strip_prefix(piece) {
                Some(after) if digits > 0 => rest = after,
                _ => return false,
            }
        }
        rest.is_empty()
    }
}

fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices('N') {
        if is_number(text, at) {
            pieces.push(text[start..at].to_owned());
            start = at + 1;
        }
    }
    pieces.push(text[start..].to_owned());
    pieces
}

fn is_number(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + 1..].chars().next();
    !before.is_some_and(char::is_uppercase) && !after.is_some_and(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_name_is_matched_by_the_pattern_that_leaves_its_number_open() {
        let table = [
            ("rx_queue_N_drops", "rx_queue_0_drops", true),
            ("rx_queue_N_drops", "rx_queue_127_drops", true),
            ("rx_queue_N_drops", "rx_queue__drops", false),
            ("rx_queue_N_drops", "rx_queue_N_drops", false),
            ("rx_queue_N_drops", "rx_queue_0_drops_more", false),
            ("rxN_cache_full", "rx3_cache_full", true),
            ("txN", "tx12", true),
            ("N_of_N", "1_of_22", true),
            ("RX XON", "RX XON", true),
            ("Not a number", "Not a number", true),
            ("rx_drops", "rx_drops", true),
            ("rx_drops", "rx_drop", false),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }
}
