// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long `linerate history` takes over ten thousand stored runs: the first time, and when they are remembered.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::series::{Series, short};
use super::stopwatch::ms;

/// Measures and prints it.
pub(crate) fn run(ours: &Path) -> Value {
    println!("\nhistory: {RUNS} stored runs listed, ms: read for the first time, and remembered");
    let directory =
        std::env::temp_dir().join(format!("linerate-bench-history-{}", std::process::id()));
    let name = directory.display().to_string();
    let list_ms = || ms(ours, &["history", &name]);
    let first = store(&directory).ok().and_then(|()| list_ms());
    let again = (0..REPEATS).map(|_| list_ms()).collect();
    let again = Series(again).spread().map(|spread| spread.median);
    // What is left in a temporary directory harms nobody.
    let _ = fs::remove_dir_all(&directory);
    let reported = |ms: Option<f64>| ms.map_or("-".to_owned(), short);
    println!(
        "  first {}  remembered {}",
        reported(first),
        reported(again)
    );
    json!({"row": "history", "runs": RUNS, "first_ms": first, "remembered_ms": again})
}

/// The same run, this many times.
fn store(directory: &Path) -> io::Result<()> {
    for number in 0..RUNS {
        let run = directory.join(format!("run-{number:05}"));
        fs::create_dir_all(&run)?;
        fs::write(run.join("run.json"), RECORD)?;
    }
    Ok(())
}

const RUNS: u32 = 10_000;
const REPEATS: u32 = 10;
/// A test of a second with its settings.
const RECORD: &str =
    include_str!("../../../crates/linerate/tests/records/linerate.run-1/udp/run.json");
