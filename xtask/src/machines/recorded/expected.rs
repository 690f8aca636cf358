// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is on record of each cell: `expected.toml`, one line per cell, as `--write` writes it. A change of a rule that changes a cell
//! changes a line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::cells::Cell;

/// Cells by NIC and name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expected(BTreeMap<String, BTreeMap<String, String>>);

impl Expected {
    /// Reads a file; nothing is expected if there is none.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = if path.is_file() {
            fs::read_to_string(path)
        } else {
            Ok(String::new())
        };
        let text = text.map_err(|why| format!("{}: {why}", path.display()))?;
        let all = toml::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Self(all))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let text = self.text();
        fs::write(path, text).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// Puts the cells of a NIC in place of what was expected of it.
    pub(super) fn replace(&mut self, nic: &str, cells: &[Cell]) {
        let cells = cells.iter().map(|cell| (cell.name.clone(), cell.text()));
        let _old = self.0.insert(nic.to_owned(), cells.collect());
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (nic, cells) in &self.0 {
            text += &format!("\n[{nic}]\n");
            for (name, cell) in cells {
                text += &format!("{name:?} = {}\n", toml::Value::from(cell.as_str()));
            }
        }
        text
    }

    /// What is different of a NIC.
    pub(super) fn differences(&self, nic: &str, cells: &[Cell]) -> Vec<Difference> {
        let none = BTreeMap::new();
        let expected = self.0.get(nic).unwrap_or(&none);
        let changed = cells.iter().filter_map(|cell| {
            let was = expected.get(&cell.name);
            (was != Some(&cell.text())).then(|| Difference::of(was, cell))
        });
        let is_gone = |name: &&String| !cells.iter().any(|cell| cell.name == **name);
        let gone = expected.keys().filter(is_gone).map(|name| Difference {
            name: name.clone(),
            is_worse: true,
            said: "is on record, but no archive has it".to_owned(),
        });
        changed.chain(gone).collect()
    }
}

/// A cell that is not as on record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) name: String,
    /// It was right, and is wrong.
    pub(super) is_worse: bool,
    pub(super) said: String,
}

impl Difference {
    fn of(was: Option<&String>, cell: &Cell) -> Self {
        let was_right = was.map(|was| is_right(was));
        let how = match (was_right, cell.is_right()) {
            (None, _) => "is not on record",
            (Some(true), false) => "was right and is wrong",
            (Some(false), true) => "was wrong and is right",
            _ => "is another",
        };
        let was = was.map_or("–", String::as_str);
        Self {
            name: cell.name.clone(),
            is_worse: was_right == Some(true) && !cell.is_right(),
            said: format!("{how}: {was} → {}", cell.text()),
        }
    }
}

/// Neither its first finding nor anything else of it is wrong.
fn is_right(text: &str) -> bool {
    !text.contains(['*', '('])
}

const HEAD: &str = "\
# What linerate concludes from the recorded runs: the rule of the first finding above `possible`, of a check the rules of all.
# In bold: it is wrong. In parentheses: what else is wrong. Written by `cargo xtask machines --recorded --write`.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, first: &str, is_named: bool, wrong: &[&str]) -> Cell {
        Cell {
            name: name.to_owned(),
            first: first.to_owned(),
            is_named,
            wrong: wrong.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    fn on_record() -> Expected {
        let mut expected = Expected::default();
        let cells = [
            cell("causes/htb", "P09", true, &[]),
            cell("causes/tbf", "nothing", false, &[]),
        ];
        expected.replace("e1000e", &cells);
        expected
    }

    #[test]
    fn what_is_written_is_read_again() {
        let expected = on_record();
        assert!(
            expected.text().contains(
                "\n[e1000e]\n\"causes/htb\" = \"P09\"\n\"causes/tbf\" = \"**nothing**\"\n"
            )
        );
        assert_eq!(toml::from_str(&expected.text()), Ok(expected.0));
    }

    #[test]
    fn a_cell_that_is_as_on_record_is_no_difference_even_if_it_is_wrong() {
        let cells = [
            cell("causes/htb", "P09", true, &[]),
            cell("causes/tbf", "nothing", false, &[]),
        ];
        assert_eq!(on_record().differences("e1000e", &cells), []);
    }

    #[test]
    fn worse_is_what_was_right_and_what_is_gone() {
        let of = |cells: &[Cell]| {
            let all = on_record().differences("e1000e", cells);
            all.into_iter()
                .map(|one| (one.name, one.is_worse))
                .collect::<Vec<_>>()
        };
        let (htb, tbf) = ("causes/htb".to_owned(), "causes/tbf".to_owned());
        let wrong = cell(&htb, "S14", false, &[]);
        let otherwise = cell(&htb, "P09", true, &["ledger"]);
        let another = cell(&htb, "P10", true, &[]);
        let better = cell(&tbf, "P09", true, &[]);
        let same = || cell(&tbf, "nothing", false, &[]);
        assert_eq!(of(&[wrong, same()]), [(htb.clone(), true)]);
        assert_eq!(of(&[otherwise, same()]), [(htb.clone(), true)]);
        assert_eq!(
            of(&[another, better]),
            [(htb.clone(), false), (tbf.clone(), false)]
        );
        assert_eq!(of(&[same()]), [(htb, true)]);
    }
}
