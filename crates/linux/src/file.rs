// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens a file that others may have put there.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

/// Opens a regular file for reading. A link is not followed, and a FIFO or device is not waited for.
///
/// # Errors
/// It is not a regular file, or the system's error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file: File = match open(path, flags, Mode::empty()) {
        Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link, not a file")),
        opened => opened?.into(),
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Opens a regular file to read, and with `write` also to write, whose contents only this user could have written.
///
/// # Errors
/// It cannot be opened; or it is another user's, others may write to it, or its name is a link.
pub fn open_own(path: &Path, write: bool) -> io::Result<File> {
    let access = match write {
        true => OFlags::RDWR,
        false => OFlags::RDONLY,
    };
    let flags = access | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file: File = open(path, flags, Mode::empty())?.into();
    let found = file.metadata()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    match found.is_file() && is_own && found.mode() & OTHERS_WRITE == 0 {
        true => Ok(file),
        false => Err(io::Error::other("another user owns it or may write to it")),
    }
}

const OTHERS_WRITE: u32 = 0o022;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_may_write_to_is_not_opened() {
        let path = std::env::temp_dir().join(format!("linerate-own-{}", std::process::id()));
        std::fs::write(&path, "x").unwrap();
        let opened = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            open_own(&path, true).is_ok()
        };
        assert_eq!(
            [0o600, 0o620, 0o602, 0o644].map(opened),
            [true, false, false, true]
        );
        std::fs::remove_file(&path).unwrap();
        assert!(open_own(Path::new("/proc/self/exe"), false).is_err());
    }

    #[test]
    fn devices_directories_and_links_are_not_opened() {
        for (path, why) in [
            ("/dev/zero", "it is not a regular file"),
            ("/proc", "it is not a regular file"),
            ("/proc/self/exe", "it is a symbolic link, not a file"),
        ] {
            let error = open_regular(Path::new(path)).unwrap_err();
            assert_eq!(error.to_string(), why, "{path}");
        }
        let missing = open_regular(Path::new("/proc/none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(open_regular(Path::new("/proc/self/status")).is_ok());
    }
}
