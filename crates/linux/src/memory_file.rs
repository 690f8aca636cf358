// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of anonymous memory, gone with its last descriptor.

use std::fs::File;
use std::io;

use rustix::fs::{MemfdFlags, memfd_create};

/// An empty one, closed in other programs.
///
/// # Errors
/// A kernel before 3.17 has none.
pub fn create() -> io::Result<File> {
    Ok(memfd_create("linerate", MemfdFlags::CLOEXEC)?.into())
}
