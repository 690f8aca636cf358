// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of fixed width. Needed columns that do not fit are in further parts below; others are left out, and named.

use super::{Style, push_line, toned, wrap};
use crate::view::{Align, Column, Table, Tone};
use linerate_model::order;

pub(super) fn render(text: &mut String, table: &Table, style: &Style) {
    if !table.heading.is_empty() {
        wrap(text, [0, 2], &table.heading, Tone::Plain, style);
    }
    let widths: Vec<usize> = table.columns.iter().map(width).collect();
    let needed: Vec<bool> = table.columns.iter().map(|column| column.needed).collect();
    let shown = fitting(&widths, table.keys, &needed, style.width);
    for part in parts(&widths, table.keys, &shown, style.width) {
        render_part(text, table, &widths, &part, style);
    }
    let left = |at: &usize| !shown.contains(at) && !table.columns[*at].name.is_empty();
    let left: Vec<usize> = (0..widths.len()).filter(left).collect();
    if !left.is_empty() {
        let names: Vec<&str> = left
            .iter()
            .map(|at| table.columns[*at].name.as_str())
            .collect();
        let note = format!("not shown at this width: {}", names.join(", "));
        wrap(text, [2, 4], &note, Tone::Plain, style);
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
        let cells = columns().map(|(column, width)| {
            let tone = column.tones.get(row).copied().unwrap_or_default();
            let cell = padded(&column.cells[row], width, column.align);
            let words = cell.trim_end();
            toned(words, tone, style) + &cell[words.len()..]
        });
        let cells = cells.collect::<Vec<_>>().join(GAP);
        push_line(text, &(INDENT.to_owned() + &cells), table.tone(row), style);
    }
}

/// The columns that fit: keys and needed ones, and the others, the first ones first, as far as there is room.
fn fitting(widths: &[usize], keys: usize, needed: &[bool], limit: usize) -> Vec<usize> {
    let is_needed = |at: usize| at <= keys || needed.get(at).copied().unwrap_or(false);
    let with_gap = |at: usize| widths[at] + GAP.len();
    let (first, others): (Vec<usize>, Vec<usize>) =
        (0..widths.len()).partition(|at| is_needed(*at));
    let room = (limit + GAP.len()).saturating_sub(INDENT.len());
    let mut used: usize = first.iter().map(|at| with_gap(*at)).sum();
    let mut shown = first;
    for at in others {
        if used + with_gap(at) <= room {
            used += with_gap(at);
            shown.push(at);
        }
    }
    order::by(&mut shown, Ord::cmp);
    shown
}

/// The columns in parts of a width, each with the keys.
fn parts(widths: &[usize], keys: usize, shown: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let (first, others) = shown.split_at(keys.min(shown.len()));
    let width = |at: &usize| widths[*at] + GAP.len();
    let room = (limit + GAP.len()).saturating_sub(INDENT.len());
    let start: usize = first.iter().map(width).sum();
    let mut parts = vec![first.to_vec()];
    let mut used = start;
    for at in others {
        let is_full = used > start && used + width(at) > room;
        if is_full {
            parts.push(first.to_vec());
            used = start;
        }
        used += width(at);
        if let Some(part) = parts.last_mut() {
            part.push(*at);
        }
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
    fn columns_that_do_not_fit_are_left_out() {
        assert_eq!(fitting(&[4, 10, 10, 10], 1, &[], 80), [0, 1, 2, 3]);
        assert_eq!(fitting(&[4, 10, 10, 10], 1, &[], 30), [0, 1, 2]);
        assert_eq!(
            fitting(&[4, 10, 30, 10], 1, &[], 30),
            [0, 1, 3],
            "a narrow one after a wide one"
        );
        assert_eq!(fitting(&[4, 100, 10], 1, &[], 30), [0, 1], "one at least");
        assert_eq!(fitting(&[4], 1, &[], 30), [0]);
        assert_eq!(
            parts(&[4, 30, 30, 30], 1, &[0, 1, 2, 3], 80),
            [vec![0, 1, 2], vec![0, 3]],
            "in two parts"
        );
        assert_eq!(parts(&[4, 100, 100], 1, &[0, 1, 2], 80).len(), 2);
        assert_eq!(parts(&[4], 1, &[0], 80), [[0]]);
        let needed = [false, false, false, true];
        assert_eq!(fitting(&[4, 10, 10, 10], 1, &needed, 30), [0, 1, 3]);
    }
}
