// SPDX-License-Identifier: MIT OR Apache-2.0
//! The journal on the disk. Each step is written and synced before the call returns, under a lock that lasts for the step only:
//! several programs may have changes open in the same journal.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use linerate_linux::file::open_own;

use crate::codec::{self, Contents, Tail};
use crate::entry::{Entry, Phase};
use crate::open::{Open, open};

/// Where changes are recorded.
pub trait Trace {
    /// What is open, the oldest first.
    ///
    /// # Errors
    /// It cannot be read.
    fn open(&self) -> Result<Vec<Open>, JournalError>;

    /// Records the first step of a change; its number.
    ///
    /// # Errors
    /// It is not on the disk: the change must not be made.
    fn begin(&mut self, intended: Phase) -> Result<u64, JournalError>;

    /// Records a further step.
    ///
    /// # Errors
    /// It is not on the disk.
    fn step(&mut self, change: u64, phase: Phase) -> Result<(), JournalError>;
}

/// What could not be done to a journal.
#[derive(Debug)]
pub struct JournalError {
    /// `write`, `read`, `create`.
    pub what: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: io::Error,
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, path, why } = self;
        write!(f, "cannot {what} the journal {}: {why}", path.display())
    }
}

impl std::error::Error for JournalError {}

/// A journal in a file.
#[derive(Debug, Clone)]
pub struct Journal {
    path: PathBuf,
    boot_id: String,
}

impl Journal {
    /// The journal at `path`, in the boot with this id. Nothing is created until there is something to write.
    #[must_use]
    pub fn at(path: &Path, boot_id: &str) -> Self {
        Self {
            path: path.to_owned(),
            boot_id: boot_id.to_owned(),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it; nothing if there is none.
    ///
    /// # Errors
    /// It cannot be read, or another user could have written it: its commands would be run.
    pub fn contents(&self) -> Result<Contents, JournalError> {
        let read = || match open_own(&self.path, false) {
            Ok(mut file) => {
                file.lock_shared()?;
                of_file(&mut file)
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Contents::default()),
            Err(why) => Err(why),
        };
        read().map_err(|why| self.error("read", why))
    }

    /// Appends under the lock what `next` makes of what is there.
    fn append<T>(&self, next: impl FnOnce(&Contents) -> (Entry, T)) -> Result<T, JournalError> {
        self.create().map_err(|why| self.error("create", why))?;
        let append = || {
            let mut file = open_own(&self.path, true)?;
            file.lock()?;
            let before = of_file(&mut file)?;
            let end = room(&file, &before)?;
            let (entry, kept) = next(&before);
            written(&mut file, end, codec::line(&entry)?.as_bytes())?;
            Ok(kept)
        };
        append().map_err(|why| self.error("write", why))
    }

    fn entry(&self, change: u64, phase: Phase) -> Entry {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Entry {
            change,
            wall_ns: since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0)),
            boot_id: self.boot_id.clone(),
            phase,
        }
    }

    /// An empty one, and its name is on the disk.
    fn create(&self) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.path);
        match created {
            Ok(file) => {
                file.sync_all()?;
                File::open(directory)?.sync_all()
            }
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(why) => Err(why),
        }
    }

    fn error(&self, what: &'static str, why: io::Error) -> JournalError {
        let path = self.path.clone();
        JournalError { what, path, why }
    }
}

impl Trace for Journal {
    fn open(&self) -> Result<Vec<Open>, JournalError> {
        Ok(open(&self.contents()?.entries))
    }

    fn begin(&mut self, intended: Phase) -> Result<u64, JournalError> {
        self.append(|before| {
            let numbers = before.entries.iter().map(|entry| entry.change);
            let change = numbers.max().unwrap_or(0) + 1;
            (self.entry(change, intended), change)
        })
    }

    fn step(&mut self, change: u64, phase: Phase) -> Result<(), JournalError> {
        self.append(|_| (self.entry(change, phase), ()))
    }
}

fn of_file(file: &mut File) -> io::Result<Contents> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(codec::contents(&bytes))
}

/// Where the next entry goes: behind the whole ones, and in place of a long history with nothing open.
fn room(file: &File, before: &Contents) -> io::Result<u64> {
    let length = file.metadata()?.len();
    match before.tail {
        _ if length > LONG && open(&before.entries).is_empty() => Ok(0),
        Tail::Whole => Ok(length),
        Tail::Torn { whole_bytes } => Ok(whole_bytes as u64),
    }
}

/// All of it, or nothing: what a full disk left of it is cut off.
fn written(file: &mut File, end: u64, line: &[u8]) -> io::Result<()> {
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    let ended = file.write_all(line).and_then(|()| file.sync_data());
    if ended.is_err() {
        let _ = file.set_len(end);
    }
    ended
}

/// A history that is worth cutting, in bytes.
const LONG: u64 = 64 << 10;
