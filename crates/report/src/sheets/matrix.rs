// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix for spreadsheets and scripts: one row a cell and figure with every value; and one sheet a figure, with the
//! medians as a grid and their intervals to the right of it.

use linerate_model::output::{self, CellFigure, CellState, Matrix};

use super::{Cell, NamedCells, Sheet};
use crate::subject::Subject;
use crate::view::matrix::{Layout, known, names};

/// The name of the sheet of all cells.
pub(super) const MATRIX: &str = "matrix";

/// A sheet for each figure of each matrix.
#[must_use]
pub fn grids(subjects: &[Subject]) -> Vec<Sheet> {
    let measured = |subject: &&Subject| subject.output.comparison.is_empty();
    let matrices: Vec<(&Subject, Layout<'_>)> = subjects
        .iter()
        .filter(measured)
        .filter_map(|subject| Some((subject, Layout::of(&subject.output)?)))
        .collect();
    let several = matrices.len() > 1;
    let of = |(number, (subject, layout)): (usize, &(&Subject, Layout<'_>))| {
        let sheet = |name: &str| {
            let title = match several {
                true => format!("{} {name}", number + 1),
                false => name.to_owned(),
            };
            grid(title, name, layout)
        };
        let figures = names(&subject.output.cells);
        figures.into_iter().map(sheet).collect::<Vec<_>>()
    };
    matrices.iter().enumerate().flat_map(of).collect()
}

fn grid(title: String, name: &str, layout: &Layout<'_>) -> Sheet {
    let axes = layout.row_axes();
    let wide = layout.column_names();
    let parts = ["", " low95", " high95"];
    let headings = parts
        .iter()
        .flat_map(|part| wide.iter().map(move |column| format!("{column}{part}")));
    let columns = axes.iter().map(|axis| (*axis).to_owned()).chain(headings);
    let row = |(keys, cells): (Vec<&str>, Vec<Option<&output::Cell>>)| {
        let figures: Vec<_> = cells
            .iter()
            .map(|cell| cell.and_then(|cell| known(cell, name)))
            .collect();
        let part = |of: fn(&CellFigure) -> Option<f64>| {
            let value = move |one: &Option<&CellFigure>| number(one.and_then(of));
            figures.iter().map(value).collect::<Vec<_>>()
        };
        let keys = keys.into_iter().map(value);
        keys.chain(part(|one| Some(one.median)))
            .chain(part(|one| one.ci95.map(|[low, _]| low)))
            .chain(part(|one| one.ci95.map(|[_, high]| high)))
            .collect()
    };
    let rows = layout.row_values().into_iter().zip(layout.grid());
    Sheet {
        name: title,
        columns: columns.collect(),
        rows: rows.map(row).collect(),
    }
}

/// The rows of a cell: one a figure; one alone where nothing was measured.
pub(super) fn rows(matrix: &Matrix, cell: &output::Cell) -> Vec<NamedCells> {
    let named = |name: &str, cell: Cell| (name.to_owned(), cell);
    let axis = |axis: &output::Axis| {
        let on = cell.axes.get(&axis.name).map_or("", String::as_str);
        (axis.name.clone(), value(on))
    };
    let mut start = vec![named("cell", Cell::Count(cell.id.into()))];
    start.extend(matrix.axes.iter().map(axis));
    let reason = cell.reason.clone().map_or(Cell::Empty, Cell::Text);
    start.extend([
        named("state", Cell::Text(state(cell.state).to_owned())),
        named("reason", reason),
    ]);
    if cell.figures.is_empty() {
        return vec![start];
    }
    let row = |figure: &CellFigure| {
        let [low, high] = [0, 1].map(|end| figure.ci95.map(|ends| ends[end]));
        let far: Vec<String> = figure
            .outliers
            .iter()
            .map(|at| (at + 1).to_string())
            .collect();
        let mut row = start.clone();
        row.extend([
            named("figure", Cell::Text(figure.name.clone())),
            named("unit", Cell::Text(figure.unit.clone())),
            named("n", Cell::Count(figure.n.into())),
            named(
                "median",
                number(Some(figure.median).filter(|_| figure.n > 0)),
            ),
            named("low95", number(low)),
            named("high95", number(high)),
            named("outlier_runs", Cell::Text(far.join(" "))),
        ]);
        let values = figure.values.iter().zip(1..);
        row.extend(values.map(|(value, run)| (format!("run_{run}"), Cell::Number(*value))));
        row
    };
    cell.figures.iter().map(row).collect()
}

fn number(value: Option<f64>) -> Cell {
    value.map_or(Cell::Empty, Cell::Number)
}

/// A value of an axis: a number where it is one.
fn value(text: &str) -> Cell {
    match text.parse() {
        Ok(count) => Cell::Count(count),
        Err(_) => Cell::Text(text.to_owned()),
    }
}

/// As in the document.
fn state(state: CellState) -> &'static str {
    match state {
        CellState::Pending => "pending",
        CellState::Done => "done",
        CellState::Failed => "failed",
        CellState::NotPossible => "not-possible",
        CellState::NotComparable => "not-comparable",
    }
}
