// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes a report to a file, atomically, or to standard output.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use linerate_linux::random;
use linerate_model::failure::Failure;
use linerate_model::printable::Printable;

use crate::output;

/// A rendered report.
pub(in crate::cli) enum Rendered {
    /// People can read it, on a terminal, too.
    Text(Printable),
    /// Only programs can read it.
    Binary(Vec<u8>),
}

/// Writes a report to a file; without a name, or with `-`, to standard output.
///
/// # Errors
/// Those of writing, an existing file then stays as it was; or a terminal was to take a binary file.
pub(in crate::cli) fn write(name: Option<&Path>, report: &Rendered) -> Result<(), Failure> {
    match name.filter(|name| *name != Path::new("-")) {
        None => to_stdout(report),
        Some(name) => replace(name, report.bytes()).map_err(|error| {
            Failure::measuring(format!("write {}", name.display()), error)
                .hint("a directory that exists and has room")
        }),
    }
}

fn to_stdout(report: &Rendered) -> Result<(), Failure> {
    let written = match report {
        Rendered::Text(text) => output::print(text),
        Rendered::Binary(bytes) => output::pipe(bytes),
    };
    let what = "write the report to stdout";
    written.map_err(|error| match error.kind() {
        ErrorKind::Unsupported => {
            Failure::usage(what, "a terminal cannot show this format").hint("--output FILE")
        }
        _ => Failure::measuring(what, error),
    })
}

impl Rendered {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
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
    // In a directory that is writable for others, another user may have created a link: only a new file is written.
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
