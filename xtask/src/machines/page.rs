// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/machines.md`: the table with its date and versions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::causes;
use super::nic::Board;
use super::results::Results;
use super::table;
use crate::process;

/// Writes the page; what it has of small machines stays.
pub(crate) fn write(all: &[Results]) -> Result<(), String> {
    let old = read().unwrap_or_default();
    let small = section(&old).map_or("", |(_, small, _)| small);
    let text = text(all).replace("{small}", small);
    replace(&text.replace("{middle}", middle(&old)))
}

/// Writes the page's table of small machines.
pub(crate) fn write_small(table: &str) -> Result<(), String> {
    let old = read()?;
    let (before, _, after) = section(&old).ok_or("the page has no place for small machines")?;
    replace(&format!("{before}{table}{after}"))
}

/// Writes the section of machines in the middle; the rest of the page stays.
pub(crate) fn write_middle(section: &str) -> Result<(), String> {
    let old = read()?;
    let before = middle(&old);
    match before.is_empty() {
        true => Err(format!("{PAGE}: no section {MIDDLE:?}")),
        false => replace(&old.replace(before, section.trim_end())),
    }
}

/// Writes the tables of `nic-check` on real drivers.
pub(super) fn write_offloads(tables: &str) -> Result<(), String> {
    let old = of_offloads()?;
    let (before, _, after) = between(&old, OFFLOADS_BEGIN).ok_or(NO_PLACE)?;
    let text = format!("{before}{tables}{after}");
    fs::write(path().with_file_name(OFFLOADS), text).map_err(|why| format!("{OFFLOADS}: {why}"))
}

/// Those that the page has.
#[cfg(test)]
pub(super) fn offloads() -> Result<String, String> {
    let page = of_offloads()?;
    let (_, tables, _) = between(&page, OFFLOADS_BEGIN).ok_or(NO_PLACE)?;
    Ok(tables.to_owned())
}

fn of_offloads() -> Result<String, String> {
    let path = path().with_file_name(OFFLOADS);
    fs::read_to_string(path).map_err(|why| format!("{OFFLOADS}: {why}"))
}

/// The section of machines in the middle, up to the next one.
fn middle(page: &str) -> &str {
    let Some((_, from)) = page.find(MIDDLE).map(|at| page.split_at(at)) else {
        return "";
    };
    let end = from.find("\n## ").unwrap_or(from.len());
    from[..end].trim_end()
}

/// What comes before the table of small machines, that table, and the rest.
fn section(page: &str) -> Option<(&str, &str, &str)> {
    between(page, BEGIN)
}

/// What comes before, from this line on to [`END`], and after.
fn between<'p>(page: &'p str, line: &str) -> Option<(&'p str, &'p str, &'p str)> {
    let begin = page.find(line)? + line.len();
    let end = begin + page.get(begin..)?.find(END)?;
    Some((page.get(..begin)?, page.get(begin..end)?, page.get(end..)?))
}

const BEGIN: &str = "<!-- written by `cargo xtask machines --small --write` -->\n\n";
const END: &str = "\n<!-- to here -->\n";
const OFFLOADS: &str = "nic-check.md";
const OFFLOADS_BEGIN: &str = "<!-- written by `cargo xtask machines --recorded --write` -->\n\n";
const NO_PLACE: &str = "nic-check.md: no place for real drivers";
const MIDDLE: &str = "## A machine in the middle";

fn read() -> Result<String, String> {
    fs::read_to_string(path()).map_err(|why| format!("{PAGE}: {why}"))
}

fn replace(text: &str) -> Result<(), String> {
    fs::write(path(), text).map_err(|why| format!("{PAGE}: {why}"))
}

/// Where it is.
pub(crate) fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE)
}

const PAGE: &str = "docs/machines.md";

fn text(all: &[Results]) -> String {
    let documents: Vec<Value> = all
        .iter()
        .filter_map(|results| results.document("check-from-guest").ok())
        .collect();
    let first = |at: &str| {
        let mut texts = documents.iter().filter_map(|one| one.pointer(at)?.as_str());
        texts.next().unwrap_or_default().to_owned()
    };
    let kernels: BTreeSet<&str> = documents
        .iter()
        .filter_map(|one| one.pointer("/hosts/0/kernel")?.as_str())
        .collect();
    let kernels: Vec<&str> = kernels.into_iter().collect();
    let date = first("/started");
    include_str!("page.md")
        .replace("{date}", date.split('T').next().unwrap_or_default())
        .replace("{version}", &first("/tool/version"))
        .replace("{emulator}", &emulator())
        .replace("{kernels}", &kernels.join(" and "))
        .replace("{table}", &table::markdown(all))
        .replace("{causes}", causes::section().trim_end())
}

/// `QEMU 7.2.22`.
pub(crate) fn emulator() -> String {
    let mut command = Command::new(Board::Pc.emulator());
    let ended = process::run(command.arg("--version"), Duration::from_secs(10));
    let text = ended.map(|ended| ended.stdout).unwrap_or_default();
    let mut words = text
        .split_whitespace()
        .skip_while(|word| *word != "version");
    format!("QEMU {}", words.nth(1).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_a_place_for_small_machines() {
        let (before, small, after) = section(include_str!("page.md")).unwrap();
        assert_eq!(small, "{small}");
        assert!(before.contains("{table}") && after.contains("## Run it"));
    }

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let page = "# A\n\n## A machine in the middle\n\ntext\n\n## Run it\n";
        assert_eq!(middle(page), "## A machine in the middle\n\ntext");
        assert_eq!(middle("# A\n"), "");
    }
}
