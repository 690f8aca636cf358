// SPDX-License-Identifier: MIT OR Apache-2.0
//! The document as tables of numbers, for programs: the names are those of `--json`, in base units and
//! full precision, so that no format can say another number.
//!
//! Each list of objects is a sheet of its own (`tests`, `tests.intervals`, `ledger.stages` …); a row of
//! an inner list repeats what names the outer one (`test_id`). Objects within a row are columns with a
//! dot (`rtt_ns.p50`); what is unknown is empty.

mod node;
pub mod throughput;

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
    /// One cell a column.
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
    /// Words.
    Text(String),
}

/// A row before all columns are known.
type Named = Vec<(String, Cell)>;

/// Every table of these runs; with several, the first column says of which run a row is.
///
/// # Errors
/// Never for a document of this program: its keys are strings.
pub fn of(subjects: &[Subject]) -> serde_json::Result<Vec<Sheet>> {
    let mut tables = Tables::default();
    for subject in subjects {
        let whose = match subjects {
            [_] => Named::new(),
            _ => vec![("run".to_owned(), Cell::Text(subject.label.clone()))],
        };
        tables.document(&node(&subject.output)?, &whose);
        tables.list("settings", &node(&subject.settings)?, &whose);
    }
    Ok(tables.0.into_iter().map(Loose::sheet).collect())
}

/// What a run is about: the sheet that one asks for who names none.
#[must_use]
pub fn main_of(subjects: &[Subject]) -> &'static str {
    let forward = |subject: &Subject| !subject.output.results.is_empty();
    let compared = |subject: &Subject| !subject.output.comparison.is_empty();
    if subjects.iter().any(compared) {
        "comparison"
    } else if subjects.iter().any(forward) {
        "results"
    } else {
        "tests"
    }
}

fn node(value: &impl Serialize) -> serde_json::Result<Node> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

/// Sheets in the order in which they were met.
#[derive(Debug, Default)]
struct Tables(Vec<Loose>);

#[derive(Debug)]
struct Loose {
    name: String,
    rows: Vec<Named>,
}

impl Tables {
    /// What is one value a run is the sheet `run`.
    fn document(&mut self, document: &Node, whose: &Named) {
        let Node::Map(fields) = document else { return };
        let (lists, single): (Vec<_>, Vec<_>) = fields
            .iter()
            .partition(|(_, value)| matches!(value, Node::List(_)) && !value.is_words());
        let single = Node::Map(single.into_iter().cloned().collect());
        self.row("run", &single, whose);
        for (name, list) in lists {
            self.list(name, list, whose);
        }
    }

    fn list(&mut self, name: &str, list: &Node, whose: &Named) {
        let Node::List(entries) = list else { return };
        for entry in entries {
            self.row(name, entry, whose);
        }
    }

    fn row(&mut self, sheet: &str, entry: &Node, whose: &Named) {
        let mut row = whose.clone();
        let mut inner = Vec::new();
        flatten(entry, "", &mut row, &mut inner);
        let mut whose = whose.clone();
        whose.extend(key(sheet, entry));
        self.push(sheet, row);
        for (name, list) in inner {
            self.list(&format!("{sheet}.{name}"), list, &whose);
        }
    }

    fn push(&mut self, name: &str, row: Named) {
        match self.0.iter_mut().find(|sheet| sheet.name == name) {
            Some(sheet) => sheet.rows.push(row),
            None => self.0.push(Loose {
                name: name.to_owned(),
                rows: vec![row],
            }),
        }
    }
}

impl Loose {
    fn sheet(self) -> Sheet {
        let columns = self.columns();
        let cell = |row: &Named, column: &String| {
            let known = row.iter().find(|(name, _)| name == column);
            known.map_or(Cell::Empty, |(_, cell)| cell.clone())
        };
        let row = |row: &Named| columns.iter().map(|column| cell(row, column)).collect();
        Sheet {
            rows: self.rows.iter().map(row).collect(),
            name: self.name,
            columns,
        }
    }

    /// In the order of the document; an object that one row lacks does not become a column of its own.
    fn columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        for row in &self.rows {
            let mut at = 0;
            for (name, _) in row {
                match columns.iter().position(|known| known == name) {
                    Some(known) => at = known + 1,
                    None => {
                        columns.insert(at.min(columns.len()), name.clone());
                        at += 1;
                    }
                }
            }
        }
        let objects = |name: &String| {
            let dot = format!("{name}.");
            columns.iter().any(|other| other.starts_with(&dot))
        };
        let kept: Vec<String> = columns
            .iter()
            .filter(|name| !objects(name))
            .cloned()
            .collect();
        kept
    }
}

/// Values of an entry, with its lists of objects apart.
fn flatten<'n>(node: &'n Node, name: &str, row: &mut Named, inner: &mut Vec<(String, &'n Node)>) {
    match node {
        Node::Map(fields) => {
            for (field, value) in fields {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(value, &format!("{name}{dot}{field}"), row, inner);
            }
        }
        Node::List(_) if node.is_empty() => {}
        Node::List(_) if !node.is_words() => inner.push((name.to_owned(), node)),
        Node::List(_) => row.push((name.to_owned(), Cell::Text(node.words()))),
        Node::Value(cell) => row.push((name.to_owned(), cell.clone())),
    }
}

/// What names an entry for the rows of its inner lists: `tests[].id` is their `test_id`.
fn key(sheet: &str, entry: &Node) -> Named {
    let one = sheet.rsplit('.').next().unwrap_or(sheet);
    let one = one.strip_suffix('s').unwrap_or(one);
    let named = KEYS.iter().find_map(|key| {
        let value = entry.value(key)?.clone();
        let name = match *key {
            "id" => format!("{one}_id"),
            "role" => "host".to_owned(),
            key => key.to_owned(),
        };
        Some((name, value))
    });
    named.into_iter().collect()
}

const KEYS: &[&str] = &["id", "test_id", "rule", "role", "stage", "from", "name"];

#[cfg(test)]
mod tests;
