// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words in XML 1.0: what it cannot carry (§2.2) is replaced, what would be markup is escaped.

use std::borrow::Cow;

use linerate_model::printable::is_hidden;

/// For text and for attributes.
#[must_use]
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"&<>\"".contains(&byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            hidden if is_hidden(hidden) => safe.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            plain => safe.push(plain),
        }
    }
    Cow::Owned(safe)
}
