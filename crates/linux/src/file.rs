// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens a file that others may have put there.

use std::fs::File;
use std::io;
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

#[cfg(test)]
mod tests {
    use super::*;

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
