// SPDX-License-Identifier: MIT OR Apache-2.0
//! Removes BBCode, Markdown, terminal escapes and typographic characters.

/// Removes escapes, and replaces typographic blanks and dashes.
pub(super) fn characters(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => escape(&mut letters),
            '\u{8}' => {
                plain.pop();
            }
            '\t' | '\n' => plain.push(letter),
            '\r' => plain.push('\n'),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => plain.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}' => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push('-'),
            '\u{2018}' | '\u{2019}' => plain.push('\''),
            '\u{201c}' | '\u{201d}' => plain.push('"'),
            _ if letter.is_control() => {}
            _ => plain.push(letter),
        }
    }
    plain
}

/// The rest of an escape: `[31m`, `]0;title` up to the bell.
fn escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            while letters
                .next()
                .is_some_and(|letter| !('@'..='~').contains(&letter))
            {}
        }
        Some(']') => {
            while letters
                .next()
                .is_some_and(|letter| letter != '\u{7}' && letter != '\\')
            {}
        }
        Some(_) => {
            letters.next();
        }
        None => {}
    }
}

/// Removes the marks of BBCode and Markdown.
pub(super) fn stripped(line: &str) -> String {
    let line = bbcode(line);
    let line = if line.contains('\\') {
        unescaped(&line)
    } else {
        line
    };
    let line = line.replace("**", "").replace('`', "");
    if line.contains(['*', '_', '~']) {
        line.split('\n')
            .map(emphasis)
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        line
    }
}

/// `[b]`, `[/code]`, `[color=red]`.
fn bbcode(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        // `Flags [S]` of tcpdump strikes nothing through.
        let is_flag = text.ends_with("Flags ");
        let length = code(rest).filter(|_| !is_flag).unwrap_or(0);
        text.push_str(if length == 0 { "[" } else { "" });
        rest = &rest[length.max(1)..];
    }
    text.push_str(rest);
    text
}

/// The length of the code at the beginning.
fn code(text: &str) -> Option<usize> {
    const NAMES: &[&str] = &[
        "b", "i", "u", "s", "code", "quote", "pre", "color", "size", "font", "url", "img", "list",
        "spoiler", "tt", "icode", "plain", "center", "table", "tr", "td", "mono",
    ];
    let end = text.bytes().take(80).position(|byte| byte == b']')?;
    let inner = text.get(1..end)?.trim_start_matches('/');
    let name = inner.split(['=', ' ']).next()?.to_ascii_lowercase();
    NAMES.contains(&name.as_str()).then_some(end + 1)
}

/// Removes Markdown's escapes: `\_`, `\*`, `\[`.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let marked = letter == '\\'
            && letters
                .peek()
                .is_some_and(|next| "_*[]<#|~".contains(*next));
        if !marked {
            text.push(letter);
        }
    }
    text
}

/// Pairs of `*`, `_` or `~~` around or in a number.
fn emphasis(line: &str) -> String {
    let word = |word: &str| {
        let bare: String = word
            .chars()
            .filter(|letter| !"*_~".contains(*letter))
            .collect();
        let marks = word
            .chars()
            .filter(|letter| "*_~".contains(*letter))
            .count();
        let number = bare.contains(|letter: char| letter.is_ascii_digit())
            && bare
                .chars()
                .all(|letter| letter.is_ascii_digit() || ".,/()%-+".contains(letter));
        if marks > 1 && marks % 2 == 0 && number {
            bare
        } else {
            word.to_owned()
        }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
