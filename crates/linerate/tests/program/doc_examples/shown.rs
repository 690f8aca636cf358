// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a program printed what a document shows: the same words in the same order. Line breaks, numbers and the prefixes
//! of units are free. A line `…` of the document stands for any number of words.

/// Whether `said` is what `shows` shows.
pub(super) fn is_shown(shows: &str, said: &str) -> bool {
    let shows = format!("\n{shows}");
    let mut pieces = shows.split("\n…\n").map(words);
    let first = pieces.next().unwrap_or_default();
    let rest: Vec<Vec<String>> = pieces.collect();
    let said = words(said);
    let Some(mut left) = said.strip_prefix(&*first) else {
        return false;
    };
    let Some((last, middle)) = rest.split_last() else {
        return left.is_empty();
    };
    for piece in middle {
        let mut starts = 0..=left.len();
        let Some(start) = starts.find(|start| left[*start..].starts_with(piece)) else {
            return false;
        };
        left = &left[start + piece.len()..];
    }
    left.ends_with(last)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(masked).collect()
}

/// `3.427` and `198.18.0.2` are `#`, `Gbit/s:` is `bit/s:`; the digits of a name (`S05`, `eth0`, `ipv4`) stay.
fn masked(word: &str) -> String {
    let mut letters = word.chars();
    let is_rule = letters
        .next()
        .is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|letter| letter.is_ascii_digit());
    if is_rule {
        return word.to_owned();
    }
    let mut text = String::new();
    for letter in without_prefix(word).chars() {
        let last = text.chars().next_back().unwrap_or(' ');
        match letter {
            '0'..='9' | '.' if last == '#' => {}
            '0'..='9' if !last.is_ascii_lowercase() => text.push('#'),
            other => text.push(other),
        }
    }
    text
}

fn without_prefix(word: &str) -> String {
    let bare = PREFIXED.iter().find_map(|(unit, bare)| {
        let rest = word.strip_prefix(unit)?;
        let is_whole = !rest.starts_with(char::is_alphanumeric);
        is_whole.then(|| format!("{bare}{rest}"))
    });
    bare.unwrap_or_else(|| word.to_owned())
}

const PREFIXED: [(&str, &str); 8] = [
    ("kbit/s", "bit/s"),
    ("Mbit/s", "bit/s"),
    ("Gbit/s", "bit/s"),
    ("KiB", "B"),
    ("MiB", "B"),
    ("GiB", "B"),
    ("ms", "s"),
    ("µs", "s"),
];

#[test]
fn numbers_and_line_breaks_are_free_and_words_are_not() {
    let shows = "effect: 2.7 Mbit/s → 10.9 Gbit/s, p = 0.03\nS05 of eth0\n";
    let same = "effect: 312.25 kbit/s →\n  9 Mbit/s, p = 0.0312 S05 of eth0";
    assert!(is_shown(shows, same));
    for other in [
        same.replace("effect", "effects"),
        same.replace("S05", "S06"),
        same.replace("eth0", "eth1"),
        same.replace("bit/s", "B/s"),
        same.replace("→", "→ -"),
        format!("{same} more"),
        format!("more {same}"),
        String::new(),
    ] {
        assert!(!is_shown(shows, &other), "{other}");
    }
    assert!(is_shown("", " \n"));
}

#[test]
fn a_line_of_three_dots_stands_for_what_is_not_shown() {
    assert!(is_shown("…\nb 1\n…\nd\n…\n", "a\nb 2\nc\nd"));
    assert!(is_shown("a\n…\nd\n", "a b c d"));
    assert!(!is_shown("…\nd\n…\nb\n…\n", "a b c d"));
    assert!(!is_shown("a\n…\n", "b a"));
    assert!(!is_shown("…\na\n", "a b"));
    assert!(!is_shown("a b\n…\nb c\n", "a b c"));
}
