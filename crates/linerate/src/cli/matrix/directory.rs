// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directory of a matrix: its plan in `matrix.toml`, with the seed, so that it can be resumed.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use linerate_model::failure::Failure;

use super::file;
use super::request::Request;

/// The plan of a matrix that is under way: no other process works in its directory as long as this exists.
#[derive(Debug)]
pub(super) struct Claim {
    _locked: File,
}

/// The plan of the matrix in a directory, if there is one.
///
/// # Errors
/// It cannot be read.
pub(super) fn stored(directory: &Path) -> Result<Option<Request>, Failure> {
    let path = plan(directory);
    match path.exists() {
        true => file::read(&path).map(Some),
        false => Ok(None),
    }
}

/// The plan of the matrix that is to be resumed.
///
/// # Errors
/// There is none.
pub(super) fn resumed(directory: &Path) -> Result<Request, Failure> {
    stored(directory)?.ok_or_else(|| {
        let why = format!("there is no {PLAN}");
        Failure::usage(format!("resume {}", directory.display()), why)
            .hint("the directory in the line `stored in` of a matrix, or of its -o")
    })
}

/// Refuses to mix two plans in one directory. One without a seed takes the other's.
///
/// # Errors
/// In what they differ first.
pub(super) fn same(
    request: &mut Request,
    stored: &Request,
    directory: &Path,
) -> Result<(), Failure> {
    request.seed = request.seed.or(stored.seed);
    let [new, old] = [&*request, stored].map(file::text);
    let Some((new, old)) = different(&new, &old) else {
        return Ok(());
    };
    let why = format!("it has another plan: `{old}` there, `{new}` now");
    let here = directory.display();
    Err(
        Failure::usage(format!("continue the matrix in {here}"), why).hint(format!(
            "linerate matrix --resume {here}, or another directory"
        )),
    )
}

fn different<'t>(new: &'t str, old: &'t str) -> Option<(&'t str, &'t str)> {
    if new == old {
        return None;
    }
    let (mut new, mut old) = (new.lines(), old.lines());
    loop {
        match (new.next(), old.next()) {
            (None, None) => return None,
            (new, old) if new == old => {}
            (new, old) => return Some((new.unwrap_or_default(), old.unwrap_or_default())),
        }
    }
}

/// Writes the plan, unless it is there, and claims the directory.
///
/// # Errors
/// Another process works in it, or it cannot be written.
pub(super) fn claim(directory: &Path, request: &Request) -> Result<Claim, Failure> {
    let path = plan(directory);
    let what = || format!("write {}", path.display());
    let failed = |error| Failure::measuring(what(), error);
    if !path.exists() {
        write(&path, &file::text(request)).map_err(failed)?;
    }
    let file = File::open(&path).map_err(failed)?;
    file.try_lock().map_err(|_| {
        let why = "another process works in this directory";
        Failure::measuring(
            format!("continue the matrix in {}", directory.display()),
            why,
        )
        .hint("wait until it has ended")
    })?;
    Ok(Claim { _locked: file })
}

/// Whole or not at all.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let next = path.with_extension("toml.next");
    let mut file = File::create(&next)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&next, path)
}

fn plan(directory: &Path) -> PathBuf {
    directory.join(PLAN)
}

const PLAN: &str = "matrix.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_of_two_plans_is_named() {
        assert_eq!(different("a\nb\n", "a\nb\n"), None);
        assert_eq!(different("a\nb\n", "a\nc\n"), Some(("b", "c")));
        assert_eq!(different("a\n", "a\nc\n"), Some(("", "c")));
    }
}
