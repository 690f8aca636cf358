// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long `linerate report` takes over a stored matrix of ten thousand cells, by format, and `compare` over two.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::series::{Series, short};
use super::stopwatch::ms;

/// Measures and prints it.
pub(crate) fn run(ours: &Path) -> Value {
    println!(
        "\nmatrix: {CELLS} cells of {} figures and {RUNS} runs, ms",
        FIGURES.len()
    );
    let file = std::env::temp_dir().join(format!("linerate-bench-matrix-{}", std::process::id()));
    let name = file.display().to_string();
    let stored = fs::write(&file, document().to_string()).is_ok();
    let median = |words: &[&str]| {
        let runs = (0..REPEATS).map(|_| ms(ours, words)).collect();
        Series(runs).spread().map(|spread| spread.median)
    };
    let mut row = json!({"row": "matrix", "cells": CELLS});
    let formats = FORMATS
        .iter()
        .map(|format| (*format, vec!["report", &name, "-f", format]));
    let compared = [("compare", vec!["compare", &name, &name])];
    for (what, words) in formats.chain(compared).filter(|_| stored) {
        let taken = median(&words);
        println!("  {what} {}", taken.map_or("-".to_owned(), short));
        row[what] = json!(taken);
    }
    // What is left in a temporary directory harms nobody.
    let _ = fs::remove_file::<PathBuf>(file);
    row
}

/// As `matrix --json` prints it.
fn document() -> Value {
    let axis = |name: &str| {
        let values: Vec<String> = (1..=10).map(|value: u32| value.to_string()).collect();
        json!({"name": name, "values": values})
    };
    let names = ["protocol", "size", "mtu", "streams"];
    let cell = |at: usize| {
        let values = names.iter().zip([1000, 100, 10, 1]);
        let axes: serde_json::Map<String, Value> = values
            .map(|(name, step)| ((*name).to_owned(), json!((at / step % 10 + 1).to_string())))
            .collect();
        let figure = |name: &&str| {
            let value = |run: usize| 1e8 * (1 + at) as f64 + (at * 7 + run * 31) as f64 % 1e5;
            let values: Vec<f64> = (0..RUNS).map(value).collect();
            json!({
                "name": name, "unit": "bit/s", "higher_is_better": true, "n": RUNS, "median": values[0],
                "ci95": [values[0], values[0]], "values": values, "outliers": [],
            })
        };
        let figures: Vec<Value> = FIGURES.iter().map(figure).collect();
        json!({"id": at + 1, "axes": axes, "figures": figures, "state": "done"})
    };
    let cells: Vec<Value> = (0..CELLS).map(cell).collect();
    json!({
        "schema": "linerate.output/1", "kind": "matrix", "cells": cells,
        "matrix": {"axes": names.map(axis), "rows": ["protocol", "size"], "rounds": RUNS, "rounds_done": RUNS},
    })
}

const CELLS: usize = 10_000;
const RUNS: usize = 6;
const REPEATS: u32 = 3;
const FIGURES: [&str; 5] = [
    "delivered_bits_per_second",
    "packets_per_second",
    "retransmits",
    "cpu_local",
    "cpu_remote",
];
const FORMATS: [&str; 8] = [
    "term",
    "md",
    "html",
    "csv",
    "xlsx",
    "json",
    "junit",
    "openmetrics",
];
