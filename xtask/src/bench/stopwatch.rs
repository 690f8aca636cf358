// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a command takes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Milliseconds until `PROGRAM WORDS` has ended; `None`: it failed.
pub(crate) fn ms(program: &Path, words: &[&str]) -> Option<f64> {
    taken_ms(Command::new(program).args(words))
}

/// Milliseconds until the command has ended; `None`: it failed.
pub(crate) fn taken_ms(command: &mut Command) -> Option<f64> {
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let done = command.status().ok()?.success();
    done.then(|| start.elapsed().as_secs_f64() * 1e3)
}
