// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stored runs, each in a line. What was read of a run once is remembered in a file that may be
//! deleted at any time: ten thousand runs are listed without reading them all again.

mod memory;
mod summary;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use linerate_model::output::{History, StoredRun, Unreadable};

use memory::{Memory, Stamp};

/// Lists the runs in `directory`, the oldest first; nothing in it makes it fail.
///
/// # Errors
/// The directory itself cannot be read.
pub fn read(directory: &Path, memory: Option<&Path>) -> io::Result<History> {
    let mut known = Memory::read(memory, directory);
    let mut history = History {
        directory: directory.display().to_string(),
        ..History::default()
    };
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        match one(directory, &name, &mut known) {
            Ok(run) => history.runs.push(run),
            Err(why) => history.unreadable.push(Unreadable { name, why }),
        }
    }
    history.runs.sort_by(|a, b| (&a.started, &a.name).cmp(&(&b.started, &b.name)));
    history.unreadable.sort_by(|a, b| a.name.cmp(&b.name));
    known.keep();
    Ok(history)
}

/// Of a directory of runs: `${XDG_CACHE_HOME:-~/.cache}/linerate/history/…`; `None` where neither is told.
pub fn memory_file(directory: &Path, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".cache"));
    let caches = absolute("XDG_CACHE_HOME").or_else(home)?;
    let whole = fs::canonicalize(directory).ok()?;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = whole.to_string_lossy().chars().map(plain).collect();
    let last = &name[name.len().saturating_sub(NAME_BYTES_MAX)..];
    Some(caches.join(format!("linerate/history/{last}.jsonl")))
}

/// Directories whose names end alike share a file; each line says whose it is.
const NAME_BYTES_MAX: usize = 200;

fn one(directory: &Path, name: &str, known: &mut Memory) -> Result<StoredRun, String> {
    let path = directory.join(name);
    let stamp = Stamp::of(&path)?;
    if let Some(run) = known.recall(name, stamp) {
        return Ok(run);
    }
    let run = summary::read(&path, name)?;
    known.learn(stamp, &run);
    Ok(run)
}

#[cfg(test)]
mod tests;
