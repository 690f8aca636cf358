// SPDX-License-Identifier: MIT OR Apache-2.0
//! The journal on the disk. Each step is written and synced before the call returns, under a lock that lasts for the step only:
//! several programs may have changes open in the same journal.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use linerate_linux::file::{is_in_memory, open_own};
use linerate_linux::ownership::only_own_write_to;

use crate::codec::{self, Contents, Tail};
use crate::entry::{Entry, Phase};
use crate::lock::Hold;
use crate::open::{Open, open, standing};

/// Where changes are recorded.
pub trait Trace {
    /// What is open, the oldest first.
    ///
    /// # Errors
    /// It cannot be read.
    fn open(&self) -> Result<Vec<Open>, JournalError>;

    /// What is open or was kept, the oldest first.
    ///
    /// # Errors
    /// It cannot be read.
    fn standing(&self) -> Result<Vec<Open>, JournalError>;

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

    /// Whether it is still there after a power cut: without, nothing that outlives one may be changed.
    fn is_lasting(&self) -> bool {
        false
    }

    /// Waits until no other process undoes what is in it. A journal that belongs to one process has no other.
    ///
    /// # Errors
    /// It cannot be locked.
    fn hold(&self) -> Result<Hold, JournalError> {
        Ok(Hold::default())
    }
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
        let read = || match self.locked(false) {
            Ok(mut file) => of_file(&mut file),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Contents::default()),
            Err(why) => Err(why),
        };
        read().map_err(|why| self.error("read", why))
    }

    /// Appends under the lock what `next` makes of what is there.
    fn append<T>(&self, next: impl FnOnce(&Contents) -> (Entry, T)) -> Result<T, JournalError> {
        self.create().map_err(|why| self.error("create", why))?;
        let append = || {
            let mut file = self.locked(true)?;
            let before = of_file(&mut file)?;
            let (entry, kept) = next(&before);
            let line = codec::line(&entry)?;
            let length = file.metadata()?.len();
            if length <= LONG || !self.is_shortened(length, &before, &line) {
                written(&mut file, end(length, &before), line.as_bytes())?;
            }
            Ok(kept)
        };
        append().map_err(|why| self.error("write", why))
    }

    /// The file under its lock. It may have been replaced by a shorter one while another program had the lock.
    fn locked(&self, write: bool) -> io::Result<File> {
        loop {
            let file = open_own(&self.path, write)?;
            only_own_write_to(self.directory())?;
            match write {
                true => file.lock()?,
                false => file.lock_shared()?,
            }
            if fs::metadata(&self.path)?.ino() == file.metadata()?.ino() {
                return Ok(file);
            }
        }
    }

    /// Replaces a long history by what is open or kept, and this line, where that is worth it.
    fn is_shortened(&self, length: u64, before: &Contents, line: &str) -> bool {
        let mut needed = standing(&before.entries);
        needed.retain(|one| !one.kept || one.outlives(&self.boot_id));
        let is_needed = |entry: &&Entry| needed.iter().any(|one| one.change == entry.change);
        let lines = before.entries.iter().filter(is_needed).map(codec::line);
        let Ok(lines) = lines.collect::<serde_json::Result<String>>() else {
            return false;
        };
        let is_worth_it = (lines.len() as u64) < length / 2;
        is_worth_it && self.replace(&format!("{lines}{line}")).is_ok()
    }

    /// Whole or not at all.
    fn replace(&self, text: &str) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        };
        let written = write();
        if written.is_err() {
            let _none = fs::remove_file(&new);
        }
        written.and_then(|()| File::open(self.directory())?.sync_all())
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
        self.create_directory()?;
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.path);
        match created {
            Ok(file) => {
                file.sync_all()?;
                File::open(self.directory())?.sync_all()
            }
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(why) => Err(why),
        }
    }

    pub(crate) fn create_directory(&self) -> io::Result<()> {
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(self.directory())
    }

    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    pub(crate) fn error(&self, what: &'static str, why: io::Error) -> JournalError {
        let path = self.path.clone();
        JournalError { what, path, why }
    }
}

impl Trace for Journal {
    fn open(&self) -> Result<Vec<Open>, JournalError> {
        Ok(open(&self.contents()?.entries))
    }

    fn standing(&self) -> Result<Vec<Open>, JournalError> {
        Ok(standing(&self.contents()?.entries))
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

    fn is_lasting(&self) -> bool {
        let mut places = self.path.ancestors();
        let place = places.find_map(|place| is_in_memory(place).ok());
        place.is_some_and(|in_memory| !in_memory)
    }

    fn hold(&self) -> Result<Hold, JournalError> {
        self.held()
    }
}

fn of_file(file: &mut File) -> io::Result<Contents> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(codec::contents(&bytes))
}

/// Where the next entry goes: behind the whole ones.
fn end(length: u64, before: &Contents) -> u64 {
    match before.tail {
        Tail::Whole => length,
        Tail::Torn { whole_bytes } => whole_bytes as u64,
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

/// A history that may be worth shortening, in bytes.
const LONG: u64 = 64 << 10;
