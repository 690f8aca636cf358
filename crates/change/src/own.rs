// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undoes changes of one process, which may still run.

use crate::journal::{JournalError, Trace};
use crate::open::Open;
use crate::owner::Owner;
use crate::restore::{End, Restored, restore_one};
use crate::world::World;

/// Undoes the changes of `owner` for which `which` holds, and later ones of the same settings, the last one first.
///
/// # Errors
/// The journal cannot be read or written: what was undone before is undone all the same.
pub(crate) fn restore_own(
    trace: &mut impl Trace,
    world: &mut impl World,
    owner: Owner,
    which: &dyn Fn(u64) -> bool,
) -> Result<Vec<Restored>, JournalError> {
    let mut all: Vec<Restored> = Vec::new();
    for open in chosen(trace.open()?, owner, which) {
        let left = |later: &Restored| later.open.key == open.key && !later.end.is_closed();
        let end = match all.iter().any(left) {
            true => End::AfterAnother,
            false => restore_one(trace, world, open.change)?,
        };
        all.push(Restored { open, end });
    }
    Ok(all)
}

/// The last one first.
fn chosen(mut all: Vec<Open>, owner: Owner, which: &dyn Fn(u64) -> bool) -> Vec<Open> {
    all.retain(|open| open.owner == owner);
    let wanted: Vec<_> = all
        .iter()
        .filter(|open| which(open.change))
        .map(|open| (open.change, open.key.clone()))
        .collect();
    all.retain(|open| {
        let follows = |(change, key): &(u64, _)| *key == open.key && *change <= open.change;
        wanted.iter().any(follows)
    });
    all.reverse();
    all
}
