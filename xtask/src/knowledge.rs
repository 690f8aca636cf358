// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask check-knowledge`: reads the tables of the tree, not those built in, and tells
//! every mistake in the words of the engineer who wrote them.

use std::fs;
use std::path::Path;

use linerate_diagnose::knowledge::{EMBEDDED, Mistake, check_together, parse, parse_reasons};

use crate::Outcome;

/// Checks every table of `knowledge/drivers/`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if !words.is_empty() {
        return Err("check-knowledge takes no arguments".into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tables = tables(&root)?;
    let mut found = mistakes(&tables);
    let (reasons, wrong) = reasons(&root)?;
    found.extend(wrong);
    for mistake in &found {
        println!("{mistake}");
    }
    println!(
        "{} driver tables, {reasons} drop reasons, {} mistakes",
        tables.len(),
        found.len()
    );
    Ok(found.is_empty() && !tables.is_empty())
}

/// How many drop reasons the tree's table tells, and its mistakes.
fn reasons(root: &Path) -> Result<(usize, Vec<Mistake>), Box<dyn std::error::Error>> {
    let text = fs::read_to_string(root.join(REASONS)).map_err(|why| format!("{REASONS}: {why}"))?;
    Ok(match parse_reasons(REASONS, &text) {
        Ok(reasons) => (reasons.len(), Vec::new()),
        Err(mistakes) => (0, mistakes),
    })
}

/// Path from the root of the tree and text of every table, in the order of their names.
fn tables(root: &Path) -> Result<Vec<(String, String)>, Box<dyn std::error::Error>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(root.join(DRIVERS))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).map_err(|why| format!("{DRIVERS}/{name}: {why}"))?;
        tables.push((format!("{DRIVERS}/{name}"), text));
    }
    tables.sort();
    Ok(tables)
}

fn mistakes(tables: &[(String, String)]) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut drivers = Vec::new();
    for (file, text) in tables {
        match parse(file, text) {
            Ok(driver) => drivers.push(driver),
            Err(mistakes) => found.extend(mistakes),
        }
        found.extend(not_built_in(file));
    }
    found.extend(check_together(&drivers));
    found
}

/// A table that the program does not carry helps nobody.
fn not_built_in(file: &str) -> Option<Mistake> {
    let name = file.rsplit('/').next()?;
    let built_in = EMBEDDED.iter().any(|(embedded, _)| *embedded == name);
    (!built_in).then(|| Mistake {
        file: file.to_owned(),
        line: None,
        wrong: "the program does not carry this table".to_owned(),
        allowed: format!(
            "a line \"{}\" in crates/diagnose/src/knowledge/embedded.rs",
            name.trim_end_matches(".toml")
        ),
    })
}

const DRIVERS: &str = "knowledge/drivers";
const REASONS: &str = "knowledge/reasons.toml";

#[cfg(test)]
mod tests {
    use super::{mistakes, reasons, tables};
    use std::path::Path;

    #[test]
    fn the_tree_has_no_mistakes_and_a_stray_table_is_told() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tables = tables(&root).unwrap();
        assert_eq!(mistakes(&tables), []);
        assert_eq!(reasons(&root).unwrap().1, []);
        tables.push((
            "knowledge/drivers/stray.toml".to_owned(),
            "driver = 3\n".to_owned(),
        ));
        let told: Vec<String> = mistakes(&tables).iter().map(ToString::to_string).collect();
        assert!(
            told[0].starts_with("knowledge/drivers/stray.toml:1: not the right kind"),
            "{told:?}"
        );
        assert!(told[1].contains("does not carry this table"), "{told:?}");
    }
}
