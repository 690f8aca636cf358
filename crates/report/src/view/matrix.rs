// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix as grids: rows and columns are the values of its axes. One grid a figure, or the verdicts of two matrices.

mod compared;
mod figure;
mod layout;
mod scale;

use std::collections::BTreeMap;

use linerate_model::output::{Cell, CellState, Excluded, Matrix, Output, RanOn};

use super::{Block, Column, Line, Table, Tone, answer, conclusions, moved, setup};
use crate::Detail;

pub use compared::{HOSTS_OF_RUNS, matrix_sentence};
pub(super) use figure::titles;
pub(crate) use figure::{known, names};
pub(crate) use layout::Layout;
pub use layout::cell_name;
pub(crate) use scale::Scale;

/// What a terminal shows of a matrix, or of two compared; `None` of other results.
pub(super) fn blocks(output: &Output, detail: Detail) -> Option<Vec<Block>> {
    let layout = Layout::of(output)?;
    let mut blocks = vec![answer::ends(output)];
    blocks.extend(head(output, &layout));
    if detail != Detail::Line {
        blocks.extend(grids(output, &layout, detail == Detail::Full));
        blocks.extend(moved::short(output));
    }
    if detail == Detail::Full {
        blocks.extend(every_cell(output, &layout));
        blocks.extend(setup::blocks(output));
    }
    blocks.extend(answer::last(output));
    Some(blocks)
}

/// What a page shows first: the answer and the grids.
pub(super) fn answer_blocks(output: &Output, layout: &Layout<'_>) -> Vec<Block> {
    let mut blocks = head(output, layout);
    blocks.extend(grids(output, layout, true));
    blocks.extend(conclusions::expectations(output));
    blocks
}

/// The answer of a comparison, or what was measured.
fn head(output: &Output, layout: &Layout<'_>) -> Vec<Block> {
    match output.comparison.is_empty() {
        true => vec![summary(output, layout)],
        false => compared::answer(output),
    }
}

fn grids(output: &Output, layout: &Layout<'_>, all: bool) -> Vec<Block> {
    match output.comparison.is_empty() {
        true => figure::blocks(output, layout),
        false => compared::blocks(output, layout, all),
    }
}

/// What it is a matrix of, and how far it came.
fn summary(output: &Output, layout: &Layout<'_>) -> Block {
    let Matrix {
        name,
        rounds,
        rounds_done,
        order_seed,
        ..
    } = layout.matrix;
    let axes = layout.matrix.axes.iter();
    let axes: Vec<String> = axes
        .map(|axis| format!("{} {}", axis.name, axis.values.join(",")))
        .collect();
    let count = |state: CellState| {
        output
            .cells
            .iter()
            .filter(|cell| cell.state == state)
            .count()
    };
    let states = [
        (CellState::Done, "measured"),
        (CellState::Pending, "not completed"),
        (CellState::Failed, "failed"),
        (CellState::NotPossible, "not possible"),
        (CellState::NotComparable, "not comparable"),
    ];
    let states = states.map(|(state, word)| (count(state), word));
    let states: Vec<String> = states
        .iter()
        .filter(|(many, _)| *many > 0)
        .map(|(many, word)| format!("{many} {word}"))
        .collect();
    let named = match name.as_str() {
        "" | "matrix" => String::new(),
        name => format!(" {name}"),
    };
    let lines = [
        axes.join(" × "),
        format!("{} cells: {}", output.cells.len(), states.join(", ")),
        format!(
            "{rounds_done} of {rounds} rounds, the cells of each in drawn order (seed {order_seed})"
        ),
    ];
    let lines = lines.into_iter().map(|text| Line::new(2, text));
    Block::Lines {
        heading: format!("matrix{named}"),
        lines: lines.chain(mixed(layout.matrix)).collect(),
    }
}

/// On which hosts it was measured, where that is not the same for all runs.
fn mixed(matrix: &Matrix) -> Vec<Line> {
    let line = |one: &RanOn| format!("{} runs on {}", one.runs, one.hosts.join(", against "));
    let lines = matrix.ran_on.iter().map(line);
    let lines: Vec<Line> = lines.map(|text| Line::new(4, text)).collect();
    let head = (!lines.is_empty()).then(|| {
        let text = "its runs were made on different hosts: a cell may mix them";
        Line::new(2, text.to_owned()).tone(Tone::Warn)
    });
    head.into_iter().chain(lines).collect()
}

/// One row a cell, one column a figure: medians.
pub(super) fn every_cell(output: &Output, layout: &Layout<'_>) -> Option<Block> {
    let axes = &layout.matrix.axes;
    let cells = &output.cells;
    let key = |axis: &linerate_model::output::Axis| {
        let words = cells
            .iter()
            .map(|cell| layout::value(cell, axis).to_owned());
        Column::words(&axis.name, words)
    };
    let mut columns: Vec<Column> = axes.iter().map(key).collect();
    let figures = names(cells);
    columns.extend(figures.iter().map(|name| {
        let scale = Scale::of(cells, name);
        let median = |cell: &Cell| known(cell, name).map(|one| scale.text(one.median));
        let (short, _) = titles(name);
        Column::texts(short, &scale.unit, cells.iter().map(median))
    }));
    (!figures.is_empty()).then(|| {
        Block::Table(Table {
            heading: "cells: medians of their runs".to_owned(),
            keys: axes.len(),
            columns,
            tones: Vec::new(),
        })
    })
}

/// The reasons why cells have no figure, numbered in the order of the cells.
pub(crate) struct Reasons<'o> {
    groups: Vec<Group<'o>>,
    /// By their texts, from 0.
    places: BTreeMap<&'o str, usize>,
}

/// A text and the cells that have it.
type Group<'o> = (&'o str, Vec<&'o Cell>);

impl<'o> Reasons<'o> {
    pub(crate) fn of(cells: &'o [Cell]) -> Self {
        let (groups, places) = groups(cells, |cell| cell.reason.as_deref());
        Self { groups, places }
    }

    /// `not possible (1)`, in place of a figure.
    pub(crate) fn text(&self, cell: &Cell) -> String {
        let word = match cell.state {
            CellState::Pending | CellState::Done => "not measured",
            CellState::Failed => "failed",
            CellState::NotPossible => "not possible",
            CellState::NotComparable => "not comparable",
        };
        let reason = cell.reason.as_deref();
        let place = reason.and_then(|reason| self.places.get(reason));
        place.map_or(word.to_owned(), |at| format!("{word} ({})", at + 1))
    }

    /// Each reason once, with its cells; then what is to be known of others.
    pub(crate) fn block(&self, layout: &Layout<'o>, cells: &'o [Cell]) -> Option<Block> {
        let line = |(at, (reason, cells)): (usize, &Group<'_>)| {
            let failed = cells.iter().any(|cell| cell.state == CellState::Failed);
            let text = format!("({}) {reason}: {}", at + 1, named(layout, cells));
            Line::new(2, text).tone(if failed { Tone::Bad } else { Tone::Plain })
        };
        let reasons = self.groups.iter().enumerate().take(MOST_REASONS).map(line);
        let (notes, _) = groups(cells, |cell| cell.note.as_deref());
        let note = |(note, cells): &Group<'_>| {
            Line::new(2, format!("note: {note}: {}", named(layout, cells)))
        };
        let notes = notes.iter().take(MOST_REASONS).map(note);
        let rest = more(self.groups.len(), MOST_REASONS, "reasons");
        let rest = (!rest.is_empty()).then(|| Line::new(2, rest.trim_start().to_owned()));
        let lines: Vec<Line> = reasons.chain(rest).chain(notes).collect();
        Block::lines("", lines.into_iter().chain(not_counted(cells, layout)))
    }
}

/// The distinct texts of some cells, in the order of the cells, and their places.
fn groups<'o>(
    cells: &'o [Cell],
    text: impl Fn(&'o Cell) -> Option<&'o str>,
) -> (Vec<Group<'o>>, BTreeMap<&'o str, usize>) {
    let mut groups: Vec<Group<'o>> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells {
        let Some(text) = text(cell) else { continue };
        let at = *places.entry(text).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, cells)) => cells.push(cell),
            None => groups.push((text, vec![cell])),
        }
    }
    (groups, places)
}

fn named(layout: &Layout<'_>, cells: &[&Cell]) -> String {
    let shown = cells.iter().take(MOST_NAMED);
    let names: Vec<String> = shown.map(|cell| cell_name(layout.matrix, cell)).collect();
    names.join(", ") + &more(cells.len(), names.len(), "cells")
}

/// Runs that were repeated or left out.
fn not_counted(cells: &[Cell], layout: &Layout<'_>) -> Vec<Line> {
    let all = || {
        cells
            .iter()
            .flat_map(|cell| cell.excluded.iter().map(move |one| (cell, one)))
    };
    let line = |(cell, one): (&Cell, &Excluded)| {
        let named = cell_name(layout.matrix, cell);
        Line::new(
            2,
            format!("not counted: {named}: {}: {}", one.run, one.reason),
        )
    };
    let rest = more(all().count(), MOST_NAMED, "runs do not count");
    let rest = (!rest.is_empty()).then(|| Line::new(2, rest.trim_start().to_owned()));
    all().take(MOST_NAMED).map(line).chain(rest).collect()
}

/// ` and 3 more cells (--json)`; nothing where all are shown.
fn more(all: usize, shown: usize, of: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => format!(" and {more} more {of} (--json)"),
    }
}

const MOST_NAMED: usize = 4;
const MOST_REASONS: usize = 12;

#[cfg(test)]
pub(crate) mod tests;
