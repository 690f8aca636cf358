// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sentences as lists, columns as tables.

use super::writer::Html;
use crate::view::{Align, Block, Column, Line, Table, Tone};

/// A block, its heading as deep as `heading`.
pub(super) fn push(html: &mut Html, heading: &'static str, block: &Block) {
    match block {
        Block::Lines {
            heading: words,
            lines,
        } => {
            if !words.is_empty() {
                html.words(heading, &[], words);
            }
            self::lines(html, lines);
        }
        // Drawn as a picture.
        Block::Drawing { .. } => {}
        Block::Table(table) => self::table(html, table),
    }
}

/// Sentences, as deep as they are indented; commands in one frame.
pub(super) fn lines(html: &mut Html, lines: &[Line]) {
    html.element("ul", &[("class", "lines")], |html| {
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let depth = DEPTHS[(line.indent / 2).saturating_sub(1).min(DEPTHS.len() - 1)];
            if line.whole {
                let commands = lines[at..].iter().take_while(|line| line.whole);
                let typed: Vec<&str> = commands.map(|line| line.text.as_str()).collect();
                html.element("li", &[("class", depth)], |html| {
                    commands_frame(html, &typed)
                });
                at += typed.len();
            } else {
                let next = lines.get(at + 1).map_or(0, |next| next.indent);
                let head = if next > line.indent { "head " } else { "" };
                let class = format!("{depth} {head}{}", tone(line.tone));
                html.words("li", &[("class", class.trim_end())], &line.text);
                at += 1;
            }
        }
    });
}

fn commands_frame(html: &mut Html, commands: &[&str]) {
    html.group("pre", "", "commands", |html| {
        for (at, command) in commands.iter().enumerate() {
            if at > 0 {
                html.raw("\n");
            }
            html.words("code", &[], command);
        }
    });
}

/// The first columns name the row.
fn table(html: &mut Html, table: &Table) {
    let label = match table.heading.as_str() {
        "" => "figures",
        heading => heading,
    };
    html.group("div", "frame", label, |html| {
        html.element("table", &[], |html| {
            if !table.heading.is_empty() {
                html.words("caption", &[], &table.heading);
            }
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for column in &table.columns {
                        head(html, column);
                    }
                });
            });
            html.element("tbody", &[], |html| {
                for at in 0..table.rows() {
                    row(html, table, at);
                }
            });
        });
    });
}

fn head(html: &mut Html, column: &Column) {
    if column.name.is_empty() {
        return html.empty("td", &[]);
    }
    html.element(
        "th",
        &[("scope", "col"), ("class", side(column.align))],
        |html| {
            html.text(&column.name);
            if !column.unit.is_empty() {
                html.words("small", &[], &format!(" {}", column.unit));
            }
        },
    );
}

fn row(html: &mut Html, table: &Table, at: usize) {
    html.element("tr", &[("class", tone(table.tone(at)))], |html| {
        for (number, column) in table.columns.iter().enumerate() {
            let cell = column.cells[at].trim();
            let meaning = tone(column.tones.get(at).copied().unwrap_or_default());
            let class = format!("{} {meaning}", side(column.align));
            let class = class.trim_end();
            if number < table.keys {
                html.words("th", &[("scope", "row"), ("class", class)], cell);
            } else {
                html.words("td", &[("class", class)], cell);
            }
        }
    });
}

fn side(align: Align) -> &'static str {
    match align {
        Align::Left => "l",
        Align::Right => "r",
    }
}

/// The style's word; the sentence itself says it, too.
pub(super) fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "bad",
        Tone::Good => "good",
        Tone::Plain => "",
        Tone::Warn => "warn",
    }
}

const DEPTHS: [&str; 4] = ["i0", "i1", "i2", "i3"];
