// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cell is in which row and column.

use linerate_model::output::{Axis, Cell, Matrix, Output};

use crate::view::{Align, Column, Table, Tone};

/// The rows and columns of the grids of a matrix.
pub(crate) struct Layout<'o> {
    pub(crate) matrix: &'o Matrix,
    rows: Vec<&'o Axis>,
    columns: Vec<&'o Axis>,
    /// The cells by their ids.
    cells: Vec<Option<&'o Cell>>,
}

impl<'o> Layout<'o> {
    /// Of a document with a matrix of a possible size; an axis of one value is neither row nor column.
    pub(crate) fn of(output: &'o Output) -> Option<Self> {
        let matrix = output.matrix.as_ref()?;
        let size = matrix.axes.iter().try_fold(1_usize, |size, axis| {
            size.checked_mul(axis.values.len())
                .filter(|size| *size <= MOST_CELLS)
        })?;
        let is_row = |axis: &&'o Axis| matrix.rows.contains(&axis.name);
        let (rows, columns) = several(matrix).into_iter().partition(is_row);
        let mut cells = vec![None; size];
        for cell in &output.cells {
            let place = (cell.id as usize)
                .checked_sub(1)
                .and_then(|at| cells.get_mut(at));
            if let Some(place) = place {
                *place = Some(cell);
            }
        }
        Some(Self {
            matrix,
            rows,
            columns,
            cells,
        })
    }

    /// Cells by row, then by column.
    pub(crate) fn grid(&self) -> Vec<Vec<Option<&'o Cell>>> {
        let places = |axes: &[&Axis]| {
            let mut places = vec![0];
            for axis in axes {
                let step = self.step(axis);
                places = times(&places, axis.values.len(), |place, value| {
                    place + value * step
                });
            }
            places
        };
        let (rows, columns) = (places(&self.rows), places(&self.columns));
        let cell = |place: usize| self.cells.get(place).copied().flatten();
        let row = |row: &usize| columns.iter().map(|column| cell(row + column)).collect();
        rows.iter().map(row).collect()
    }

    /// How far apart two cells are that differ only in neighbouring values of an axis.
    fn step(&self, of: &Axis) -> usize {
        let later = self
            .matrix
            .axes
            .iter()
            .skip_while(|axis| axis.name != of.name);
        later.skip(1).map(|axis| axis.values.len()).product()
    }

    /// The values on the axes of the rows, by row.
    pub(crate) fn row_values(&self) -> Vec<Vec<&'o str>> {
        values(&self.rows)
    }

    /// The names of the columns.
    pub(crate) fn column_names(&self) -> Vec<String> {
        let name = |values: &Vec<&str>| {
            let labels = self.columns.iter().zip(values);
            labels
                .map(|(axis, value)| label(&axis.name, value))
                .collect::<Vec<_>>()
                .join(" ")
        };
        values(&self.columns).iter().map(name).collect()
    }

    /// The names of the axes of the rows.
    pub(crate) fn row_axes(&self) -> Vec<&'o str> {
        self.rows.iter().map(|axis| axis.name.as_str()).collect()
    }

    /// A grid whose cells have these texts and meanings.
    pub(crate) fn table(
        &self,
        heading: String,
        empty: &str,
        text: &dyn Fn(&'o Cell) -> (String, Tone),
    ) -> Table {
        let (grid, rows) = (self.grid(), self.row_values());
        let key = |(at, axis): (usize, &&str)| {
            let cells = rows.iter().map(|values| shown(axis, values[at]).to_owned());
            Column::words(axis, cells)
        };
        let mut columns: Vec<Column> = self.row_axes().iter().enumerate().map(key).collect();
        let keys = columns.len();
        columns.extend(self.column_names().iter().enumerate().map(|(at, name)| {
            let cell = |row: &Vec<Option<&'o Cell>>| match row[at] {
                Some(cell) => text(cell),
                None => (empty.to_owned(), Tone::Plain),
            };
            let (texts, tones): (Vec<String>, Vec<Tone>) = grid.iter().map(cell).unzip();
            let name = if name.is_empty() { "all" } else { name };
            Column {
                align: Align::Left,
                needed: true,
                tones,
                ..Column::words(name, texts.into_iter())
            }
        }));
        Table {
            heading,
            keys,
            columns,
            tones: Vec::new(),
        }
    }
}

/// The name of a cell for people: its values on the axes that have several.
#[must_use]
pub fn cell_name(matrix: &Matrix, cell: &Cell) -> String {
    let axes = several(matrix);
    let labels = axes.iter().map(|axis| label(&axis.name, value(cell, axis)));
    labels.collect::<Vec<_>>().join(" ")
}

/// The axes with several values, which tell cells apart; all of a matrix without any.
fn several(matrix: &Matrix) -> Vec<&Axis> {
    let several = |axis: &&Axis| axis.values.len() > 1;
    let axes: Vec<&Axis> = matrix.axes.iter().filter(several).collect();
    match axes.is_empty() {
        true => matrix.axes.iter().collect(),
        false => axes,
    }
}

/// The value of a cell on an axis.
pub(super) fn value<'c>(cell: &'c Cell, axis: &Axis) -> &'c str {
    cell.axes.get(&axis.name).map_or("", String::as_str)
}

/// The combinations of the values of some axes; the last axis changes first.
fn values<'o>(axes: &[&'o Axis]) -> Vec<Vec<&'o str>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        times(&all, axis.values.len(), |before, at| {
            let mut values = before.clone();
            values.push(axis.values[at].as_str());
            values
        })
    })
}

/// Each of some with each of `many`.
fn times<T>(of: &[T], many: usize, join: impl Fn(&T, usize) -> T) -> Vec<T> {
    let each = |one| (0..many).map(|at| join(one, at)).collect::<Vec<_>>();
    of.iter().flat_map(each).collect()
}

/// A value that says itself what it is of: `tcp`, `mtu 1500`, `IPv6`.
fn label(axis: &str, value: &str) -> String {
    let shown = shown(axis, value);
    let is_number = shown.starts_with(|first: char| first.is_ascii_digit());
    match is_number || ["on", "off"].contains(&shown) {
        true => format!("{axis} {shown}"),
        false => shown.to_owned(),
    }
}

/// A value under the name of its axis.
fn shown<'v>(axis: &str, value: &'v str) -> &'v str {
    match (axis, value) {
        ("family", "4") => "IPv4",
        ("family", "6") => "IPv6",
        _ => value,
    }
}

/// More than anybody measures; a damaged document may name any number.
const MOST_CELLS: usize = 1 << 17;
