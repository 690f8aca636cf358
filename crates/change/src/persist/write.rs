// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the files: each is a change in the journal, as those of settings are, and kept.

use std::io;

use super::files::Files;
use super::{DropIn, Kept, Refusal};
use crate::apply::{Outcome, apply};
use crate::entry::{Change, Key, Phase, Undo};
use crate::journal::{JournalError, Trace};
use crate::world::World;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its absolute path in the system that it configures.
    pub path: String,
    /// Commands after which it is effective without a reboot; none in an image.
    pub activates: Vec<String>,
    /// The command that removes it.
    pub removes: String,
}

/// Writes the files of one change, all or none.
///
/// # Errors
/// The journal cannot be written: then a file that was written is open in it.
pub fn write(
    trace: &mut impl Trace,
    world: &mut Files,
    kept: &Kept,
    files: &[DropIn],
) -> Result<Result<Vec<Written>, Refusal>, JournalError> {
    // No boot of this host reads those of an image.
    if !trace.is_lasting() && !world.is_of_image() {
        let why = "the journal is in memory: after a power cut it could not be removed";
        return Ok(Err(Refusal::new(why)));
    }
    let mut numbers = Vec::new();
    for file in files {
        match one(trace, world, kept, file)? {
            Ok(number) => numbers.extend(number),
            Err(refusal) => {
                for number in numbers.into_iter().rev() {
                    crate::restore_one(trace, world, number)?;
                }
                return Ok(Err(refusal));
            }
        }
    }
    for number in numbers {
        trace.step(number, Phase::Kept)?;
    }
    let written = files.iter().map(|file| written(file, world));
    Ok(Ok(written.collect()))
}

fn written(file: &DropIn, world: &Files) -> Written {
    let activates = match world.is_of_image() {
        true => Vec::new(),
        false => file.activates.clone(),
    };
    Written {
        path: file.path.clone(),
        activates,
        removes: file.removes.clone(),
    }
}

/// The change's number; nothing where the file is there already.
fn one(
    trace: &mut impl Trace,
    world: &mut Files,
    kept: &Kept,
    file: &DropIn,
) -> Result<Result<Option<u64>, Refusal>, JournalError> {
    let key = world.key(&file.path);
    let path = key.file().unwrap_or_default();
    let refused = |why: &io::Error| Refusal::new(format!("{path}: {why}"));
    let there = match world.read(&key) {
        Ok(there) => there,
        Err(why) => return Ok(Err(refused(&why))),
    };
    if !there.is_empty() && !is_known(trace, &there, &key)? {
        let why = io::Error::other("it exists, and is not what linerate wrote: not overwritten");
        return Ok(Err(refused(&why)));
    }
    if settings(&there).eq(settings(&file.content)) {
        return Ok(Ok(None));
    }
    let change = Change {
        key,
        new: file.content.clone(),
        undo: Undo::Write,
        because: kept.because.clone(),
    };
    Ok(match apply(trace, world, change)? {
        Outcome::Applied { change, .. } => Ok(Some(change)),
        Outcome::Half { change, why } => {
            crate::restore_one(trace, world, change)?;
            Err(refused(&why))
        }
        Outcome::Refused(why) | Outcome::Unreadable(why) => Err(refused(&why)),
        Outcome::InForce => Ok(None),
        Outcome::Ineffective => Err(refused(&io::Error::other("it could not be written"))),
    })
}

/// Without the comments, which have the date.
fn settings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// Whether the journal has this content as what was written.
fn is_known(trace: &impl Trace, there: &str, key: &Key) -> Result<bool, JournalError> {
    let standing = trace.standing()?;
    let mut own = standing.iter().filter(|one| one.key == *key);
    Ok(own.any(|one| one.effective.as_deref() == Some(there)))
}
