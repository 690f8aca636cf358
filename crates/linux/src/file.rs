// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens a file that others may have put there; creates one whole.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open, statfs};
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

/// Creates a file that all may read, with all of its contents and on the disk, or none. Never replaces one.
///
/// # Errors
/// `AlreadyExists`; those of the file system.
pub fn create_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(nameless) => {
            let file = File::from(nameless);
            filled(&file, bytes)?;
            let name = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(CWD, name, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
        }
        // A file system that has no nameless files: another name until it is whole.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let other = beside(path);
            let _left = fs::remove_file(&other);
            filled(&File::create_new(&other)?, bytes)?;
            let linked = fs::hard_link(&other, path);
            fs::remove_file(&other)?;
            linked?;
        }
        Err(why) => return Err(why.into()),
    }
    File::open(directory)?.sync_all()
}

/// Replaces a file, at once.
///
/// # Errors
/// Those of the file system.
pub fn replace_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let other = beside(path);
    let _left = fs::remove_file(&other);
    let written = create_whole(&other, bytes).and_then(|()| fs::rename(&other, path));
    if written.is_err() {
        let _none = fs::remove_file(&other);
    }
    written?;
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Whether what is written there is lost when the machine is switched off: a tmpfs, as `/run` and most live systems have.
///
/// # Errors
/// There is no such file or directory.
pub fn is_in_memory(path: &Path) -> io::Result<bool> {
    // Its type differs between architectures, the constants have 32 bits.
    match statfs(path)?.f_type as u32 {
        TMPFS | RAMFS => Ok(true),
        // Of an overlay whose upper layer is out of sight, as in a container, it is not known.
        OVERLAYFS => {
            Ok(upper_layer(path)?.is_some_and(|upper| is_in_memory(&upper).unwrap_or(false)))
        }
        _ => Ok(false),
    }
}

/// Where what is written to an overlay goes: proc_pid_mountinfo(5), by the device of the mount.
fn upper_layer(path: &Path) -> io::Result<Option<PathBuf>> {
    let device = fs::metadata(path)?.dev();
    let device = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let mut own = mounts
        .lines()
        .filter(|line| line.split(' ').nth(2) == Some(&device));
    Ok(own.find_map(|line| {
        let mut options = line.rsplit(' ').next()?.split(',');
        options.find_map(|option| option.strip_prefix("upperdir=").map(PathBuf::from))
    }))
}

/// No program reads files with such a name.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.new"))
}

fn filled(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(bytes)?;
    file.sync_all()
}

const OTHERS_WRITE: u32 = 0o022;
// include/uapi/linux/magic.h
const TMPFS: u32 = 0x0102_1994;
const RAMFS: u32 = 0x8584_58f6;
const OVERLAYFS: u32 = 0x794c_7630;

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_file_that_others_may_write_to_is_not_opened() {
        let path = std::env::temp_dir().join(format!("linerate-own-{}", std::process::id()));
        fs::write(&path, "x").unwrap();
        let opened = |mode| {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            open_own(&path, true).is_ok()
        };
        assert_eq!(
            [0o600, 0o620, 0o602, 0o644].map(opened),
            [true, false, false, true]
        );
        fs::remove_file(&path).unwrap();
        assert!(open_own(Path::new("/proc/self/exe"), false).is_err());
    }

    #[test]
    fn a_file_is_created_whole_and_never_instead_of_another() {
        let path = std::env::temp_dir().join(format!("linerate-whole-{}", std::process::id()));
        create_whole(&path, b"one").unwrap();
        let again = create_whole(&path, b"two").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace_whole(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
        assert!(!beside(&path).exists());
        fs::remove_file(&path).unwrap();
        assert!(create_whole(Path::new("/proc/none"), b"").is_err());
    }

    #[test]
    fn a_file_system_in_memory_is_known() {
        let is_tmpfs =
            |line: &str| line.starts_with("tmpfs ") || line.starts_with("none /dev/shm tmpfs");
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let mut tmpfs = mounts.lines().filter(|line| is_tmpfs(line));
        if let Some(place) = tmpfs.find_map(|line| line.split(' ').nth(1)) {
            assert!(is_in_memory(Path::new(place)).unwrap(), "{place}");
        }
        assert!(!is_in_memory(Path::new("/proc")).unwrap());
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
