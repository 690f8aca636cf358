// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists the stored runs, one per line. Summaries are cached in a file of the same directory, which may
//! be deleted at any time: ten thousand runs are listed without reading them all again.

mod memory;
mod summary;

use std::fs;
use std::io;
use std::path::Path;

use linerate_model::output::{History, StoredRun, Unreadable};
use linerate_model::run::Run;

use linerate_model::order;
use memory::{Memory, Stamp};

/// Lists the runs in `directory`, the oldest first; nothing in it makes it fail.
///
/// # Errors
/// The directory itself cannot be read.
pub(crate) fn read(directory: &Path) -> io::Result<History> {
    let mut known = Memory::read(directory);
    let mut history = History {
        directory: directory.display().to_string(),
        ..History::default()
    };
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name == memory::FILE {
            continue;
        }
        match one(directory, &name, &mut known) {
            Ok(run) => history.runs.push(run),
            Err(why) => history.unreadable.push(Unreadable { name, why }),
        }
    }
    order::by(&mut history.runs, |a, b| {
        (&a.started, &a.name).cmp(&(&b.started, &b.name))
    });
    order::by(&mut history.unreadable, |a, b| a.name.cmp(&b.name));
    known.keep();
    Ok(history)
}

/// Takes down a run that just ended, so that listing it later costs nothing.
pub(crate) fn remember(run: &Path) {
    let (Some(directory), Some(name)) = (run.parent(), run.file_name()) else {
        return;
    };
    let name = name.to_string_lossy();
    let mut known = Memory::empty(directory);
    let summary = Stamp::of(run).and_then(|stamp| Ok((stamp, summary::read(run, &name)?)));
    if let Ok((stamp, run)) = summary {
        known.learn(stamp, &run);
        known.keep();
    }
}

/// Reads the record of a run.
///
/// # Errors
/// Why there is none, or none of this version: a sentence.
pub(crate) fn record(run: &Path) -> Result<Run, String> {
    summary::record(run)
}

/// Reads a run as it is listed.
///
/// # Errors
/// As [`record`].
pub(crate) fn summary(run: &Path) -> Result<StoredRun, String> {
    let name = run.file_name().unwrap_or_default();
    summary::read(run, &name.to_string_lossy())
}

fn one(directory: &Path, name: &str, known: &mut Memory) -> Result<StoredRun, String> {
    let path = directory.join(name);
    let stamp = Stamp::of(&path)?;
    // One without a reason is under way, was killed, or was remembered by a version that did not keep reasons.
    let is_whole = |run: &StoredRun| !run.measured_nothing() || run.error.is_some();
    if let Some(run) = known.recall(name, stamp).filter(is_whole) {
        return Ok(run);
    }
    let run = summary::read(&path, name)?;
    if is_whole(&run) {
        known.learn(stamp, &run);
    }
    Ok(run)
}

#[cfg(test)]
mod tests;
