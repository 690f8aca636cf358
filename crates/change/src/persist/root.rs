// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths of the system below a directory: a link there leads where it would lead if the directory were `/`, never out of it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path on this host of what has `path` in the system below `root`. What does not exist is no link.
///
/// # Errors
/// More than 40 links, as path_resolution(7).
pub(super) fn below(root: &Path, path: &str) -> io::Result<PathBuf> {
    let mut at = PathBuf::new();
    let mut left = parts(Path::new(path));
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(part);
        let Ok(target) = fs::read_link(root.join(&at)) else {
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return Err(io::Error::other("too many levels of symbolic links"));
        }
        match target.is_absolute() {
            true => at.clear(),
            false => _ = at.pop(),
        }
        left.extend(parts(&target));
    }
    Ok(root.join(at))
}

/// The last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}

const MOST_LINKS: usize = 40;
