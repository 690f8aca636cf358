// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of fixed width. Columns that do not fit follow below, with the key columns repeated.

use super::{Style, push_line, wrap};
use crate::view::{Align, Column, Table, Tone};

pub(super) fn render(text: &mut String, table: &Table, style: &Style) {
    wrap(text, [0, 2], &table.heading, Tone::Plain, style);
    let widths: Vec<usize> = table.columns.iter().map(width).collect();
    for (number, part) in parts(&widths, table.keys, style.width).iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        render_part(text, table, &widths, part, style);
    }
}

fn render_part(text: &mut String, table: &Table, widths: &[usize], part: &[usize], style: &Style) {
    let columns = || part.iter().map(|at| (&table.columns[*at], widths[*at]));
    let line = |cell: &dyn Fn(&Column) -> String| {
        let cells = columns().map(|(column, width)| padded(&cell(column), width, column.align));
        INDENT.to_owned() + &cells.collect::<Vec<_>>().join(GAP)
    };
    push_line(
        text,
        &line(&|column| column.name.clone()),
        Tone::Plain,
        style,
    );
    if columns().any(|(column, _)| !column.unit.is_empty()) {
        push_line(
            text,
            &line(&|column| column.unit.clone()),
            Tone::Plain,
            style,
        );
    }
    for row in 0..table.rows() {
        push_line(
            text,
            &line(&|column| column.cells[row].clone()),
            table.tone(row),
            style,
        );
    }
}

/// The columns of each part: the keys, and as many others as fit.
fn parts(widths: &[usize], keys: usize, limit: usize) -> Vec<Vec<usize>> {
    let of_keys: usize = widths
        .iter()
        .take(keys)
        .map(|width| width + GAP.len())
        .sum();
    let key_columns: Vec<usize> = (0..keys).collect();
    let mut parts = vec![key_columns.clone()];
    let mut used = INDENT.len() + of_keys;
    for (at, width) in widths.iter().enumerate().skip(keys) {
        if used + width > limit && parts.last().is_some_and(|part| part.len() > keys) {
            parts.push(key_columns.clone());
            used = INDENT.len() + of_keys;
        }
        if let Some(part) = parts.last_mut() {
            part.push(at);
        }
        used += width + GAP.len();
    }
    parts
}

fn width(column: &Column) -> usize {
    let texts = [&column.name, &column.unit]
        .into_iter()
        .chain(&column.cells);
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn padded(text: &str, width: usize, align: Align) -> String {
    match align {
        Align::Left => format!("{text:<width$}"),
        Align::Right => format!("{text:>width$}"),
    }
}

const INDENT: &str = "  ";
const GAP: &str = "  ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_follow_with_their_keys() {
        assert_eq!(parts(&[4, 10, 10, 10], 1, 80), [vec![0, 1, 2, 3]]);
        assert_eq!(parts(&[4, 10, 10, 10], 1, 30), [vec![0, 1, 2], vec![0, 3]]);
        assert_eq!(parts(&[4, 100, 10], 1, 30), [vec![0, 1], vec![0, 2]]);
        assert_eq!(parts(&[4], 1, 30), [vec![0]]);
    }
}
