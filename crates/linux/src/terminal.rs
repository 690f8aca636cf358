// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terminal that text is written to, and the keys that are pressed there.

mod keys;

use std::io;

pub use keys::{Foreground, Keys};

/// Columns of the terminal on stdout, else on stderr; `None` where neither is one.
#[must_use]
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(io::stderr()));
    let columns = usize::from(size.ok()?.ws_col);
    (columns > 0).then_some(columns)
}
