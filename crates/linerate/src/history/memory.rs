// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cache of run summaries, one per line. A line is valid only while the run's file is unchanged;
//! without a valid line the run is read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use linerate_model::output::StoredRun;
use linerate_wire::json;
use serde::{Deserialize, Serialize};

use crate::input;
use crate::store::RUN;

/// Identifies one state of a file: a changed file has another stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    bytes: u64,
    modified_s: i64,
    modified_ns: i64,
    inode: u64,
}

/// One line.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    stamp: Stamp,
    run: StoredRun,
}

/// All that is remembered of one directory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    file: PathBuf,
    known: BTreeMap<String, (Stamp, StoredRun)>,
    /// Lines to be added.
    fresh: String,
}

impl Stamp {
    /// Of a run's file.
    ///
    /// # Errors
    /// There is none: no run, as a sentence.
    pub(super) fn of(run: &Path) -> Result<Self, String> {
        let metadata = fs::metadata(run.join(RUN)).map_err(|error| format!("no {RUN}: {error}"))?;
        Ok(Self {
            bytes: metadata.len(),
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
            inode: metadata.ino(),
        })
    }
}

impl Memory {
    /// Nothing yet, of the runs in `directory`.
    pub(super) fn empty(directory: &Path) -> Self {
        Self {
            file: directory.join(FILE),
            ..Self::default()
        }
    }

    /// What is remembered of the runs in `directory`.
    pub(super) fn read(directory: &Path) -> Self {
        let mut memory = Self::empty(directory);
        let text = input::of_run(&memory.file).unwrap_or_default();
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(Remembered { stamp, run }) = json::read(line) {
                memory.known.insert(run.name.clone(), (stamp, run));
            }
        }
        memory
    }

    /// The run, if its file is as it was.
    pub(super) fn recall(&mut self, name: &str, stamp: Stamp) -> Option<StoredRun> {
        let (known, run) = self.known.remove(name)?;
        (known == stamp).then_some(run)
    }

    /// Takes down a run.
    pub(super) fn learn(&mut self, stamp: Stamp, run: &StoredRun) {
        let line = Remembered {
            stamp,
            run: run.clone(),
        };
        if let Ok(line) = serde_json::to_string(&line) {
            self.fresh.push_str(&line);
            self.fresh.push('\n');
        }
    }

    /// Writes down what is new, in one piece. Where that cannot be, the next time takes longer.
    pub(super) fn keep(&self) {
        if self.fresh.is_empty() {
            return;
        }
        let opened = File::options().append(true).create(true).open(&self.file);
        let _ = opened.and_then(|mut file| file.write_all(self.fresh.as_bytes()));
    }
}

/// In the directory of the runs.
pub(super) const FILE: &str = ".history.jsonl";
