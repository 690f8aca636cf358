// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads files up to a limit: a run directory or a document may come from anywhere.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use linerate_linux::file::open_regular;

/// A file of a run directory: a regular one, not longer than [`MOST_BYTES`].
///
/// # Errors
/// It is something else or longer, or the system's error.
pub(crate) fn of_run(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    match file.metadata()?.len() > MOST_BYTES {
        true => Err(too_long(MOST_BYTES)),
        false => bytes(file, MOST_BYTES),
    }
}

/// The text of a file that the user named: also a pipe, not longer than [`MOST_BYTES`].
///
/// # Errors
/// It is longer, not UTF-8, or the system's error.
pub(crate) fn named(path: &Path) -> io::Result<String> {
    let bytes = bytes(File::open(path)?, MOST_BYTES)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// All of a source that is not longer than `most` bytes.
///
/// # Errors
/// It is longer, or the system's error.
pub(crate) fn bytes(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(too_long(most)),
        false => Ok(bytes),
    }
}

fn too_long(most: u64) -> io::Error {
    io::Error::other(format!("it is longer than {} MiB", most >> 20))
}

/// A test of a day has 100 MiB.
const MOST_BYTES: u64 = 512 << 20;
