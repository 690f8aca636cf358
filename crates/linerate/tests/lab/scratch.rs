// SPDX-License-Identifier: MIT OR Apache-2.0
//! A directory of one test. Its name is random: each test is process 1 of its own PID namespace, so a process number would be
//! the same in every run of these tests on this machine.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use linerate_linux::random;

/// Only this user may write to it. It ends with the test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let mut bytes = [0; 8];
        random::fill(&mut bytes)?;
        let name = format!("linerate-{name}-{:x}", u64::from_ne_bytes(bytes));
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}
