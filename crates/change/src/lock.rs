// SPDX-License-Identifier: MIT OR Apache-2.0
//! One program at a time: that changes settings in turns, and that undoes what is left. The kernel releases both locks when
//! a process ends, however it does.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use linerate_linux::file::open_own;

use crate::journal::{Journal, JournalError};
use crate::owner::Owner;

/// No other program changes settings in turns as long as this exists.
#[derive(Debug)]
pub struct Exclusive {
    _locked: File,
}

/// Why there is no [`Exclusive`].
#[derive(Debug)]
pub enum Taken {
    /// Another program has it.
    By {
        /// What it is: `linerate tune`.
        what: String,
        /// Its process, where it is known.
        pid: Option<u32>,
    },
    /// It cannot be locked.
    Unavailable(JournalError),
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By { what, pid } => {
                write!(f, "{what}")?;
                pid.map_or(Ok(()), |pid| write!(f, " (process {pid})"))?;
                write!(f, " is changing settings of this host")
            }
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Taken {}

/// Nothing else is undone as long as this exists: a command of the user must not run twice.
#[derive(Debug, Default)]
pub struct Hold {
    _locked: Option<File>,
}

impl Journal {
    /// For the life of a program that changes settings in turns; `what` it is.
    ///
    /// # Errors
    /// Another one runs, or the lock's file cannot be written.
    pub fn exclusive(&self, what: &str) -> Result<Exclusive, Taken> {
        let unavailable = |why| Taken::Unavailable(self.error("lock", why));
        let mut file = self.lock_file().map_err(unavailable)?;
        match file.try_lock() {
            Ok(()) => named(&mut file, what).map_err(unavailable)?,
            Err(TryLockError::WouldBlock) => return Err(holder(&mut file)),
            Err(TryLockError::Error(why)) => return Err(unavailable(why)),
        }
        Ok(Exclusive { _locked: file })
    }

    /// Waits until no other program undoes changes of this journal. The directory is locked: it needs no space on the disk.
    pub(crate) fn held(&self) -> Result<Hold, JournalError> {
        let lock = || {
            let directory = File::open(self.directory())?;
            directory.lock()?;
            Ok(Hold {
                _locked: Some(directory),
            })
        };
        lock().map_err(|why| self.error("lock", why))
    }

    /// Whether another program is undoing changes now.
    #[must_use]
    pub fn is_restoring(&self) -> bool {
        let directory = File::open(self.directory());
        directory.is_ok_and(|directory| {
            matches!(directory.try_lock_shared(), Err(TryLockError::WouldBlock))
        })
    }

    fn lock_file(&self) -> io::Result<File> {
        self.create_directory()?;
        let path = PathBuf::from(format!("{}.lock", self.path().display()));
        let mut created = OpenOptions::new();
        created.write(true).create_new(true).mode(0o600);
        match created.open(&path) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(why),
            _ => open_own(&path, true),
        }
    }
}

/// Who has it, for those who want it as well.
fn named(file: &mut File, what: &str) -> io::Result<()> {
    let Owner { pid, start_ticks } = Owner::this();
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{pid} {start_ticks} {what}\n").as_bytes())
}

/// A process that has ended left its name, and one that began to write has none yet.
fn holder(file: &mut File) -> Taken {
    let mut text = String::new();
    let _readable = file.read_to_string(&mut text);
    let parsed = || {
        let mut words = text.trim_end().splitn(3, ' ');
        let pid = words.next()?.parse().ok()?;
        let start_ticks = words.next()?.parse().ok()?;
        let owner = Owner { pid, start_ticks };
        let what = words.next()?.to_owned();
        owner.is_alive().then_some((what, pid))
    };
    match parsed() {
        Some((what, pid)) => Taken::By {
            what,
            pid: Some(pid),
        },
        None => Taken::By {
            what: "another program".to_owned(),
            pid: None,
        },
    }
}
