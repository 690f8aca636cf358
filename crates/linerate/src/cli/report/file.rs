// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes a file atomically, or standard output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::output;
use linerate_linux::random;
use linerate_model::failure::Failure;

/// Writes `bytes` to a file; without a name, or with `-`, to standard output.
///
/// # Errors
/// Those of writing; an existing file then stays as it was.
pub(super) fn write(name: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match name.filter(|name| *name != Path::new("-")) {
        None => output::write(&[bytes])
            .map_err(|error| Failure::measuring("write the report to stdout", error)),
        Some(name) => replace(name, bytes).map_err(|error| {
            Failure::measuring(format!("write {}", name.display()), error)
                .hint("a directory that exists and has room")
        }),
    }
}

/// A special file (`/dev/stdout`, a pipe) cannot be replaced, only written.
fn replace(name: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(name).is_ok_and(|known| !known.is_file()) {
        return File::options().write(true).open(name)?.write_all(bytes);
    }
    let mut digits = [0; 8];
    random::fill(&mut digits)?;
    let mut next = name.as_os_str().to_owned();
    next.push(format!(".{:016x}.next", u64::from_ne_bytes(digits)));
    let next = Path::new(&next);
    // In a directory that others can write, too, somebody may have planted a link: only a new file is written.
    let written = File::create_new(next).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let done = written.and_then(|()| fs::rename(next, name));
    if done.is_err() {
        // The first error is reported; failing to remove the partial file adds nothing.
        let _ = fs::remove_file(next);
    }
    done
}
