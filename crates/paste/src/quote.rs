// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undoes what mail does to text: `> ` before quoted lines, `=20` and lines broken with `=` (RFC 2045 §6.7).

/// Returns the lines with their numbers, decoded if the text is quoted-printable.
pub(super) fn unfolded(text: &str) -> impl Iterator<Item = (u64, String)> + '_ {
    let marks = ["=20\n", "=20\r\n", "=3D", "=C2=A0"];
    let encoded = marks.iter().any(|mark| text.contains(mark));
    let mut lines = (1_u64..).zip(text.split_terminator('\n'));
    std::iter::from_fn(move || {
        let (number, line) = lines.next()?;
        let mut line = line.trim_end_matches('\r').to_owned();
        if !encoded {
            return Some((number, line));
        }
        let mut joined = 0;
        while line.ends_with('=') && joined < JOINED_MAX {
            line.pop();
            joined += 1;
            let Some((_, next)) = lines.next() else { break };
            line.push_str(next.trim_end_matches('\r'));
        }
        Some((number, decoded(&line)))
    })
}

const JOINED_MAX: usize = 64;

/// `=3D` and its like.
fn decoded(line: &str) -> String {
    let bytes = line.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let pair = bytes.get(at + 1..at + 3).filter(|_| *byte == b'=');
        let code = pair
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .filter(|pair| {
                pair.bytes()
                    .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
            });
        match code.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(code) => {
                decoded.push(code);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Removes quote marks, and the bars of a Markdown table's row.
pub(super) fn unquoted(line: &str) -> String {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start();
        let mark = trimmed
            .strip_prefix('>')
            .or_else(|| trimmed.strip_prefix("| ").filter(|_| !is_table(trimmed)));
        match mark {
            Some(inner) => rest = inner.strip_prefix(' ').unwrap_or(inner),
            None => break,
        }
    }
    if is_table(rest.trim()) {
        return rest
            .trim()
            .trim_matches('|')
            .replace('|', "  ")
            .trim()
            .to_owned();
    }
    rest.to_owned()
}

/// `| 1 | 3.08 |`.
fn is_table(line: &str) -> bool {
    line.len() > 2 && line.starts_with('|') && line.ends_with('|')
}
