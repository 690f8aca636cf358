// SPDX-License-Identifier: MIT OR Apache-2.0
//! Removes what mail programs, forums and terminals add to a text: quoting, markup, escapes, prompts. Each line keeps
//! its number in the original. Cleaning a clean text changes nothing.

use linerate_model::output::Passage;

use super::limits::{LINE_BYTES_MAX, LINES_MAX, PASSES_MAX, TEXT_BYTES_MAX};
use super::prompt::{self, Prompt};
use super::{html, markup, quote};

/// The lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The remaining lines, in order.
    pub lines: Vec<Line>,
    /// Passages that exceed a limit.
    pub refused: Vec<Passage>,
}

/// One line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Its number in the original, from 1.
    pub number: u64,
    /// Its text.
    pub text: String,
    /// The prompt before it.
    pub prompt: Option<Prompt>,
}

impl Cleaned {
    /// Joins the lines.
    #[must_use]
    pub fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        let mut text = lines.join("\n");
        text.extend(lines.last().map(|_| '\n'));
        text
    }
}

/// Cleans a text.
#[must_use]
pub fn clean(text: &str) -> Cleaned {
    let mut cleaned = Cleaned::default();
    if is_binary(text) {
        refuse(&mut cleaned, 1, 1, "binary file, not text".to_owned());
        return cleaned;
    }
    let (text, cut) = beginning(text, TEXT_BYTES_MAX);
    let text = text.replace('\0', "");
    for (number, line) in quote::unfolded(&text).take(LINES_MAX) {
        let (line, long) = beginning(&line, LINE_BYTES_MAX);
        if long {
            refuse(
                &mut cleaned,
                number,
                number,
                format!("too long a line: truncated after {LINE_BYTES_MAX} bytes"),
            );
        }
        add(&mut cleaned, number, line);
    }
    let last = cleaned.lines.last().map_or(1, |line| line.number);
    if cut {
        refuse(
            &mut cleaned,
            last,
            last,
            format!(
                "everything after the first {} MiB of the text",
                TEXT_BYTES_MAX >> 20
            ),
        );
    } else if quote::unfolded(&text).nth(LINES_MAX).is_some() {
        refuse(
            &mut cleaned,
            last,
            last,
            format!("everything after the first {LINES_MAX} lines"),
        );
    }
    cleaned
}

/// Adds the lines of one line of the original: several if it has line breaks of HTML.
fn add(cleaned: &mut Cleaned, number: u64, line: &str) {
    match parts(line, 0) {
        Some(parts) => cleaned
            .lines
            .extend(parts.into_iter().map(|(text, prompt)| Line {
                number,
                text,
                prompt,
            })),
        None => refuse(
            cleaned,
            number,
            number,
            "markup nested too deeply".to_owned(),
        ),
    }
}

/// Splits a line at its prompts; `None` if markup is nested too deeply.
fn parts(line: &str, depth: usize) -> Option<Vec<(String, Option<Prompt>)>> {
    let text = fixed(line)?;
    let mut all = Vec::new();
    for line in text.split('\n') {
        let parts = prompt::split(line);
        let rests = parts.len() == 1 && parts[0].0 == line;
        for (text, prompt) in parts {
            // The text after a prompt may be quoted again.
            let inner = if rests {
                vec![(text, None)]
            } else {
                (depth < PASSES_MAX).then(|| self::parts(&text, depth + 1))??
            };
            let first = all.len();
            all.extend(inner);
            if let (Some(part), Some(_)) = (all.get_mut(first), &prompt) {
                part.1 = part.1.take().or(prompt);
            }
        }
    }
    Some(all)
}

/// Repeats the passes until they no longer change the line; `None` if they always do.
fn fixed(line: &str) -> Option<String> {
    let mut text = line.trim_end().to_owned();
    for _ in 0..PASSES_MAX {
        if is_plain(&text) {
            return Some(text);
        }
        let next = once(&text);
        if next == text {
            return Some(text);
        }
        text = next;
    }
    None
}

fn once(line: &str) -> String {
    // Quoting is undone before and after HTML: it may be inside it, or be written as entities.
    let line = html::stripped(quote::unquoted(&markup::characters(line)));
    let part = |part: &str| {
        markup::stripped(&quote::unquoted(part))
            .trim_end()
            .to_owned()
    };
    line.split('\n').map(part).collect::<Vec<_>>().join("\n")
}

/// Whether no pass would change the line.
fn is_plain(line: &str) -> bool {
    line.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b" .,:()/%-+#".contains(&byte))
}

/// Whether many characters are not printable.
fn is_binary(text: &str) -> bool {
    let head = text.chars().take(65_536);
    let (mut odd, mut all, mut zeros) = (0_usize, 0_usize, 0_usize);
    for letter in head {
        all += 1;
        zeros += usize::from(letter == '\0');
        odd += usize::from(
            letter == char::REPLACEMENT_CHARACTER
                || (letter.is_control() && !"\t\r\n\u{1b}\u{8}\0".contains(letter)),
        );
    }
    // Windows (UTF-16) writes text with a zero after each letter.
    let wide = zeros * 3 > all && zeros * 5 < all * 3;
    (odd > ODD_FEW && odd * 10 > all) || (zeros * 10 > all && !wide)
}

/// A short text with a few letters of another character set is a text.
const ODD_FEW: usize = 8;

/// Truncates to whole characters; returns whether something was cut.
fn beginning(text: &str, bytes_max: usize) -> (&str, bool) {
    if text.len() <= bytes_max {
        return (text, false);
    }
    let end = (0..=bytes_max)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    (&text[..end], true)
}

fn refuse(cleaned: &mut Cleaned, first_line: u64, last_line: u64, what: String) {
    cleaned.refused.push(Passage {
        first_line,
        last_line,
        what,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        clean(text)
            .lines
            .into_iter()
            .map(|line| line.text)
            .collect()
    }

    #[test]
    fn what_is_put_around_a_line() {
        let plain = "[  4]  0.0- 2.0 sec  90.2 MBytes   379 Mbits/sec   0.012 ms 4601/68965 (6.7%)";
        for wrapped in [
            format!("> > {plain}"),
            format!("| {plain}"),
            format!("<tt>{plain}</tt>"),
            plain.replace("4601", "4<b>60</b>1"),
            plain.replace("4601", "**4601**"),
            plain.replace("4601", "4*60*1"),
            plain.replace("4601", "[b]4601[/b]"),
            plain.replace("4601", "\u{1b}[31m4601\u{1b}[0m"),
            plain.replace(' ', "&nbsp;"),
            plain.replace(' ', "\u{a0}"),
            plain.replace('/', "&#47;"),
            format!("{plain}\r"),
            plain.replace('-', "\u{2013}"),
        ] {
            assert_eq!(texts(&wrapped), [plain], "{wrapped}");
        }
    }

    #[test]
    fn mail_encoding_and_line_numbers() {
        let cleaned = clean("one =3D 1=20\ntwo is very lo=\nng\nthree<br>four\n");
        let lines: Vec<(u64, &str)> = cleaned
            .lines
            .iter()
            .map(|line| (line.number, line.text.as_str()))
            .collect();
        assert_eq!(
            lines,
            [
                (1, "one = 1"),
                (2, "two is very long"),
                (4, "three"),
                (4, "four")
            ]
        );
    }

    #[test]
    fn what_looks_like_markup_and_is_none() {
        for line in [
            "2: eth0: <BROADCAST,MULTICAST,UP> mtu 1500",
            "    |__ Port 1: Dev 3, If 0, Class=x, Driver=lan78xx, 480M",
            "[ 12.345678] fec eth0: up",
            "rx_fifo_errors: 3",
            "a * b * c",
            "ENET_RCR:0x02188084 =0x05ee0244",
            "if (a < b) c;",
        ] {
            assert_eq!(texts(line), [line]);
        }
        assert_eq!(texts("rx\\_fifo\\_errors: 3"), ["rx_fifo_errors: 3"]);
    }

    #[test]
    fn binary_long_and_much() {
        let binary: String = (0..4000_u32)
            .map(|n| char::from_u32(n % 32).unwrap_or(' '))
            .collect();
        assert_eq!(clean(&binary).lines, []);
        assert!(
            clean(&"x".repeat(LINE_BYTES_MAX + 1)).refused[0]
                .what
                .contains("too long")
        );
        let much = clean(&"ab\n".repeat(LINES_MAX + 5));
        assert_eq!((much.lines.len(), much.refused.len()), (LINES_MAX, 1));
        let wide: String = "eth0".chars().flat_map(|letter| [letter, '\0']).collect();
        assert_eq!(texts(&wide), ["eth0"]);
    }
}
