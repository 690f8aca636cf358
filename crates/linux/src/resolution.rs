// SPDX-License-Identifier: MIT OR Apache-2.0
//! path_resolution(7), a part at a time: each part on the way is shown before it is followed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Where `path` leads if `root` is `/`: a link leads where it would lead there, never out of it. `see` gets each part, of a link and
/// of its target too, and whether no part follows; its error ends the walk. What does not exist is no link.
///
/// # Errors
/// That of `see`; more than 40 links.
pub(crate) fn resolved(
    root: &Path,
    path: &Path,
    mut see: impl FnMut(&Path, bool) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let (mut at, mut left, mut links) = (PathBuf::new(), parts(path), 0);
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(part);
        see(&root.join(&at), left.is_empty())?;
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

/// The path on this host of what has `path` in the system below `root`.
///
/// # Errors
/// More than 40 links.
pub fn below(root: &Path, path: &str) -> io::Result<PathBuf> {
    resolved(root, Path::new(path), |_, _| Ok(()))
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
