// SPDX-License-Identifier: MIT OR Apache-2.0
//! The view on a terminal: 80 columns by default, ASCII on request; colour only in addition to words.

pub mod side_by_side;
mod table;

use linerate_model::output::{ErrorReport, Output};
use linerate_model::printable::{Printable, is_hidden};
use linerate_model::units::rate_unit::RateUnit;

use crate::Detail;
use crate::view::{Block, Line, Tone, View};

/// What the terminal can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns; no line is longer unless one word or one command is.
    pub width: usize,
    /// No character beyond ASCII.
    pub ascii: bool,
    /// ANSI colours.
    pub color: bool,
    /// How much is printed.
    pub detail: Detail,
    /// The unit of the rates of streams; `None` for the one that suits each.
    pub rates: Option<RateUnit>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 80,
            ascii: true,
            color: false,
            detail: Detail::Full,
            rates: None,
        }
    }
}

/// The whole result as text, with a line end.
#[must_use]
pub fn render(output: &Output, style: &Style) -> Printable {
    let mut text = String::new();
    let view = View::of(output, style.detail, style.rates).map_text(&|text| printable(text, style));
    for (number, block) in view.blocks.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        match block {
            Block::Lines { heading, lines } => render_lines(&mut text, heading, lines, style),
            Block::Drawing { rows, .. } if widest(rows) > style.width => {}
            Block::Drawing { heading, rows } => {
                wrap(&mut text, [0, 2], heading, Tone::Plain, style);
                for row in rows {
                    push_line(&mut text, &format!("  {row}"), Tone::Plain, style);
                }
            }
            Block::Table(table) => table::render(&mut text, table, style),
        }
    }
    Printable::coloured(&text)
}

/// An error as three lines: what, why, what to try.
#[must_use]
pub fn error(report: &ErrorReport, style: &Style) -> Printable {
    let mut text = String::new();
    let mut lines = View::error(report);
    for line in &mut lines {
        line.text = printable(&line.text, style);
    }
    render_lines(&mut text, "", &lines, style);
    Printable::coloured(&text)
}

/// With its indent.
fn widest(rows: &[String]) -> usize {
    let of = |row: &String| row.chars().count() + 2;
    rows.iter().map(of).max().unwrap_or(0)
}

fn render_lines(text: &mut String, heading: &str, lines: &[Line], style: &Style) {
    if !heading.is_empty() {
        wrap(text, [0, 2], heading, Tone::Plain, style);
    }
    for line in lines {
        if line.whole {
            let command = format!("{}{}", " ".repeat(line.indent), line.text);
            push_line(text, &command, line.tone, style);
        } else {
            let indents = [line.indent, line.indent + line.hang];
            wrap(text, indents, &line.text, line.tone, style);
        }
    }
}

/// Puts words into lines; the first line of a sentence and the later ones have their own indents.
fn wrap(text: &mut String, [first, later]: [usize; 2], sentence: &str, tone: Tone, style: &Style) {
    let mut line = " ".repeat(first);
    let mut empty = true;
    for word in sentence.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if !empty && length > style.width {
            push_line(text, &line, tone, style);
            line = " ".repeat(later);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    push_line(text, &line, tone, style);
}

fn push_line(text: &mut String, line: &str, tone: Tone, style: &Style) {
    text.push_str(&toned(line.trim_end(), tone, style));
    text.push('\n');
}

/// In the colour of its meaning.
fn toned(words: &str, tone: Tone, style: &Style) -> String {
    match color_of(tone).filter(|_| style.color) {
        Some(code) => format!("\x1b[{code}m{words}\x1b[0m"),
        None => words.to_owned(),
    }
}

fn color_of(tone: Tone) -> Option<u8> {
    match tone {
        Tone::Bad => Some(31),
        Tone::Good => Some(32),
        Tone::Plain => None,
        Tone::Warn => Some(33),
    }
}

/// What the terminal can show. Names come from the peer, so hidden characters become `?`; on a
/// serial console so does what has no spelling in ASCII.
fn printable(text: &str, style: &Style) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            hidden if is_hidden(hidden) => plain.push('?'),
            shown if !style.ascii => plain.push(shown),
            '…' => plain.push_str("..."),
            '–' | '—' => plain.push('-'),
            '×' => plain.push('x'),
            'µ' => plain.push('u'),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '“' | '”' => plain.push('"'),
            '‘' | '’' => plain.push('\''),
            known if known.is_ascii() => plain.push(known),
            _ => plain.push('?'),
        }
    }
    plain
}

#[cfg(test)]
pub(crate) mod tests;
