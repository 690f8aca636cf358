// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long `linerate nic-check --lab` takes.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::series::Series;
use super::stopwatch::taken_ms;

/// Measures and prints it.
pub(crate) fn run(ours: &Path, rounds: u32) -> Value {
    println!("\nnic-check: nic-check --lab, s");
    let taken = Series((0..rounds).map(|_| seconds(ours)).collect());
    let shown = taken.spread().map(|spread| spread.to_string());
    println!("  {}", shown.as_deref().unwrap_or("failed"));
    json!({"row": "nic-check", "seconds": taken.0})
}

fn seconds(ours: &Path) -> Option<f64> {
    let mut command = Command::new(ours);
    // No run is to be kept.
    command.env("XDG_STATE_HOME", "/dev/null");
    Some(taken_ms(command.args(["nic-check", "--lab"]))? / 1e3)
}
