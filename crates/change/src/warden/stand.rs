// SPDX-License-Identifier: MIT OR Apache-2.0
//! The warden itself.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use linerate_wire::json;

use super::message::{Charge, Order, Reply};
use super::patient::Patient;
use crate::journal::{Journal, JournalError, Trace};
use crate::lines::{self, Line, lines};
use crate::own::restore_own;
use crate::restore::{End, Restored};
use crate::world::World;

/// Watches over the process at the other end of `input` and `output`, until that has ended and its changes are undone.
/// `journal` opens the journal at a path.
///
/// # Errors
/// The first line is not a charge; the journal cannot be read or written.
pub fn stand(
    input: impl Read + Send + 'static,
    mut output: impl Write,
    world: &mut impl World,
    journal: impl FnOnce(&Path) -> Journal,
) -> io::Result<()> {
    let orders = lines(input, "orders")?;
    let Ok(Ok(charge)) = orders.recv() else {
        return Ok(());
    };
    let charge: Charge = json::text(&charge)?;
    let mut watch = Watch {
        trace: Patient(journal(&charge.journal)),
        world,
        charge,
        arms: Vec::new(),
        over: BTreeSet::new(),
    };
    watch.reply_to(&orders, &mut output);
    watch.undo_all().map_err(io::Error::other)
}

struct Watch<'a, W> {
    trace: Patient,
    world: &'a mut W,
    charge: Charge,
    arms: Vec<Arm>,
    /// Arms whose time is over.
    over: BTreeSet<u64>,
}

/// A change that is undone at a time.
struct Arm {
    number: u64,
    due: Instant,
    /// What was open when it was armed.
    before: BTreeSet<u64>,
    /// The change, once it is known.
    change: Option<u64>,
    /// How often it could not be undone.
    attempts: u32,
}

impl Arm {
    fn holds(&self, change: u64) -> bool {
        match self.change {
            Some(own) => own == change,
            None => !self.before.contains(&change),
        }
    }
}

impl<W: World> Watch<'_, W> {
    /// Until the input ends, or is not understood: then nothing more can be confirmed.
    fn reply_to(&mut self, orders: &Receiver<Line>, output: &mut impl Write) {
        let mut reply = Ok(Reply::Done);
        // Who does not read the reply learns from the journal.
        while let Ok(said) = &reply
            && lines::write(output, said).is_ok()
        {
            let Some(order) = self.next(orders) else {
                return;
            };
            reply = json::text(&order).map(|order| self.reply(order));
        }
    }

    /// The next line; meanwhile what is due is undone.
    fn next(&mut self, orders: &Receiver<Line>) -> Option<String> {
        loop {
            let now = Instant::now();
            self.undo_due(now);
            let due = self.arms.iter().map(|arm| arm.due).min();
            let wait = due.map_or(IDLE, |due| due.saturating_duration_since(now));
            match orders.recv_timeout(wait) {
                Ok(line) => return line.ok(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn reply(&mut self, order: Order) -> Reply {
        // An order that came before the time was over, and was read after it, is too late.
        self.undo_due(Instant::now());
        match order {
            Order::Arm { arm, within_ms } => return self.arm(arm, within_ms),
            Order::Bind { arm, change } => {
                let mut arms = self.arms.iter_mut();
                match arms.find(|one| one.number == arm) {
                    Some(one) => one.change = Some(change),
                    None => return Reply::RolledBack,
                }
            }
            Order::Confirm { arm } | Order::Disarm { arm } => {
                if self.over.contains(&arm) {
                    return Reply::RolledBack;
                }
                self.arms.retain(|one| one.number != arm);
            }
        }
        Reply::Done
    }

    fn arm(&mut self, number: u64, within_ms: u64) -> Reply {
        let open = match self.trace.open() {
            Ok(open) => open,
            Err(why) => return Reply::Failed(why.to_string()),
        };
        let now = Instant::now();
        let within = Duration::from_millis(within_ms).min(LONGEST);
        self.arms.push(Arm {
            number,
            due: now + within,
            before: open.into_iter().map(|one| one.change).collect(),
            change: None,
            attempts: 0,
        });
        Reply::Done
    }

    fn undo_due(&mut self, now: Instant) {
        let is_due = |arm: &mut Arm| arm.due <= now;
        let due: Vec<Arm> = self.arms.extract_if(.., is_due).collect();
        for mut arm in due {
            self.over.insert(arm.number);
            let ended = self.undo(&|change| arm.holds(change));
            arm.attempts += 1;
            if is_worth_another(&ended) && arm.attempts < ATTEMPTS {
                arm.due = now + PAUSE;
                self.arms.push(arm);
            }
        }
    }

    fn undo(&mut self, which: &dyn Fn(u64) -> bool) -> Result<Vec<Restored>, JournalError> {
        restore_own(&mut self.trace, self.world, self.charge.owner, which)
    }

    fn undo_all(&mut self) -> Result<(), JournalError> {
        for _ in 1..ATTEMPTS {
            let ended = self.undo(&|_| true);
            if !is_worth_another(&ended) {
                return ended.map(drop);
            }
            thread::sleep(PAUSE);
        }
        self.undo(&|_| true).map(drop)
    }
}

/// A driver that is busy or resets, a disk that is full: it may be over soon. What a third party set stays.
fn is_worth_another(ended: &Result<Vec<Restored>, JournalError>) -> bool {
    let failed = |one: &Restored| matches!(one.end, End::Failed(_) | End::Differs { .. });
    ended.as_ref().map_or(true, |all| all.iter().any(failed))
}

const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_secs(1);
/// Without an arm there is nothing to look at.
const IDLE: Duration = Duration::from_secs(3600);
/// Instants do not reach without end.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
