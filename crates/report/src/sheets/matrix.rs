// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix for spreadsheets and scripts: one row a cell and figure with every value; and one sheet a figure, with the
//! medians as a grid and their intervals to the right of it.

use std::rc::Rc;

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

/// The rows of the cells of a matrix: one a figure; one alone where nothing was measured.
pub(super) struct Rows<'m> {
    matrix: &'m Matrix,
    /// What each row begins with.
    prefix: &'m NamedCells,
    /// Of the axes, in their order.
    axes: Vec<Rc<str>>,
    names: [Rc<str>; 10],
    /// `run_1` …, as many as were needed so far.
    runs: Vec<Rc<str>>,
}

impl<'m> Rows<'m> {
    pub(super) fn of(matrix: &'m Matrix, prefix: &'m NamedCells) -> Self {
        let axes = matrix.axes.iter();
        Self {
            matrix,
            prefix,
            axes: axes.map(|axis| axis.name.as_str().into()).collect(),
            names: NAMES.map(Rc::from),
            runs: Vec::new(),
        }
    }

    pub(super) fn cell(&mut self, cell: &output::Cell) -> Vec<NamedCells> {
        let start = self.start(cell);
        match cell.figures.as_slice() {
            [] => vec![start],
            figures => figures
                .iter()
                .map(|figure| self.row(&start, figure))
                .collect(),
        }
    }

    /// What the rows of a cell have in common.
    fn start(&self, cell: &output::Cell) -> NamedCells {
        let [id, state, reason, ..] = &self.names;
        let mut start = self.prefix.clone();
        start.push((Rc::clone(id), Cell::Count(cell.id.into())));
        for (axis, name) in self.matrix.axes.iter().zip(&self.axes) {
            let on = cell.axes.get(&axis.name).map_or("", String::as_str);
            start.push((Rc::clone(name), value(on)));
        }
        let why = cell.reason.clone().map_or(Cell::Empty, Cell::Text);
        let is = Cell::Text(self::state(cell.state).to_owned());
        start.extend([(Rc::clone(state), is), (Rc::clone(reason), why)]);
        start
    }

    fn row(&mut self, start: &NamedCells, figure: &CellFigure) -> NamedCells {
        let [low, high] = [0, 1].map(|end| figure.ci95.map(|ends| ends[end]));
        let outliers = figure.outliers.iter();
        let far: Vec<String> = outliers.map(|at| (at + 1).to_string()).collect();
        let cells = [
            Cell::Text(figure.name.clone()),
            Cell::Text(figure.unit.clone()),
            Cell::Count(figure.n.into()),
            number(Some(figure.median).filter(|_| figure.n > 0)),
            number(low),
            number(high),
            Cell::Text(far.join(" ")),
        ];
        let runs = figure.values.len();
        let known = self.runs.len();
        let more = (known..runs).map(|run| Rc::<str>::from(format!("run_{}", run + 1)));
        self.runs.extend(more);
        let mut row = Vec::with_capacity(start.len() + cells.len() + runs);
        row.extend_from_slice(start);
        row.extend(self.names[3..].iter().cloned().zip(cells));
        let values = figure.values.iter().map(|value| Cell::Number(*value));
        row.extend(self.runs.iter().cloned().zip(values));
        row
    }
}

/// The columns besides axes and runs.
const NAMES: [&str; 10] = [
    "cell",
    "state",
    "reason",
    "figure",
    "unit",
    "n",
    "median",
    "low95",
    "high95",
    "outlier_runs",
];

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
