// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proof that the packages work: the deb in a clean Debian root, the others by the programs that read them.

mod debian;
mod readers;
mod unit;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Release;
use crate::process::{self, Finished};
use crate::tally::Tally;

/// All of it, on the packages in `directory`; `older` is a deb to upgrade from.
pub(crate) fn run(
    directory: &Path,
    release: &Release,
    older: &Result<Vec<u8>, String>,
    tally: &mut Tally,
) {
    readers::run(directory, tally);
    unit::run(directory, tally);
    debian::run(directory, release, older, tally);
}

/// Runs a program that must end well; all that it printed.
fn output(program: &str, arguments: &[&str], limit: Duration) -> Result<String, String> {
    let ended = process::run(Command::new(program).args(arguments), limit)?;
    let Finished {
        status,
        stdout,
        stderr,
    } = ended;
    if status.success() {
        return Ok(stdout + &stderr);
    }
    let said = process::last_line(if stderr.trim().is_empty() {
        &stdout
    } else {
        &stderr
    });
    Err(format!(
        "{program} {}: {status}: {said}",
        arguments.join(" ")
    ))
}

/// An error with `why` where `right` does not hold.
fn ensure(right: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if right { Ok(()) } else { Err(why()) }
}

/// For a program that reads a package.
const SHORT: Duration = Duration::from_secs(60);
