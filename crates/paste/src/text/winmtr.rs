// SPDX-License-Identifier: MIT OR Apache-2.0
//! WinMTR: the length of a path, as `mtr` shows it. Its report has bars between the columns, a copied window or HTML
//! table has tabs, and no hop has a number in the report:
//! `|      192.0.2.9 -   12 |  100 |   88 |    8 |   10 |   41 |    9 |`.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let headed = is_heading(first) || (is_rule(first) && heads(lines));
    (headed || is_reported(first)).then_some(())?;
    let found = lines.run(0, |line| {
        is_heading(line) || is_rule(line) || is_signature(line) || is_reported(line) || {
            headed && Hop::of(line).is_some()
        }
    });
    let hops = found.iter().filter(|(_, line)| Hop::of(line).is_some());
    let hops = hops.count();
    if hops < 1 + usize::from(!headed) {
        return Block::says_nothing(&found, "WinMTR");
    }
    let values = vec![("hops".to_owned(), hops.to_string())];
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "WinMTR",
        content: vec![Settings::new("mtr", None, values)],
    })
}

/// A row of WinMTR: what one hop answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop<'t> {
    /// Name or address, or `No response from host`.
    pub name: &'t str,
    /// Of the probes sent to it.
    pub loss_percent: u32,
    /// Answers.
    pub received: u32,
    /// Average round trip, ms.
    pub average_ms: u32,
    /// Longest round trip, ms.
    pub worst_ms: u32,
}

impl<'t> Hop<'t> {
    /// Reads a row, with or without its bars.
    #[must_use]
    pub fn of(line: &'t str) -> Option<Self> {
        let is_row = line.len() < LINE_MOST && line.trim_end().ends_with(is_end);
        is_row.then_some(())?;
        let (rest, [last, worst, average, best, received, sent, loss]) = columns(line)?;
        let name = named(rest)?;
        let plausible = loss <= 100 && received <= sent && best <= worst.max(last);
        plausible.then_some(Self {
            name,
            loss_percent: loss,
            received,
            average_ms: average,
            worst_ms: worst,
        })
    }
}

fn is_end(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '|'
}

/// The seven numbers at the end of a line, the last one first, and what stands before them.
fn columns(line: &str) -> Option<(&str, [u32; 7])> {
    let is_between = |letter: char| letter.is_whitespace() || letter == '|';
    let mut rest = line.trim_end_matches(is_between);
    let mut numbers = [0; 7];
    for number in &mut numbers {
        let (before, last) = rest.rsplit_once(is_between)?;
        *number = last.trim_end_matches('%').parse().ok()?;
        rest = before.trim_end_matches(is_between);
    }
    Some((line.get(..rest.len())?, numbers))
}

/// The host before `-` in a report, before a tab and the hop's number elsewhere.
fn named(rest: &str) -> Option<&str> {
    let rest = rest.trim_matches(|letter: char| letter == '|' || letter.is_whitespace());
    let name = match rest.strip_suffix('-') {
        Some(name) => name.trim_end(),
        None => rest.split('\t').next()?.trim_end(),
    };
    let words = name.split_whitespace().count();
    let is_host = (1..=2).contains(&words) || is_silent(name);
    (is_host && !name.ends_with([':', ','])).then_some(name)
}

fn is_silent(name: &str) -> bool {
    name == "No response from host"
}

/// A row that needs no heading above it.
fn is_reported(line: &str) -> bool {
    line.contains(" - ") && Hop::of(line).is_some()
}

/// `WinMTR statistics`, `Host - % | Sent | Recv | Best | Avrg | Wrst | Last`, `Hostname Nr Loss % Sent …`.
#[must_use]
pub fn is_heading(line: &str) -> bool {
    let text = line.trim_matches(|letter: char| letter == '|' || letter.is_whitespace());
    let has = |word: &&str| text.contains(*word);
    let columns = text.starts_with("Host") && ["%", "Sent", "Recv", "Best", "Last"].iter().all(has);
    line.len() < LINE_MOST && (text == "WinMTR statistics" || columns)
}

/// `|------|------|`, `|______|______|`.
fn is_rule(line: &str) -> bool {
    let text = line.trim();
    let is_drawn = |letter: char| "|-_ ".contains(letter);
    text.len() > RULE_LEAST && text.starts_with(['|', '-', '_']) && text.chars().all(is_drawn)
}

/// Whether a heading follows the rule above the table.
fn heads(lines: Lines<'_>) -> bool {
    let next = lines.skip_blank(1).and_then(|at| lines.get(at));
    next.is_some_and(is_heading)
}

/// `WinMTR v0.92 GPL V2 by …`.
fn is_signature(line: &str) -> bool {
    let text = line.trim_start();
    line.len() < LINE_MOST && text.starts_with("WinMTR ") && text.contains(" GPL")
}

const LINE_MOST: usize = 250;
const RULE_LEAST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    /// Lines read, and the number of hops.
    fn of(text: &str) -> Option<(usize, String)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => Some((block.lines, settings.values[0].1.clone())),
            _ => None,
        }
    }

    const ROWS: &str = "|                             192.0.2.1 -    0 |  100 |  100 |    0 |    1 |    9 |    1 |\n\
        |                   No response from host -  100 |   20 |    0 |    0 |    0 |    0 |    0 |\n\
        |                      server.example -   12 |  100 |   88 |    8 |   10 |   41 |    9 |\n";

    #[test]
    fn the_report() {
        let rule = format!("|{}|\n", "-".repeat(90));
        let heading = "|                                      WinMTR statistics                                   |\n\
            |                       Host              -   %  | Sent | Recv | Best | Avrg | Wrst | Last |\n";
        let end = "|________________________________________________|______|______|______|______|______|______|\n   WinMTR v0.92 GPL V2 by Appnor MSP\nso?\n";
        let text = format!("{rule}{heading}{rule}{ROWS}{end}");
        assert_eq!(of(&text), Some((9, "3".to_owned())));
        assert_eq!(of(&text.replace('|', "  ")), Some((9, "3".to_owned())));
        assert_eq!(of(ROWS), Some((3, "3".to_owned())));
        assert_eq!(of(&format!("{rule}{heading}{rule}")), None);
    }

    #[test]
    fn tabs_of_a_window() {
        let text = "Hostname\tNr\tLoss %\tSent\tRecv\tBest\tAvrg\tWorst\tLast\n\
            192.0.2.1\t1\t0\t100\t100\t0\t1\t9\t1\nNo response from host\t2\t100\t20\t0\t0\t0\t0\t0\n";
        assert_eq!(of(text), Some((3, "2".to_owned())));
        let table =
            "Host\t%\tSent\tRecv\tBest\tAvrg\tWrst\tLast\n192.0.2.1\t0\t100\t100\t0\t1\t9\t1\n";
        assert_eq!(of(table), Some((2, "1".to_owned())));
        let (_, rows) = text.split_once('\n').unwrap_or_default();
        assert_eq!(of(rows), None);
    }

    #[test]
    fn a_row_and_its_numbers() {
        let last = ROWS.lines().last().unwrap_or_default();
        let expected = Hop {
            name: "server.example",
            loss_percent: 12,
            received: 88,
            average_ms: 10,
            worst_ms: 41,
        };
        assert_eq!(Hop::of(last), Some(expected));
        let tabs = "server.example\t9\t12\t100\t88\t8\t10\t41\t9";
        assert_eq!(Hop::of(tabs), Some(expected));
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "Ports 1 - 7 8 9 10 11 12 13\nPorts 1 - 7 8 9 10 11 12 13\n",
            "WinMTR statistics show loss at the third hop\n",
            "Host is down, % Sent Recv\n",
            "eth0: 0 - 120 3 2 1 0 0 0\neth0: 0 - 120 3 2 1 0 0 0\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
