// SPDX-License-Identifier: MIT OR Apache-2.0
//! The document as tables, for programs: the names of `--json`, base units, full precision.
//!
//! Each list of objects is a sheet (`tests`, `tests.intervals`, `ledger.stages` …); a row of an inner list repeats the
//! key of the outer one (`test_id`). Objects in a row are columns with a dot (`rtt_ns.p50`); unknown cells are empty.
//! The cells of a matrix are the sheet `matrix`, with a column for each axis.

pub mod matrix;
mod node;
pub mod throughput;

use std::rc::Rc;

use linerate_model::order::Gather as _;
use linerate_model::output::Output;
use serde::Serialize;

use crate::subject::Subject;
use node::Node;

/// One table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    /// The list's name in the document.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// One value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Cell {
    /// A whole number.
    Count(u64),
    /// Not known.
    #[default]
    Empty,
    /// Yes or no.
    Flag(bool),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
}

/// A row before all columns are known. Rows of a sheet share the names.
type NamedCells = Vec<(Rc<str>, Cell)>;

/// Every table of these runs; of several runs, the first column names the run.
///
/// # Errors
/// Never for a document of this program: its keys are strings.
pub fn of(subjects: &[Subject]) -> serde_json::Result<Vec<Sheet>> {
    let mut tables = Tables::default();
    for subject in subjects {
        let prefix = match subjects {
            [_] => NamedCells::new(),
            _ => vec![("run".into(), Cell::Text(subject.label.clone()))],
        };
        tables.matrix(&subject.output, &prefix);
        tables.document(&without_cells(&subject.output)?, &prefix);
        tables.list("settings", &node(&subject.settings)?, &prefix);
    }
    Ok(tables.0.into_iter().map(OpenSheet::sheet).collect())
}

/// The default sheet of a run.
#[must_use]
pub fn main_of(subjects: &[Subject]) -> &'static str {
    let forward = |subject: &Subject| !subject.output.results.is_empty();
    let compared = |subject: &Subject| !subject.output.comparison.is_empty();
    let checked = |subject: &Subject| !subject.output.checks.is_empty();
    let cost = |subject: &Subject| !subject.output.costs.is_empty();
    if subjects.iter().any(cost) {
        "costs"
    } else if subjects.iter().any(compared) {
        "comparison"
    } else if subjects
        .iter()
        .any(|subject| !subject.output.cells.is_empty())
    {
        matrix::MATRIX
    } else if subjects.iter().any(checked) {
        "checks"
    } else if subjects.iter().any(forward) {
        "results"
    } else {
        "tests"
    }
}

/// The document without the cells of its matrix, which have their own sheet.
fn without_cells(output: &Output) -> serde_json::Result<Node> {
    if output.matrix.is_none() {
        return node(output);
    }
    node(&Output {
        cells: Vec::new(),
        ..output.clone()
    })
}

fn node(value: &impl Serialize) -> serde_json::Result<Node> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

/// Sheets in order of appearance.
#[derive(Debug, Default)]
struct Tables(Vec<OpenSheet>);

#[derive(Debug)]
struct OpenSheet {
    name: String,
    rows: Vec<NamedCells>,
}

impl Tables {
    /// One row a cell and figure.
    fn matrix(&mut self, output: &Output, prefix: &NamedCells) {
        let Some(asked) = &output.matrix else { return };
        let mut rows = matrix::Rows::of(asked, prefix);
        for row in output.cells.iter().flat_map(|cell| rows.cell(cell)) {
            self.push(matrix::MATRIX, row);
        }
    }

    /// Single values become the sheet `run`.
    fn document(&mut self, document: &Node, prefix: &NamedCells) {
        let Node::Map(fields) = document else { return };
        let (lists, single): (Vec<_>, Vec<_>) = fields
            .iter()
            .partition(|(_, value)| matches!(value, Node::List(_)) && !value.is_words());
        let single = Node::Map(single.into_iter().cloned().collect());
        self.row("run", &single, prefix);
        for (name, list) in lists {
            self.list(name, list, prefix);
        }
    }

    fn list(&mut self, name: &str, list: &Node, prefix: &NamedCells) {
        let Node::List(entries) = list else { return };
        for entry in entries {
            self.row(name, entry, prefix);
        }
    }

    fn row(&mut self, sheet: &str, entry: &Node, prefix: &NamedCells) {
        let mut row = prefix.clone();
        let mut inner = Vec::new();
        flatten(entry, "", &mut row, &mut inner);
        let mut prefix = prefix.clone();
        prefix.extend(key(sheet, entry));
        self.push(sheet, row);
        for (name, list) in inner {
            self.list(&format!("{sheet}.{name}"), list, &prefix);
        }
    }

    fn push(&mut self, name: &str, row: NamedCells) {
        match self.0.iter_mut().find(|sheet| sheet.name == name) {
            Some(sheet) => sheet.rows.push(row),
            None => self.0.push(OpenSheet {
                name: name.to_owned(),
                rows: vec![row],
            }),
        }
    }
}

impl OpenSheet {
    fn sheet(self) -> Sheet {
        let columns = self.columns();
        let rows = self.rows.into_iter().map(|row| in_columns(row, &columns));
        Sheet {
            rows: rows.collect(),
            name: self.name,
            columns: columns.iter().map(|name| (**name).to_owned()).collect(),
        }
    }

    /// The columns in the order of the document, without objects, which are null in some rows only.
    fn columns(&self) -> Vec<Rc<str>> {
        let mut columns: Vec<Rc<str>> = Vec::new();
        for row in &self.rows {
            let mut at = 0;
            for (name, _) in row {
                let known = || columns.iter().position(|known| known == name);
                let next = columns.get(at).filter(|next| is_same(next, name));
                match next.map(|_| at).or_else(known) {
                    Some(known) => at = known + 1,
                    None => {
                        columns.insert(at.min(columns.len()), name.clone());
                        at += 1;
                    }
                }
            }
        }
        let objects = |name: &Rc<str>| {
            let dot = format!("{name}.");
            columns.iter().any(|other| other.starts_with(&dot))
        };
        columns
            .iter()
            .filter(|name| !objects(name))
            .cloned()
            .collect()
    }
}

/// Whether two names are equal: mostly they are one text, and need not be read.
fn is_same(one: &Rc<str>, other: &Rc<str>) -> bool {
    Rc::ptr_eq(one, other) || one == other
}

/// The cells of a row, which mostly has them in the order of the columns.
fn in_columns(mut row: NamedCells, columns: &[Rc<str>]) -> Vec<Cell> {
    let mut next = 0;
    let mut cell = |column: &Rc<str>| {
        let is_it = |(name, _): &(Rc<str>, Cell)| is_same(name, column);
        let at = match row.get(next) {
            Some(one) if is_it(one) => next,
            _ => row.iter().position(is_it)?,
        };
        next = at + 1;
        row.get_mut(at).map(|(_, cell)| std::mem::take(cell))
    };
    let cells = columns
        .iter()
        .map(|column| cell(column).unwrap_or_default());
    cells.collect()
}

/// Collects the values of an entry, and its lists of objects separately.
fn flatten<'n>(
    node: &'n Node,
    name: &str,
    row: &mut NamedCells,
    inner: &mut Vec<(String, &'n Node)>,
) {
    match node {
        Node::Map(fields) => {
            for (field, value) in fields {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(value, &format!("{name}{dot}{field}"), row, inner);
            }
        }
        Node::List(_) if node.is_empty() => {}
        Node::List(_) if !node.is_words() => inner.push((name.to_owned(), node)),
        Node::List(_) => row.push((name.into(), Cell::Text(node.words()))),
        Node::Value(cell) => row.push((name.into(), cell.clone())),
    }
}

/// The key of an entry for the rows of its inner lists: `tests[].id` is their `test_id`.
fn key(sheet: &str, entry: &Node) -> NamedCells {
    let one = sheet.rsplit('.').next().unwrap_or(sheet);
    let one = one.strip_suffix('s').unwrap_or(one);
    let named = KEYS.iter().find_map(|key| {
        let value = entry.value(key)?.clone();
        let name = match *key {
            "id" => format!("{one}_id"),
            "role" => "host".to_owned(),
            key => key.to_owned(),
        };
        Some((name.into(), value))
    });
    named.into_iter().gather()
}

const KEYS: &[&str] = &["id", "test_id", "rule", "role", "stage", "from", "name"];

#[cfg(test)]
mod tests;
