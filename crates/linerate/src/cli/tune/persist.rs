// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune persist`: files that make permanent what was kept.

use std::path::Path;

use linerate_change::{
    Exclusive, Files, Journal, Kept, Open, Place, Refusal, Surroundings, Taken, Written, persist,
};
use linerate_linux::setup;
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_model::output::{ChangeState, SettingChange};

use super::status::{self, change};
use super::{journal, shown};
use crate::cli::args::DocumentFlags;
use crate::exit::Exit;

/// What became of settings that were to be made permanent.
pub(super) struct Persisted {
    /// Those that have a file, and those that cannot have one, with the reason.
    pub(super) changes: Vec<SettingChange>,
    /// Whether there are such.
    pub(super) is_left: bool,
    /// What makes the files count before the next boot.
    pub(super) activates: Vec<String>,
}

/// Writes a file for each setting that was kept and is in force.
pub(super) fn run(flags: DocumentFlags) -> Result<Exit, Failure> {
    let _alone = alone("linerate tune persist", "make changes permanent")?;
    let Persisted {
        changes,
        is_left,
        activates,
    } = persisted()?;
    shown(changes, is_left, activates, flags)
}

/// The same, for a program that is alone already.
pub(super) fn persisted() -> Result<Persisted, Failure> {
    let settings = latest(status::kept()?);
    if settings.is_empty() {
        let why = "nothing that was kept in this boot is in force";
        return Err(Failure::measuring("make changes permanent", why));
    }
    let kept: Vec<Kept> = settings.iter().map(Kept::of).collect();
    let (mut refused, mut activates) = (Vec::new(), Vec::new());
    for (open, ended) in settings.iter().zip(write(&kept)?) {
        match ended {
            Ok(written) => activates.extend(written.into_iter().flat_map(|one| one.activates)),
            Err(refusal) => refused.push(change(open, ChangeState::Kept, Some(said(&refusal)))),
        }
    }
    let is_left = !refused.is_empty();
    let mut changes = status::status()?;
    changes.retain(|one: &SettingChange| one.persisted_file.is_some());
    changes.extend(refused);
    Ok(Persisted {
        changes,
        is_left,
        activates: unique(activates),
    })
}

/// Makes changes permanent: for each its files, or why there is none.
///
/// # Errors
/// The journal cannot be written: then a file that was written is open in it.
pub(in crate::cli) fn write(kept: &[Kept]) -> Result<Vec<Result<Vec<Written>, Refusal>>, Failure> {
    let mut journal = journal()?;
    let planned = persist(kept, &around(kept)).into_iter().zip(kept);
    let each = planned.map(|(planned, kept)| match planned {
        Ok(files) => one(&mut journal, kept, &files),
        Err(refusal) => Ok(Err(refusal)),
    });
    each.collect()
}

fn one(
    journal: &mut Journal,
    kept: &Kept,
    files: &[linerate_change::DropIn],
) -> Result<Result<Vec<Written>, Refusal>, Failure> {
    let mut etc = Files::below(Path::new("/"));
    linerate_change::write(journal, &mut etc, kept, files)
        .map_err(|error| Failure::measuring("make changes permanent", error))
}

/// This machine, as far as it decides what goes where.
fn around(kept: &[Kept]) -> Surroundings {
    let interface = |one: &Kept| match &one.key.place {
        Place::Interface { device, .. } => Some(device.name.clone()),
        Place::Host | Place::Namespace { .. } => None,
    };
    let interfaces: Vec<String> = kept.iter().filter_map(interface).collect();
    let programs = setup::programs().values.into_iter().map(|(name, _)| name);
    Surroundings {
        date: Date::at(linerate_linux::clock::wall_ns())
            .second()
            .to_string(),
        ..Surroundings::read(Path::new("/"), &interfaces, programs.collect())
    }
}

/// The last change of each setting; files are no settings.
fn latest(all: Vec<Open>) -> Vec<Open> {
    let mut latest: Vec<Open> = Vec::new();
    for one in all.into_iter().filter(|one| one.key.is_volatile()) {
        latest.retain(|earlier| earlier.key != one.key);
        latest.push(one);
    }
    latest
}

fn said(refusal: &Refusal) -> String {
    let by_hand = refusal.by_hand.iter().map(|line| format!("; {line}"));
    format!(
        "not made permanent: {}{}",
        refusal.why,
        by_hand.collect::<String>()
    )
}

fn unique(commands: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for command in commands {
        if !all.contains(&command) {
            all.push(command);
        }
    }
    all
}

/// As long as it lives, no other program changes settings in turns.
///
/// # Errors
/// Another one does.
pub(super) fn alone(who: &str, what: &str) -> Result<Exclusive, Failure> {
    let taken = |taken: Taken| Failure::measuring(what, taken).hint("wait until it has ended");
    journal()?.exclusive(who).map_err(taken)
}
