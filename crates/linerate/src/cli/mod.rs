// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line: flags in, exit code out.

use crate::exit::Exit;

/// Runs the command that the process was started with.
pub fn main() -> Exit {
    Exit::Usage
}
