// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of others that read what ours writes, where `.ci/run` could install them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program of `target/readers`; that it is not there is printed.
pub(crate) fn reader(name: &str, how: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../readers/bin");
    let found = Some(folder.join(name)).filter(|path| path.exists());
    if found.is_none() {
        println!("skipped: no {name} in target/readers ({how})");
    }
    found
}

/// Runs Python code with its arguments in a folder; nothing where a package is missing.
pub(crate) fn python(packages: &str, folder: &Path, code: &str, words: &[&str]) -> Option<Output> {
    let how =
        format!("python3 -m venv target/readers && target/readers/bin/pip install {packages}");
    let python = reader("python", &how)?;
    let mut command = Command::new(python);
    command.current_dir(folder).args(["-c", code]).args(words);
    Some(command.output().unwrap())
}
