// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example of `docs/matrix.md`: its commands run in the lab, and print the grids that the document shows. Numbers are
//! free, and so is which runs are far from the others.

use std::fs;
use std::process::Command;

use super::{Step, empty_home, page, path, steps};

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
fn missing(shows: &str, said: &str) -> Option<String> {
    let mut said = said.lines().map(shape);
    let shown = shows
        .lines()
        .filter(|line| line.trim() != "…" && !line.is_empty());
    let mut missing = shown.filter(|line| {
        let line = shape(line);
        !said.any(|said| said == line)
    });
    missing.next().map(str::to_owned)
}

#[test]
fn the_matrix_of_the_document_is_as_written() {
    let home = empty_home("matrix-example");
    let steps = steps(&page("matrix"));
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
            .env("PATH", path())
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
