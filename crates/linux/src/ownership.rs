// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who else may put files into a directory: what they put there would be read, or run, as if it were this user's.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::resolution::resolved;

/// A part of a path that another user controls.
#[derive(Debug)]
struct Foreign {
    path: PathBuf,
    why: String,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, why } = self;
        write!(f, "{}: {why}", path.display())
    }
}

impl std::error::Error for Foreign {}

/// Whether only root and this user (after sudo(8) also who called it) decide what is found in a directory: no one else owns or
/// may write to it, or a directory or symbolic link on the way to it. A sticky directory may be on the way only.
///
/// # Errors
/// `PermissionDenied`, with the part of the path that another user controls; or it is not a directory.
pub fn only_own_write_to(directory: &Path) -> io::Result<()> {
    let users = Users::trusted()?;
    let see = |part: &Path, is_last| users.decide(part, is_last);
    resolved(Path::new("/"), directory, see).map(drop)
}

/// Whose files are as good as this user's.
struct Users {
    /// This user, root, and who called sudo(8).
    all: Vec<u32>,
}

impl Users {
    fn trusted() -> io::Result<Self> {
        let user = rustix::process::geteuid().as_raw();
        // In a user namespace root's files have another owner: that of `/`.
        let mut all = vec![user, 0, fs::metadata("/")?.uid()];
        let caller = std::env::var("SUDO_UID").ok();
        let caller = caller.and_then(|text| text.parse::<u32>().ok());
        all.extend(caller.filter(|_| user == 0));
        Ok(Self { all })
    }

    /// What a part of the path is.
    fn decide(&self, path: &Path, is_last: bool) -> io::Result<()> {
        let found = fs::symlink_metadata(path).map_err(|why| named(path, &why))?;
        self.own(path, &found)?;
        match found.is_symlink() {
            true => Ok(()),
            false => self.alone_write_to(path, &found, is_last),
        }
    }

    fn own(&self, path: &Path, found: &Metadata) -> io::Result<()> {
        let owner = found.uid();
        match self.all.contains(&owner) {
            true => Ok(()),
            false => Err(refused(path, format!("it belongs to user {owner}"))),
        }
    }

    /// What is in a sticky directory only its owner replaces, but others may put more there.
    fn alone_write_to(&self, path: &Path, found: &Metadata, is_last: bool) -> io::Result<()> {
        let is_sticky = found.mode() & STICKY != 0 && !is_last;
        // A group of one user alone has the user's number, by convention.
        let by_group = found.mode() & GROUP_WRITES != 0 && !self.all.contains(&found.gid());
        let by_others = found.mode() & OTHERS_WRITE != 0;
        match (by_group || by_others) && !is_sticky {
            true => Err(refused(path, "other users may write to it".to_owned())),
            false => Ok(()),
        }
    }
}

fn refused(path: &Path, why: String) -> io::Error {
    let path = path.to_owned();
    io::Error::new(io::ErrorKind::PermissionDenied, Foreign { path, why })
}

fn named(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    use super::*;

    /// A directory in the sticky `/tmp`, removed with what is in it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("linerate-ownership-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _old = fs::remove_dir_all(&path);
            fs::create_dir_all(path.join("in")).unwrap();
            Self(path)
        }

        fn set(&self, mode: u32) {
            fs::set_permissions(&self.0, Permissions::from_mode(mode)).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _left = fs::remove_dir_all(&self.0);
        }
    }

    fn is_own(path: &Path) -> bool {
        match only_own_write_to(path) {
            Ok(()) => true,
            Err(why) => {
                assert_eq!(why.kind(), io::ErrorKind::PermissionDenied, "{why}");
                false
            }
        }
    }

    /// On the way a sticky directory does no harm; as the place of a command others may put another one there.
    #[test]
    fn nobody_else_may_write_to_the_directory_or_one_above_it() {
        let folder = Folder::new("mode");
        for (mode, itself, below) in [
            (0o755, true, true),
            (0o1777, false, true),
            (0o777, false, false),
            (0o757, false, false),
        ] {
            folder.set(mode);
            let found = (is_own(&folder.0), is_own(&folder.0.join("in")));
            assert_eq!(found, (itself, below), "{mode:o}");
        }
        let why = only_own_write_to(&folder.0).unwrap_err().to_string();
        assert_eq!(
            why,
            format!("{}: other users may write to it", folder.0.display())
        );
        folder.set(0o755);
        let missing = only_own_write_to(&folder.0.join("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_link_is_as_good_as_where_it_leads() {
        let (good, bad) = (Folder::new("good"), Folder::new("bad"));
        bad.set(0o777);
        let link = |name: &str, target: &Path| {
            let path = good.0.join(name);
            symlink(target, &path).unwrap();
            path
        };
        assert!(is_own(&link("absolute", &good.0.join("in"))));
        assert!(is_own(&link("relative", Path::new("in/../in"))));
        assert!(!is_own(&link("out", &bad.0.join("in"))));
        let bad = Path::new("..").join(bad.0.file_name().unwrap());
        assert!(!is_own(&link("back", &bad)));
        let end = link("loop", Path::new("loop"));
        assert!(only_own_write_to(&end).is_err());
    }

    /// Also in a sticky directory, where an attacker puts a link in place of what was removed.
    #[test]
    fn what_another_user_owns_is_not_trusted() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root gives files away");
            return;
        }
        let folder = Folder::new("owner");
        let (inside, link) = (folder.0.join("in"), folder.0.join("link"));
        fs::create_dir(inside.join("below")).unwrap();
        symlink("in", &link).unwrap();
        assert!(is_own(&link.join("below")));
        lchown(&link, Some(OTHER), None).unwrap();
        assert!(!is_own(&link.join("below")) && is_own(&inside.join("below")));
        chown(&inside, None, Some(OTHER)).unwrap();
        fs::set_permissions(&inside, Permissions::from_mode(0o770)).unwrap();
        assert!(!is_own(&inside), "its group writes");
        chown(&inside, Some(OTHER), Some(0)).unwrap();
        let why = only_own_write_to(&inside.join("below")).unwrap_err();
        assert!(why.to_string().ends_with(": it belongs to user 54321"));
    }

    const OTHER: u32 = 54_321;
}
