// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table as RFC 4180 CSV. Text that a spreadsheet would take for a formula (host names are untrusted) gets an
//! apostrophe.

use std::fmt::Write as _;

use linerate_model::printable::Printable;

use crate::sheets::{Cell, Sheet};

/// The table as text.
#[must_use]
pub fn render(sheet: &Sheet) -> Printable {
    let mut text = String::new();
    line(&mut text, &sheet.columns, |text, name| quote(text, name));
    for row in &sheet.rows {
        line(&mut text, row, field);
    }
    Printable::of(&text)
}

fn line<T>(text: &mut String, fields: &[T], field: fn(&mut String, &T)) {
    for (at, one) in fields.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        field(text, one);
    }
    text.push_str("\r\n");
}

fn field(text: &mut String, cell: &Cell) {
    match cell {
        Cell::Text(words) if words.starts_with(FORMULA) => quote(text, &format!("'{words}")),
        Cell::Text(words) => quote(text, words),
        Cell::Empty => {}
        Cell::Count(_) | Cell::Flag(_) | Cell::Number(_) => {
            // A string takes whatever is written to it.
            let _ = write!(text, "{cell}");
        }
    }
}

/// RFC 4180 §2, points 5 to 7.
fn quote(text: &mut String, words: &str) {
    if words.bytes().any(|byte| b"\",\r\n".contains(&byte)) {
        text.push('"');
        text.push_str(&words.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(words);
    }
}

/// <https://owasp.org/www-community/attacks/CSV_Injection>
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sheet(rows: Vec<Vec<Cell>>) -> Sheet {
        Sheet {
            name: "t".to_owned(),
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows,
        }
    }

    #[test]
    fn numbers_are_bare_and_words_are_quoted_where_they_must_be() {
        let rows = vec![
            vec![Cell::Number(-0.5), Cell::Text("a,\"b\"".to_owned())],
            vec![Cell::Empty, Cell::Text("=HYPERLINK(1)".to_owned())],
            vec![Cell::Flag(true), Cell::Count(940_000_000)],
        ];
        assert_eq!(
            render(&sheet(rows)),
            "a,b\r\n-0.5,\"a,\"\"b\"\"\"\r\n,'=HYPERLINK(1)\r\ntrue,940000000\r\n"
        );
    }

    /// RFC 4180 §2 read back: records of fields.
    fn read(text: &str) -> Vec<Vec<String>> {
        let mut records = vec![vec![String::new()]];
        let mut within = false;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let record = records.last_mut().unwrap();
            match char {
                '"' if within && chars.peek() == Some(&'"') => {
                    record.last_mut().unwrap().push('"');
                    chars.next();
                }
                '"' => within = !within,
                ',' if !within => record.push(String::new()),
                '\r' if !within => assert_eq!(chars.peek(), Some(&'\n')),
                '\n' if !within => records.push(vec![String::new()]),
                other => record.last_mut().unwrap().push(other),
            }
        }
        records.pop();
        records
    }

    fn shown(text: &str) -> String {
        Printable::of(text).trim_start_matches('\'').to_owned()
    }

    #[test]
    fn a_terminal_obeys_no_cell() {
        let rows = vec![vec![
            Cell::Text("\x1b[2J\u{202e}\u{9b}".to_owned()),
            Cell::Empty,
        ]];
        assert_eq!(render(&sheet(rows)), "a,b\r\n?[2J??,\r\n");
    }

    proptest! {
        #[test]
        fn whatever_a_name_is_it_stays_in_its_cell(words in proptest::collection::vec(("\\PC*|[\",\r\n=a]{0,6}", ".*"), 0..6)) {
            let rows = words.iter().map(|(a, b)| vec![Cell::Text(a.clone()), Cell::Text(b.clone())]);
            let records = read(&render(&sheet(rows.collect())));
            prop_assert_eq!(records.len(), words.len() + 1);
            for (record, (a, b)) in records[1..].iter().zip(&words) {
                prop_assert_eq!(record.len(), 2);
                prop_assert_eq!(record[0].trim_start_matches('\''), shown(a));
                prop_assert_eq!(record[1].trim_start_matches('\''), shown(b));
            }
        }
    }
}
