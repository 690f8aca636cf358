// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shell sessions of documents, run as they are written: each command, and what the document shows of its output. They
//! take longest, so their name has them start early: the test harness runs tests in the order of their names.

use std::fs;
use std::path::{Path, PathBuf};

mod dataplanes;
mod matrix;
mod shown;
mod tuning;

/// A command, and what the document shows of its output.
struct Step {
    command: String,
    shows: String,
}

/// A document of `docs`.
fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(name).with_extension("md")).unwrap()
}

/// The steps of all `console` blocks of a text.
fn steps(text: &str) -> Vec<Step> {
    let blocks = text.split("```console\n").skip(1);
    let session: String = blocks.filter_map(|rest| rest.split("```").next()).collect();
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                shows: String::new(),
            }),
            (None, Some(step)) => step.shows += &format!("{line}\n"),
            (None, None) => panic!("the session begins with output: {line}"),
        }
    }
    steps
}

/// A directory with nothing in it.
fn empty_home(name: &str) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _none = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    home
}

/// `PATH` with the program of this build first.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", program.parent().unwrap().display())
}
