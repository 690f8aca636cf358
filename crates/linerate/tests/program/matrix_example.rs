// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example of `docs/matrix.md`: its commands run in the lab, and print the grids that the document shows. Numbers are
//! free, and so is which runs are far from the others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command, and what the document shows of its output.
struct Step {
    command: String,
    shows: Vec<String>,
}

/// The steps of all `console` blocks.
fn steps() -> Vec<Step> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/matrix.md");
    let page = fs::read_to_string(path).unwrap();
    let blocks = page.split("```console\n").skip(1);
    let session: String = blocks.filter_map(|rest| rest.split("```").next()).collect();
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                shows: Vec::new(),
            }),
            (None, Some(step)) => step.shows.push(line.to_owned()),
            (None, None) => panic!("the session begins with output: {line}"),
        }
    }
    steps
}

/// A line without its numbers: `tcp IPv4 # #`.
fn shape(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let is_number =
            word.contains(|letter: char| letter.is_ascii_digit()) && !NAMES.contains(&word);
        let word = if is_number { "#" } else { word };
        let unit = UNITS
            .iter()
            .find_map(|(unit, bare)| (word == *unit).then_some(*bare));
        if word != "#" || words.last() != Some(&"#") {
            words.push(unit.unwrap_or(word));
        }
    }
    words.join(" ")
}

const NAMES: [&str; 4] = ["IPv4", "IPv6", "(1)", "n/a"];
const UNITS: [(&str, &str); 6] = [
    ("kbit/s,", "bit/s,"),
    ("Mbit/s,", "bit/s,"),
    ("Gbit/s,", "bit/s,"),
    ("kpps,", "pps,"),
    ("Mpps,", "pps,"),
    ("Gpps,", "pps,"),
];

/// The first line of the document, except `…`, that is not in the output after those before it.
fn missing(shows: &[String], said: &str) -> Option<String> {
    let mut said = said.lines().map(shape);
    let shown = shows
        .iter()
        .filter(|line| line.trim() != "…" && !line.is_empty());
    let mut missing = shown.filter(|line| {
        let line = shape(line);
        !said.any(|said| said == line)
    });
    missing.next().cloned()
}

#[test]
fn the_matrix_of_the_document_is_as_written() {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("matrix-example");
    let _none = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let steps = steps();
    for needed in [
        "linerate matrix --lab ",
        "linerate report ",
        "linerate compare --axis ",
    ] {
        let has = |step: &Step| step.command.starts_with(needed);
        assert!(steps.iter().any(has), "no `{needed}` in the document");
    }
    for step in &steps {
        let ran = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(&home)
            .env("HOME", &home)
            .env("PATH", &path)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("XDG_STATE_HOME")
            .output()
            .unwrap();
        let [said, errors] =
            [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        if errors.contains("grants no network namespaces") {
            return println!("skipped: no lab on this machine");
        }
        assert_eq!(
            ran.status.code(),
            Some(0),
            "$ {}\n{said}{errors}",
            step.command
        );
        if let Some(line) = missing(&step.shows, &said) {
            panic!(
                "$ {}\n{said}{errors}\nnot printed, or not in this order: {line}",
                step.command
            );
        }
    }
    for file in ["grid.md", "grid.html", "grid.xlsx", "grid.csv"] {
        let made = fs::metadata(home.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(made.len() > 500, "{file}");
    }
}
