// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/machines.md`: the table with its date and versions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::nic::Board;
use super::results::Results;
use super::table;
use crate::process;

/// Writes the page.
pub(crate) fn write(all: &[Results]) -> Result<(), String> {
    let before = fs::read_to_string(place()).unwrap_or_default();
    put(&text(all).replace("{middle}", middle(&before)))
}

/// Writes the section of machines in the middle; the rest of the page stays.
pub(crate) fn write_middle(section: &str) -> Result<(), String> {
    let page =
        fs::read_to_string(place()).map_err(|why| format!("{}: {why}", place().display()))?;
    let before = middle(&page);
    match before.is_empty() {
        true => Err(format!("{}: no section {MIDDLE:?}", place().display())),
        false => put(&page.replace(before, section.trim_end())),
    }
}

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/machines.md")
}

fn put(text: &str) -> Result<(), String> {
    fs::write(place(), text).map_err(|why| format!("{}: {why}", place().display()))
}

/// The section of machines in the middle, up to the next one.
fn middle(page: &str) -> &str {
    let Some((_, from)) = page.find(MIDDLE).map(|at| page.split_at(at)) else {
        return "";
    };
    let end = from.find("\n## ").unwrap_or(from.len());
    from[..end].trim_end()
}

const MIDDLE: &str = "## A machine in the middle";

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
    fn a_section_ends_where_the_next_begins() {
        let page = "# A\n\n## A machine in the middle\n\ntext\n\n## Run it\n";
        assert_eq!(middle(page), "## A machine in the middle\n\ntext");
        assert_eq!(middle("# A\n"), "");
    }
}
