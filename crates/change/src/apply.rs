// SPDX-License-Identifier: MIT OR Apache-2.0
//! One change: read, journal, write, read back, journal.

use std::io;

use crate::coupled;
use crate::entry::{Change, Phase};
use crate::journal::{JournalError, Trace};
use crate::owner::Owner;
use crate::world::World;

/// What became of a change.
#[derive(Debug)]
pub enum Outcome {
    /// It is in force, and open in the journal under this number.
    Applied {
        /// The number.
        change: u64,
        /// What was in force before.
        old: String,
        /// What is in force now; not always what was written.
        effective: String,
    },
    /// This value was in force already.
    InForce,
    /// The write was accepted, and the old value is still in force.
    Ineffective,
    /// The old value cannot be read: it could not be restored.
    Unreadable(io::Error),
    /// The write was refused, and nothing changed.
    Refused(io::Error),
    /// The write was refused, and the value is another: it is open in the journal under this number.
    Half {
        /// The number.
        change: u64,
        /// Why it was refused.
        why: io::Error,
    },
}

/// Makes a change. It is in the journal before it is made: after a crash at any moment [`crate::restore()`] undoes it.
///
/// # Errors
/// The journal cannot be written. Then nothing was changed, or what was changed is open in the journal.
pub fn apply(
    trace: &mut impl Trace,
    world: &mut impl World,
    change: Change,
) -> Result<Outcome, JournalError> {
    let old = match world.read(&change.key) {
        Ok(old) => old,
        Err(why) => return Ok(Outcome::Unreadable(why)),
    };
    if old == change.new {
        return Ok(Outcome::InForce);
    }
    let coupled = coupled::begin(trace, world, &change.key)?;
    let number = trace.begin(Phase::Intended {
        key: change.key.clone(),
        old: old.clone(),
        new: change.new.clone(),
        undo: change.undo,
        because: change.because,
        owner: Owner::this(),
    })?;
    let written = world.write(&change.key, &change.new);
    let effective = world.read(&change.key).unwrap_or_default();
    if effective == old {
        trace.step(number, Phase::Restored)?;
        coupled.map_or(Ok(()), |coupled| undo(trace, world, coupled))?;
        return Ok(written.map_or_else(Outcome::Refused, |()| Outcome::Ineffective));
    }
    trace.step(
        number,
        Phase::Applied {
            effective: effective.clone(),
        },
    )?;
    Ok(match written {
        Ok(()) => Outcome::Applied {
            change: number,
            old,
            effective,
        },
        Err(why) => Outcome::Half {
            change: number,
            why,
        },
    })
}

/// Nothing changed, and what is coupled should not have either.
fn undo(trace: &mut impl Trace, world: &mut impl World, coupled: u64) -> Result<(), JournalError> {
    let all = trace.open()?;
    let bundle = all.iter().find(|open| open.change == coupled);
    bundle.map_or(Ok(()), |bundle| {
        coupled::restore(trace, world, bundle).map(drop)
    })
}
