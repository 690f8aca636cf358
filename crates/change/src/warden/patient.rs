// SPDX-License-Identifier: MIT OR Apache-2.0
//! A journal whose lock may be held by a process that hangs, which is a reason to undo its change, not to wait for it.

use std::io::{self, Read};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use linerate_linux::file::open_own;

use crate::codec::contents;
use crate::entry::{Entry, Phase};
use crate::journal::{Journal, JournalError, Trace};
use crate::lock::Hold;
use crate::open::{Open, open, standing};

/// It waits for the lock, but not for long.
#[derive(Debug)]
pub(super) struct Patient(pub(super) Journal);

impl Patient {
    /// Does this on a thread, which may stay behind.
    fn tried<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (sender, done) = channel();
        let journal = self.0.clone();
        let begun = thread::Builder::new().spawn(move || {
            // It may come too late.
            let _ = sender.send(work(journal));
        });
        begun.map_err(|why| self.error(what, why))?;
        let late = |_| self.error(what, io::ErrorKind::TimedOut.into());
        done.recv_timeout(PATIENCE).map_err(late)?
    }

    /// What is whole in it, also while another writes: an entry that is not whole belongs to a change that is not made yet.
    fn read_unlocked(&self, of: fn(&[Entry]) -> Vec<Open>) -> Result<Vec<Open>, JournalError> {
        let read = || {
            let mut bytes = Vec::new();
            open_own(self.0.path(), false)?.read_to_end(&mut bytes)?;
            Ok(of(&contents(&bytes).entries))
        };
        read().map_err(|why| self.error("read", why))
    }

    fn error(&self, what: &'static str, why: io::Error) -> JournalError {
        JournalError {
            what,
            path: self.0.path().to_owned(),
            why,
        }
    }
}

impl Trace for Patient {
    fn open(&self) -> Result<Vec<Open>, JournalError> {
        match self.tried("read", |journal| journal.open()) {
            Err(late) if late.why.kind() == io::ErrorKind::TimedOut => self.read_unlocked(open),
            read => read,
        }
    }

    fn standing(&self) -> Result<Vec<Open>, JournalError> {
        match self.tried("read", |journal| journal.standing()) {
            Err(late) if late.why.kind() == io::ErrorKind::TimedOut => self.read_unlocked(standing),
            read => read,
        }
    }

    fn is_lasting(&self) -> bool {
        self.0.is_lasting()
    }

    /// One that hangs while it holds it is not waited for.
    fn hold(&self) -> Result<Hold, JournalError> {
        match self.tried("lock", |journal| journal.hold()) {
            Err(late) if late.why.kind() == io::ErrorKind::TimedOut => Ok(Hold::default()),
            held => held,
        }
    }

    fn begin(&mut self, intended: Phase) -> Result<u64, JournalError> {
        self.tried("write", |mut journal| journal.begin(intended))
    }

    fn step(&mut self, change: u64, phase: Phase) -> Result<(), JournalError> {
        self.tried("write", move |mut journal| journal.step(change, phase))
    }
}

/// Longer than a disk takes to write one line.
const PATIENCE: Duration = Duration::from_secs(3);
