// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was read of runs before, a line each. A line counts only while the run's file is as it was.
//! Whatever is wrong with the memory, the runs are read instead.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use linerate_model::output::StoredRun;
use serde::{Deserialize, Serialize};

use crate::store::RUN;

/// By which a file that changed is told from one that did not.
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
    /// The directory of all runs.
    directory: String,
    stamp: Stamp,
    run: StoredRun,
}

/// All that is remembered of one directory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    file: Option<PathBuf>,
    directory: String,
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
        let told = fs::metadata(run.join(RUN)).map_err(|error| format!("no {RUN}: {error}"))?;
        Ok(Self {
            bytes: told.len(),
            modified_s: told.mtime(),
            modified_ns: told.mtime_nsec(),
            inode: told.ino(),
        })
    }
}

impl Memory {
    /// What `file` says of `directory`.
    pub(super) fn read(file: Option<&Path>, directory: &Path) -> Self {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let mut memory = Self {
            file: file.map(Path::to_owned),
            directory: directory.display().to_string(),
            ..Self::default()
        };
        let text = file.and_then(|file| fs::read(file).ok()).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        for line in lines.filter_map(|line| serde_json::from_slice::<Remembered>(line).ok()) {
            if line.directory == memory.directory {
                let name = line.run.name.clone();
                memory.known.insert(name, (line.stamp, line.run));
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
            directory: self.directory.clone(),
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
        let Some(file) = self.file.as_deref().filter(|_| !self.fresh.is_empty()) else {
            return;
        };
        let _ = file.parent().map(fs::create_dir_all);
        let opened = File::options().append(true).create(true).open(file);
        let _ = opened.and_then(|mut file| file.write_all(self.fresh.as_bytes()));
    }
}
