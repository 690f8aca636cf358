// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes that are undone unless they are confirmed in time, as a router's `commit confirmed`: one that cuts the way by
//! which it was made cannot be confirmed.

use std::io;
use std::time::Duration;

use crate::apply::Outcome;
use crate::entry::Change;
use crate::hand::{Hand, Local};
use crate::memory::Memory;

/// A host that undoes a change alone if it is not confirmed.
pub trait Provisional: Hand {
    /// As [`Hand::apply`]; the host undoes it unless [`Self::confirm`] follows within this time.
    ///
    /// # Errors
    /// As [`Hand::apply`]; or nothing watches over the deadline: then nothing was changed.
    fn apply_within(&mut self, change: Change, within: Duration) -> io::Result<Outcome>;

    /// The change works, and stays until it is undone.
    ///
    /// # Errors
    /// `TimedOut`: it is rolled back already. Others: the host is no longer reached, and rolls it back.
    fn confirm(&mut self, change: u64) -> io::Result<()>;
}

/// A host whose journal is in memory ends with this process, and only this process reaches it: no other way can be cut.
impl Provisional for Local<Memory> {
    fn apply_within(&mut self, change: Change, _within: Duration) -> io::Result<Outcome> {
        self.apply(change)
    }

    fn confirm(&mut self, _change: u64) -> io::Result<()> {
        Ok(())
    }
}

/// What [`Provisional::confirm`] fails with when it comes too late.
pub(crate) fn rolled_back(change: u64) -> io::Error {
    let why = format!("change {change} was not confirmed in time and is rolled back");
    io::Error::new(io::ErrorKind::TimedOut, why)
}
