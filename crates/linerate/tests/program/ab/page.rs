// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example of `docs/proving.md` is what the program says of a stored experiment (`tests/proving`, a real one).
//! `LINERATE_BLESS=1` writes the answer into the page anew, where only its looks changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::record::reported;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> PathBuf {
    here().join("../../docs/proving.md")
}

#[test]
fn the_page_shows_what_the_program_says() {
    let record = here().join("tests/proving");
    if std::env::var_os("LINERATE_BLESS").is_some() {
        bless(&record);
    }
    let page = one_line(&fs::read_to_string(page()).unwrap());
    let document = reported(&record);
    let decides = &document["comparison"][0];
    let mut said = vec![decides["sentence"].as_str().unwrap().to_owned()];
    for (what, list) in [("A", "aa_log_ratios"), ("B", "log_ratios")] {
        let ratios = decides[list].as_array().unwrap().iter();
        let ratios = ratios.map(|ratio| 100.0 * ratio.as_f64().unwrap().exp_m1());
        let line = |(at, percent): (usize, f64)| {
            let block = at + 1;
            format!("A against {what}, block {block}: {percent:+.2} %")
        };
        said.extend(ratios.enumerate().map(line));
    }
    said.push(format!("order by seed {}", decides["order_seed"]));
    for one in &document["comparison"].as_array().unwrap()[1..] {
        let metric = one["metric"].as_str().unwrap();
        said.push(format!("{metric} {}", one["name"].as_str().unwrap()));
    }
    for words in said {
        assert!(page.contains(&words), "docs/proving.md lacks {words:?}");
    }
}

/// The last text of the page: what follows the names of command and hosts, to the answer.
fn bless(record: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("report").arg(record).env("COLUMNS", "80");
    let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    let (_, shown) = report.split_once("\n\n").unwrap();
    let answer = shown.split("\nstored in").next().unwrap();
    let text = fs::read_to_string(page()).unwrap();
    let begin = text.rfind(FENCE).unwrap() + FENCE.len();
    let end = begin + text[begin..].find("```").unwrap();
    let blessed = format!("{}{}\n{}", &text[..begin], answer.trim_end(), &text[end..]);
    fs::write(page(), blessed).unwrap();
}

/// Lines are broken where they are full.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

const FENCE: &str = "```text\n";
