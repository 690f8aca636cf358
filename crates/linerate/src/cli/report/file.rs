// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file that is there whole or not at all, or standard output.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use linerate_model::failure::Failure;

/// Writes `bytes`; without a name, or with `-`, to standard output. A reader that went away is a quiet
/// success.
///
/// # Errors
/// Those of writing: a file that was there before is then as it was.
pub(super) fn write(name: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match name.filter(|name| *name != Path::new("-")) {
        None => print(bytes),
        Some(name) => replace(name, bytes).map_err(|error| {
            Failure::measuring(format!("write {}", name.display()), error)
                .hint("a directory that exists and has room")
        }),
    }
}

fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::measuring("write the report to stdout", error))
        }
        _ => Ok(()),
    }
}

/// What is no plain file (`/dev/stdout`, a pipe) cannot be replaced, only written.
fn replace(name: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(name).is_ok_and(|known| !known.is_file()) {
        return File::options().write(true).open(name)?.write_all(bytes);
    }
    let mut next = name.as_os_str().to_owned();
    next.push(format!(".{}.next", std::process::id()));
    let next = Path::new(&next);
    let written = File::create(next).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let done = written.and_then(|()| fs::rename(next, name));
    if done.is_err() {
        // The reason is told; that a half file could not be removed either adds nothing.
        let _ = fs::remove_file(next);
    }
    done
}
