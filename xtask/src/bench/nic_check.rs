// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long `linerate nic-check --lab` takes.

use std::path::Path;

use serde_json::{Value, json};

use super::series::Series;
use super::stopwatch::ms;

/// Measures and prints it.
pub(crate) fn run(ours: &Path, rounds: u32) -> Value {
    println!("\nnic-check: nic-check --lab, s");
    let taken = (0..rounds).map(|_| Some(ms(ours, &["nic-check", "--lab", "--no-store"])? / 1e3));
    let taken = Series(taken.collect());
    let shown = taken.spread().map(|spread| spread.to_string());
    println!("  {}", shown.as_deref().unwrap_or("failed"));
    json!({"row": "nic-check", "seconds": taken.0})
}
