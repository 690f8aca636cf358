// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undoes what is open, the last change first.

use std::io;

use crate::coupled;
use crate::entry::{Phase, Undo};
use crate::journal::{JournalError, Trace};
use crate::open::Open;
use crate::world::World;

/// What became of an open change.
#[derive(Debug)]
pub struct Restored {
    /// The change.
    pub open: Open,
    /// How it ended.
    pub end: End,
}

/// How a change ended. Only the first three close it.
#[derive(Debug)]
pub enum End {
    /// The old value is in force again, or the command ran.
    Undone,
    /// The old value was in force already.
    WasUndone,
    /// The machine was booted since.
    Vanished,
    /// The process that made it still runs.
    UnderWay,
    /// Another value is in force than the one that was set: a third party's. Nothing was written.
    Foreign {
        /// What is in force.
        value: String,
    },
    /// A later change of the same setting is not undone: what was before that one would come back with it.
    AfterAnother,
    /// It is not reached from here, or no longer the same device.
    Elsewhere(String),
    /// It could not be undone.
    Failed(io::Error),
    /// It was written, and this value is in force instead.
    Differs {
        /// What is in force.
        value: String,
    },
}

impl End {
    /// Whether the change is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Undone | Self::WasUndone | Self::Vanished)
    }
}

/// Undoes all that is open. With `force` also what a third party set since, and what a process that still runs set.
///
/// # Errors
/// The journal cannot be read or written: what was undone before is undone all the same.
pub fn restore(
    trace: &mut impl Trace,
    world: &mut impl World,
    boot_id: &str,
    force: bool,
) -> Result<Vec<Restored>, JournalError> {
    all_but(trace, world, boot_id, force, |open| open.kept)
}

/// As [`restore()`], and what was kept as well. What was kept in an earlier boot, and is not in force any more, is ignored.
///
/// # Errors
/// As [`restore()`].
pub fn restore_kept(
    trace: &mut impl Trace,
    world: &mut impl World,
    boot_id: &str,
    force: bool,
) -> Result<Vec<Restored>, JournalError> {
    all_but(trace, world, boot_id, force, |open| {
        open.kept && !open.outlives(boot_id)
    })
}

fn all_but(
    trace: &mut impl Trace,
    world: &mut impl World,
    boot_id: &str,
    force: bool,
    stays: impl Fn(&Open) -> bool,
) -> Result<Vec<Restored>, JournalError> {
    let mut all: Vec<Restored> = Vec::new();
    if trace.standing()?.is_empty() {
        return Ok(all);
    }
    let _alone = trace.hold()?;
    // Another process may have undone some while this one waited.
    let standing = trace.standing()?;
    let (mut left, opens): (Vec<Open>, Vec<Open>) = standing.into_iter().partition(stays);
    for open in opens.into_iter().rev() {
        let waits = |later: &Open| later.key == open.key && later.change > open.change;
        let end = match left
            .iter()
            .any(|later| waits(later) && later.outlives(boot_id))
        {
            true => End::AfterAnother,
            false => undone(world, &open, boot_id, force),
        };
        match end {
            End::Vanished => trace.step(open.change, Phase::Vanished)?,
            End::Undone | End::WasUndone => trace.step(open.change, Phase::Restored)?,
            _ => left.push(open.clone()),
        }
        all.push(Restored { open, end });
    }
    Ok(all)
}

/// Undoes one change of the calling process. One that is not open is undone already.
///
/// # Errors
/// The journal cannot be read or written.
pub fn restore_one(
    trace: &mut impl Trace,
    world: &mut impl World,
    change: u64,
) -> Result<End, JournalError> {
    let _alone = trace.hold()?;
    let all = trace.open()?;
    let Some(open) = all.into_iter().find(|open| open.change == change) else {
        return Ok(End::WasUndone);
    };
    let end = in_place(world, &open, false);
    if !end.is_closed() {
        return Ok(end);
    }
    trace.step(change, Phase::Restored)?;
    let mut ends = vec![end];
    for bundle in coupled::left(&trace.open()?, &open.key.place) {
        ends.push(coupled::restore(trace, world, &bundle)?);
    }
    let failed = ends.iter().position(|end| !end.is_closed());
    Ok(ends.swap_remove(failed.unwrap_or(0)))
}

/// Closes a change that is open or was kept, and undoes nothing: the user has undone it, or it cannot be.
///
/// # Errors
/// The journal cannot be read or written.
pub fn forget(trace: &mut impl Trace, change: u64) -> Result<(), JournalError> {
    let _alone = trace.hold()?;
    let all = trace.standing()?;
    if let Some(bundle) = coupled::of_change(&all, change) {
        trace.step(bundle.change, Phase::Forgotten)?;
    }
    match all.iter().any(|one| one.change == change) {
        true => trace.step(change, Phase::Forgotten),
        false => Ok(()),
    }
}

fn undone(world: &mut impl World, open: &Open, boot_id: &str, force: bool) -> End {
    let is_of_this_boot = open.boot_id == boot_id;
    if !open.outlives(boot_id) {
        return End::Vanished;
    }
    if is_of_this_boot && open.owner.is_alive() && !force {
        return End::UnderWay;
    }
    in_place(world, open, force)
}

/// Where it was made, if it is reached from here.
fn in_place(world: &mut impl World, open: &Open, force: bool) -> End {
    if let Err(why) = world.same(&open.key.place) {
        return End::Elsewhere(why);
    }
    match &open.undo {
        Undo::Command { line, directory } => match world.run(line, directory.as_deref()) {
            Ok(()) => End::Undone,
            Err(why) => End::Failed(why),
        },
        Undo::Write => written(world, open, force),
    }
}

fn written(world: &mut impl World, open: &Open, force: bool) -> End {
    let value = match world.read(&open.key) {
        Ok(value) => value,
        Err(why) => return End::Failed(why),
    };
    if value == open.old {
        return End::WasUndone;
    }
    // Without a read-back the process ended between the write and it: what is in force is what the driver made of it.
    let is_ours = open.effective.as_ref().is_none_or(|ours| *ours == value);
    if !is_ours && !force {
        return End::Foreign { value };
    }
    if let Err(why) = world.write(&open.key, &open.old) {
        return End::Failed(why);
    }
    match world.read(&open.key) {
        Ok(value) if value == open.old => End::Undone,
        Ok(value) => End::Differs { value },
        Err(why) => End::Failed(why),
    }
}
