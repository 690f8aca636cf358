// SPDX-License-Identifier: MIT OR Apache-2.0
//! The view as GitHub's Markdown, answer first, to be pasted into an issue. Whatever a name from the
//! record is made of, it stays text.

use linerate_model::printable::is_hidden;

use crate::subject::Subject;
use crate::view::{Align, Block, Column, Line, Parts, Table, Tone};

/// The whole page.
#[must_use]
pub fn render(subjects: &[Subject]) -> String {
    let mut text = String::new();
    for subject in subjects {
        if subjects.len() > 1 {
            text.push_str(&format!("# {}\n\n", escaped(&subject.label)));
        }
        for block in Parts::of(&subject.output).into_blocks() {
            push(&mut text, &block);
        }
    }
    text
}

fn push(text: &mut String, block: &Block) {
    match block {
        Block::Lines { heading, lines } => {
            push_heading(text, heading);
            push_lines(text, lines);
        }
        Block::Drawing { heading, rows } => {
            push_heading(text, heading);
            // Made of numbers and signs: nothing in it could end the block.
            text.push_str(&format!("```text\n{}\n```\n", rows.join("\n")));
        }
        Block::Table(table) => {
            push_heading(text, &table.heading);
            push_table(text, table);
        }
    }
    text.push('\n');
}

fn push_heading(text: &mut String, heading: &str) {
    if !heading.is_empty() {
        text.push_str(&format!("## {}\n\n", escaped(heading)));
    }
}

/// Lines as nested list items; commands in a code block.
fn push_lines(text: &mut String, lines: &[Line]) {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let item = "  ".repeat(line.indent.saturating_sub(2) / 2);
        if line.whole {
            let commands: Vec<_> = lines[at..].iter().take_while(|line| line.whole).collect();
            push_commands(text, &item, &commands);
            at += commands.len();
        } else {
            let words = escaped(&line.text);
            let words = match line.tone {
                Tone::Bad => format!("**{words}**"),
                Tone::Good | Tone::Plain | Tone::Warn => words,
            };
            text.push_str(&format!("{item}- {words}\n"));
            at += 1;
        }
    }
}

/// A fence longer than any within.
fn push_commands(text: &mut String, indent: &str, commands: &[&Line]) {
    let longest = commands.iter().map(|line| backticks(&line.text)).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    text.push_str(&format!("{indent}{fence}sh\n"));
    for line in commands {
        let typed = line.text.replace(['\n', '\r'], " ");
        text.push_str(&format!("{indent}{typed}\n"));
    }
    text.push_str(&format!("{indent}{fence}\n"));
}

fn backticks(text: &str) -> usize {
    let runs = text.split(|char| char != '`').map(str::len);
    runs.max().unwrap_or(0)
}

fn push_table(text: &mut String, table: &Table) {
    let row = |text: &mut String, cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<_> = cells.collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    };
    row(text, &mut table.columns.iter().map(heading));
    row(text, &mut table.columns.iter().map(rule));
    for at in 0..table.rows() {
        let cell = |column: &Column| escaped(column.cells[at].trim());
        row(text, &mut table.columns.iter().map(cell));
    }
}

fn heading(column: &Column) -> String {
    let parts = [column.name.as_str(), column.unit.as_str()];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    escaped(&parts.join(", "))
}

fn rule(column: &Column) -> String {
    let rule = match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    };
    rule.to_owned()
}

/// CommonMark §2.4: a backslash escapes punctuation. An underscore within a word needs none.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (at, char) in chars.iter().enumerate() {
        let in_word = |at: Option<usize>| {
            at.and_then(|at| chars.get(at))
                .is_some_and(|char| char.is_alphanumeric())
        };
        let within = in_word(at.checked_sub(1)) && in_word(Some(at + 1));
        match char {
            '_' if within => safe.push('_'),
            char if is_hidden(*char) => safe.push(' '),
            char if SPECIAL.contains(*char) => safe.extend(['\\', *char]),
            char => safe.push(*char),
        }
    }
    numbered(safe)
}

/// `1. ` at the start of an item would be a list within it.
fn numbered(text: String) -> String {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let list =
        |rest: &str| matches!(rest, "." | ")") || rest.starts_with(". ") || rest.starts_with(") ");
    match digits {
        1.. if list(&text[digits..]) => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ if text.starts_with(['-', '+', '=']) => format!("\\{text}"),
        _ => text,
    }
}

const SPECIAL: &str = "\\`*_[]<>|~&#$!@";

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Host, Output, Test};
    use proptest::prelude::*;

    fn named(name: &str) -> Subject {
        Subject {
            output: Output {
                hosts: vec![Host {
                    hostname: Some(name.to_owned()),
                    ..Host::default()
                }],
                tests: vec![Test {
                    name: name.to_owned(),
                    valid: true,
                    ..Test::default()
                }],
                ..Output::new("tcp", "0.1.0")
            },
            ..Subject::default()
        }
    }

    #[test]
    fn a_table_is_a_table_of_github() {
        let text = render(&[named("tcp-up")]);
        let lines: Vec<_> = text.lines().collect();
        let head = lines.iter().position(|line| line.starts_with("| test |"));
        let head = head.unwrap_or_else(|| panic!("{text}"));
        assert!(
            lines[head + 1].starts_with("| --- | --- | ---: |"),
            "{text}"
        );
        assert!(lines[head + 2].starts_with("| tcp-up | up |"), "{text}");
    }

    #[test]
    fn a_number_stays_a_number() {
        assert_eq!(escaped("941.5"), "941.5");
        assert_eq!(escaped("-3"), "\\-3", "else an item of a list");
    }

    #[test]
    fn punctuation_is_only_itself() {
        assert_eq!(
            escaped("net.core_rmem <b> a|b"),
            "net.core_rmem \\<b\\> a\\|b"
        );
        assert_eq!(escaped("_x_ 1. *"), "\\_x\\_ 1. \\*");
        assert_eq!(escaped("1. cause"), "1\\. cause");
        assert_eq!(escaped("\u{1b}[2J"), " \\[2J");
    }

    /// Markup characters without a backslash before them.
    fn bare(text: &str) -> bool {
        let mut after_backslash = false;
        text.chars().any(|char| {
            let bare = !after_backslash && "<>*[]`".contains(char);
            after_backslash = !after_backslash && char == '\\';
            bare
        })
    }

    proptest! {
        #[test]
        fn no_name_becomes_markup(name in "[<>a|`*\\[\\]()\n\\\\_!&;]{0,15}") {
            let text = render(&[named(&name)]);
            prop_assert!(!bare(&text), "{}", text);
            for table in text.split("\n\n") {
                let rows = table.lines().filter(|line| line.starts_with("| "));
                let bars = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
                let bars: Vec<_> = rows.map(bars).collect();
                prop_assert!(bars.windows(2).all(|two| two[0] == two[1]), "{}", text);
            }
        }
    }
}
