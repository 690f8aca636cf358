// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--logfile`: stdout and stderr go to a file. What the file does not take goes to the stderr of the program's start.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The log of this process.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// The stderr of the program's start.
    stderr: File,
    /// The reason was printed.
    reported: AtomicBool,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Appends stdout and stderr to this file from now on.
///
/// # Errors
/// Those of open(2), dup(2) and dup2(2).
pub(crate) fn open(path: &Path) -> io::Result<()> {
    let file = File::options().create(true).append(true).open(path)?;
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    linerate_linux::daemon::divert(&file)?;
    LOG.get_or_init(|| Log {
        path: path.to_owned(),
        stderr: stderr.into(),
        reported: AtomicBool::new(false),
    });
    Ok(())
}

/// Where results go: stdout, or the log.
pub(crate) fn place() -> String {
    LOG.get().map_or_else(
        || "stdout".to_owned(),
        |log| format!("the log {}", log.path.display()),
    )
}

/// Prints what the log refused, after the reason.
pub(super) fn refused(text: &[u8], error: &io::Error) {
    let Some(log) = LOG.get() else {
        return;
    };
    let mut stderr = &log.stderr;
    if !log.reported.swap(true, Ordering::Relaxed) {
        // stderr is closed: the error cannot be reported.
        let _ = writeln!(
            stderr,
            "warning: cannot write the log {}: {error}",
            log.path.display()
        );
    }
    let _ = stderr.write_all(text);
}
