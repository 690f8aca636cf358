// SPDX-License-Identifier: MIT OR Apache-2.0
//! This program, to be started again as a process of its own.

use std::env;
use std::io;
use std::path::PathBuf;

/// The path of this program; of one that was replaced or removed since it started, the kernel's reference to it.
///
/// # Errors
/// `/proc` is not mounted.
pub(crate) fn program() -> io::Result<PathBuf> {
    let named = env::current_exe()?;
    Ok(match named.exists() {
        true => named,
        false => PathBuf::from("/proc/self/exe"),
    })
}
