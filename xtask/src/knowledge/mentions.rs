// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mentions.toml`: causes and circumstances that have an entry, each circumstance once a cause.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use linerate_knowledge::Mistake;
use toml::{Table, Value};

use super::at;

/// Its mistakes. `causes` and `circumstances` are the names that have entries.
pub(super) fn mistakes(
    root: &Path,
    causes: &BTreeSet<&str>,
    circumstances: &BTreeSet<&str>,
) -> Result<Vec<Mistake>, Box<dyn std::error::Error>> {
    let table: Table = fs::read_to_string(root.join(MENTIONS))?.parse()?;
    let mut found = Vec::new();
    for (cause, lists) in &table {
        if !causes.contains(cause.as_str()) {
            let wrong = format!("the cause `{cause}` has no entry");
            found.push(at(MENTIONS, wrong));
        }
        found.extend(of_lists(cause, lists, circumstances));
    }
    Ok(found)
}

fn of_lists(cause: &str, lists: &Value, circumstances: &BTreeSet<&str>) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for (word, list) in lists.as_table().into_iter().flatten() {
        if !WORDS.contains(&word.as_str()) {
            let wrong = format!(
                "`{cause}` has a list `{word}`; there are {}",
                WORDS.join(", ")
            );
            found.push(at(MENTIONS, wrong));
        }
        let all = list.as_array().into_iter().flatten();
        for one in all.filter_map(Value::as_str) {
            if !circumstances.contains(one) {
                found.push(at(
                    MENTIONS,
                    format!("`{cause}` mentions `{one}`, which has no entry"),
                ));
            } else if !named.insert(one) {
                found.push(at(MENTIONS, format!("`{cause}` lists `{one}` twice")));
            }
        }
    }
    found
}

const MENTIONS: &str = "knowledge/mentions.toml";
const WORDS: [&str; 3] = ["mostly", "often", "sometimes"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_name_is_a_mistake() {
        let lists: Table = "mostly = [\"slow\"]\noften = [\"slow\", \"unheard-of\"]\never = []\n"
            .parse()
            .unwrap();
        let known = BTreeSet::from(["slow"]);
        let found = of_lists("cable-fault", &Value::Table(lists), &known);
        let all: Vec<&str> = found.iter().map(|one| one.wrong.as_str()).collect();
        assert_eq!(all.len(), 3, "{all:?}");
        for part in ["a list `ever`", "`slow` twice", "mentions `unheard-of`"] {
            assert!(all.iter().any(|wrong| wrong.contains(part)), "{all:?}");
        }
    }
}
