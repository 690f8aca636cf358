// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long `linerate explain` takes over 8 MB of pasted text, of memory and of the time that `sort` takes over it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::series::{Series, short};

/// Measures and prints it.
pub(crate) fn run(ours: &Path) -> Value {
    println!("\nexplain: {BYTES} bytes of pasted text, ms");
    let text = std::env::temp_dir().join(format!("linerate-bench-explain-{}", std::process::id()));
    let median = |program: &Path, words: &[&str]| {
        let runs = (0..REPEATS).map(|_| ms(program, words, &text)).collect();
        Series(runs).spread().map(|spread| spread.median)
    };
    let stored = store(&text).ok();
    let own = stored.and_then(|()| median(ours, &["explain", "-"]));
    let sort = stored.and_then(|()| median(Path::new("sort"), &[]));
    // What is left in a temporary directory harms nobody.
    let _ = fs::remove_file(&text);
    let reported = |ms: Option<f64>| ms.map_or("-".to_owned(), short);
    println!("  explain {}  sort {}", reported(own), reported(sort));
    json!({"row": "explain", "bytes": BYTES, "explain_ms": own, "sort_ms": sort})
}

/// The cases to learn from, again and again.
fn store(path: &Path) -> io::Result<()> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/learn");
    let entries = fs::read_dir(cases)?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.sort();
    let texts: Vec<String> = files
        .iter()
        .map(fs::read_to_string)
        .collect::<io::Result<_>>()?;
    let bodies = texts.iter().filter_map(|whole| whole.split_once("+++\n"));
    let mut text = String::new();
    for (_, body) in bodies.cycle() {
        if text.len() >= BYTES {
            break;
        }
        text.push_str(body);
    }
    fs::write(path, text)
}

/// `None`: it could not be run. Of `explain` an exit code only says that faults were named.
fn ms(program: &Path, words: &[&str], text: &Path) -> Option<f64> {
    let start = Instant::now();
    let mut command = Command::new(program);
    command.args(words).stdin(File::open(text).ok()?);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok()?.code()?;
    Some(start.elapsed().as_secs_f64() * 1e3)
}

const BYTES: usize = 8_000_000;
const REPEATS: u32 = 5;
