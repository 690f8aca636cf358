// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terminal that text is written to, and the keys that are pressed there.

mod keys;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

pub use keys::{Foreground, Keys};

/// Columns of the terminal on stdout, else on stderr; `None` where neither is one.
#[must_use]
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(io::stderr()));
    let columns = usize::from(size.ok()?.ws_col);
    (columns > 0).then_some(columns)
}

/// The terminal on stderr, opened once more: writes to it do not wait while it is paused (Ctrl-S), and stderr itself
/// stays as it is.
///
/// # Errors
/// Those of open(2): another user's terminal, no `/proc`.
pub fn stderr_without_waiting() -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open("/proc/self/fd/2")
}
