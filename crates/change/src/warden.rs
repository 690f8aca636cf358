// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second process, in a session of its own, that undoes the changes of this one when this one has ended, also by
//! `kill -9`, and each change that is not confirmed in time, also when this one hangs.
//!
//! ```text
//! this process ── charge {journal, owner} ──►  warden        over its standard input and output
//!              ── arm {within} ──►                           before the change; then bind, confirm, disarm
//!              ── end of file ──►  it undoes what is open of the owner, and ends
//! ```

mod message;
mod patient;
mod stand;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use linerate_linux::piped;
use linerate_wire::json;

use crate::apply::Outcome;
use crate::entry::{Change, Key, Undo};
use crate::hand::Hand;
use crate::lines::{self, Line, lines};
use crate::owner::Owner;
use crate::provisional::{Provisional, rolled_back};
use crate::restore::End;
use message::{Charge, Order, Reply};

pub use stand::stand;

/// A host with a warden. When it is dropped, the warden undoes what is open of this process.
#[derive(Debug)]
pub struct Warded<H> {
    hand: H,
    warden: Warden,
    /// Change → its arm: not confirmed yet.
    unconfirmed: BTreeMap<u64, u64>,
}

impl<H: Hand> Warded<H> {
    /// Starts the warden: `helper` runs [`stand`] on its standard input and output. It inherits the namespaces of the
    /// calling thread. `hand` records what it does in `journal`.
    ///
    /// # Errors
    /// It cannot be started, or does not answer: no change should be made.
    pub fn begin(hand: H, journal: &Path, helper: Command) -> io::Result<Self> {
        Ok(Self {
            hand,
            warden: Warden::begin(journal, helper)?,
            unconfirmed: BTreeMap::new(),
        })
    }

    /// Binds the arm to the change that was made under it.
    fn bind(&mut self, arm: u64, change: u64) -> io::Result<()> {
        let why = match self.warden.ask(&Order::Bind { arm, change }) {
            Ok(Reply::Done) => {
                self.unconfirmed.insert(change, arm);
                return Ok(());
            }
            // The time was over while it was made.
            Ok(Reply::RolledBack) => rolled_back(change),
            Ok(other) => unexpected(&other),
            Err(why) => why,
        };
        let undone = self.hand.undo(change);
        Err(match undone {
            Ok(end) if end.is_closed() => why,
            _ => io::Error::other(format!("{why}; it is in the journal")),
        })
    }

    /// The warden may have closed a change before this process, which hung, wrote it.
    fn write_back(&mut self, key: &Key, old: String, effective: &str) -> io::Result<()> {
        if self.hand.read(key)? != effective {
            return Ok(());
        }
        let back = Change {
            key: key.clone(),
            new: old,
            undo: Undo::Write,
            because: "what was not confirmed in time".to_owned(),
        };
        match self.hand.apply(back)? {
            Outcome::Applied { change, .. } => self.hand.keep(change),
            Outcome::InForce => Ok(()),
            other => Err(io::Error::other(format!("not undone: {other:?}"))),
        }
    }

    /// Nothing waits for a confirmation of it any more.
    fn release(&mut self, change: u64) -> io::Result<()> {
        match self.unconfirmed.remove(&change) {
            Some(arm) => self.warden.done(&Order::Disarm { arm }),
            None => Ok(()),
        }
    }
}

impl<H: Hand> Hand for Warded<H> {
    crate::hand::reads_by_its_hand!();

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        self.warden.is_there()?;
        self.hand.apply(change)
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        let end = self.hand.undo(change)?;
        if end.is_closed() {
            self.release(change)?;
        }
        Ok(end)
    }

    /// Confirms it, too.
    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.confirm(change)?;
        self.hand.keep(change)
    }
}

impl<H: Hand> Provisional for Warded<H> {
    fn apply_within(&mut self, change: Change, within: Duration) -> io::Result<Outcome> {
        let arm = self.warden.arm(within)?;
        let key = change.key.clone();
        // What fails here may be in force: the arm stays.
        let outcome = self.hand.apply(change)?;
        let bound = match &outcome {
            Outcome::Applied { change, .. } | Outcome::Half { change, .. } => {
                self.bind(arm, *change)
            }
            _ => self.warden.done(&Order::Disarm { arm }),
        };
        if let (Err(_), Outcome::Applied { old, effective, .. }) = (&bound, &outcome) {
            self.write_back(&key, old.clone(), effective)?;
        }
        bound.map(|()| outcome)
    }

    fn confirm(&mut self, change: u64) -> io::Result<()> {
        let Some(arm) = self.unconfirmed.get(&change).copied() else {
            return Ok(());
        };
        match self.warden.ask(&Order::Confirm { arm })? {
            Reply::RolledBack => Err(rolled_back(change)),
            Reply::Done => {
                self.unconfirmed.remove(&change);
                Ok(())
            }
            other => Err(unexpected(&other)),
        }
    }
}

/// The process.
#[derive(Debug)]
struct Warden {
    child: Child,
    orders: Option<ChildStdin>,
    replies: Receiver<Line>,
    arms: u64,
}

impl Warden {
    fn begin(journal: &Path, mut helper: Command) -> io::Result<Self> {
        helper
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .current_dir("/");
        let mut child = helper.spawn().map_err(failed)?;
        let output = child.stdout.take().ok_or_else(|| failed("no pipe"))?;
        let mut warden = Self {
            orders: child.stdin.take(),
            child,
            replies: lines(output, "warden")?,
            arms: 0,
        };
        let charge = Charge {
            owner: Owner::this(),
            journal: std::path::absolute(journal)?,
        };
        warden.send(&charge)?;
        match warden.reply()? {
            Reply::Done => Ok(warden),
            other => Err(unexpected(&other)),
        }
    }

    fn arm(&mut self, within: Duration) -> io::Result<u64> {
        self.arms += 1;
        let arm = self.arms;
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.done(&Order::Arm { arm, within_ms })?;
        Ok(arm)
    }

    fn is_there(&mut self) -> io::Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(failed(format!("it has ended ({status})"))),
        }
    }

    fn done(&mut self, order: &Order) -> io::Result<()> {
        match self.ask(order)? {
            Reply::Done | Reply::RolledBack => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    fn ask(&mut self, order: &Order) -> io::Result<Reply> {
        self.send(order)?;
        self.reply()
    }

    fn send(&mut self, order: &impl serde::Serialize) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or_else(|| failed("no pipe"))?;
        lines::write(orders, order).map_err(failed)
    }

    fn reply(&mut self) -> io::Result<Reply> {
        match self.replies.recv_timeout(REPLY_WITHIN) {
            Ok(Ok(line)) => json::text(&line).map_err(failed),
            Ok(Err(lines::TooLong)) => Err(failed("its answer is too long")),
            Err(RecvTimeoutError::Timeout) => Err(failed("no answer in time")),
            Err(RecvTimeoutError::Disconnected) => Err(failed("it has ended")),
        }
    }
}

impl Drop for Warden {
    /// Waits while it undoes what is open. It is never killed.
    fn drop(&mut self) {
        self.orders = None;
        let _ended = piped::status(&mut self.child, END_WITHIN);
    }
}

fn failed(why: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!(
        "the process that undoes changes after a crash: {why}"
    ))
}

fn unexpected(reply: &Reply) -> io::Error {
    match reply {
        Reply::Failed(why) => failed(why),
        Reply::Done | Reply::RolledBack => failed("unexpected answer"),
    }
}

/// It may be undoing a change of a slow driver.
const REPLY_WITHIN: Duration = Duration::from_secs(30);
/// As long as it tries again, and some more.
const END_WITHIN: Duration = Duration::from_secs(30);
