// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune persist`: files that make permanent what was kept.

use std::fs;
use std::io;
use std::path::Path;

use linerate_change::{
    Exclusive, Files, Kept, Open, Refusal, Surroundings, Taken, Written, persist,
};
use linerate_linux::setup;
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_model::output::{ChangeState, SettingChange};

use super::status::{self, change};
use super::{journal, shown, texts};
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

/// The system that the files configure: this host, or an image, which another host will boot.
pub(super) struct System(Option<String>);

impl System {
    /// That below a directory.
    ///
    /// # Errors
    /// There is no such directory, or its name is not UTF-8.
    pub(super) fn below(root: Option<&Path>) -> Result<Self, Failure> {
        let Some(root) = root else {
            return Ok(Self(None));
        };
        let what = || format!("write files below {}", root.display());
        let found = fs::canonicalize(root).and_then(|path| match path.is_dir() {
            true => Ok(path),
            false => Err(io::ErrorKind::NotADirectory.into()),
        });
        let path = found.map_err(|why| {
            let hint = "give the root directory of an image, or make an empty one: mkdir DIR";
            Failure::usage(what(), why).hint(hint)
        })?;
        match path.to_str() {
            Some("/") => Ok(Self(None)),
            Some(path) => Ok(Self(Some(path.to_owned()))),
            None => Err(Failure::usage(what(), "its name is not UTF-8")),
        }
    }

    fn files(&self) -> Files {
        match &self.0 {
            Some(root) => Files::of_image(root),
            None => Files::below(Path::new("/")),
        }
    }

    /// As far as it decides what goes where.
    fn surroundings(&self, kept: &[Kept]) -> Surroundings {
        let here = around(kept);
        match &self.0 {
            Some(root) => here.of_image(Path::new(root)),
            None => here,
        }
    }

    /// Whether a change is a file of it.
    fn has(&self, change: &SettingChange) -> bool {
        let root = self.0.as_deref().unwrap_or_default();
        let path = change.knob.strip_prefix("file ");
        path.map(|path| format!("{root}{path}")) == change.persisted_file && path.is_some()
    }

    fn said(&self, refusal: &Refusal) -> String {
        let below = self.0.as_ref().map(|root| format!(" below {root}"));
        let by_hand = refusal.by_hand.iter().map(|line| format!("; {line}"));
        format!(
            "not made permanent{}: {}{}",
            below.unwrap_or_default(),
            refusal.why,
            by_hand.collect::<String>()
        )
    }
}

/// Writes a file for each setting that was kept and is in force.
pub(super) fn run(root: Option<&Path>, flags: DocumentFlags) -> Result<Exit, Failure> {
    let system = System::below(root)?;
    let _alone = alone("linerate tune persist", "make changes permanent")?;
    let Persisted {
        changes,
        is_left,
        activates,
    } = persisted(&system)?;
    shown(changes, is_left, activates, flags)
}

/// The same, for a program that is alone already.
pub(super) fn persisted(system: &System) -> Result<Persisted, Failure> {
    let settings = latest(status::kept()?);
    if settings.is_empty() {
        let why = "nothing that was kept in this boot is in force";
        return Err(Failure::measuring("make changes permanent", why));
    }
    let kept: Vec<Kept> = settings.iter().map(Kept::of).collect();
    let (mut refused, mut activates) = (Vec::new(), Vec::new());
    for (open, ended) in settings.iter().zip(write(&kept, system)?) {
        match ended {
            Ok(written) => activates.extend(written.into_iter().flat_map(|one| one.activates)),
            Err(refusal) => {
                refused.push(change(open, ChangeState::Kept, Some(system.said(&refusal))))
            }
        }
    }
    let is_left = !refused.is_empty();
    let mut changes = status::status()?;
    changes.retain(|one| system.has(one));
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
fn write(kept: &[Kept], system: &System) -> Result<Vec<Result<Vec<Written>, Refusal>>, Failure> {
    let (mut journal, mut files) = (journal()?, system.files());
    let planned = persist(kept, &system.surroundings(kept)).into_iter();
    let each = planned.zip(kept).map(|(planned, kept)| match planned {
        Ok(planned) => linerate_change::write(&mut journal, &mut files, kept, &planned)
            .map_err(|error| Failure::measuring("make changes permanent", error)),
        Err(refusal) => Ok(Err(refusal)),
    });
    each.collect()
}

/// This machine, as far as it decides what goes where.
fn around(kept: &[Kept]) -> Surroundings {
    let interfaces = kept.iter().filter_map(|one| texts::interface(&one.key));
    let interfaces: Vec<String> = interfaces.collect();
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
pub(in crate::cli) fn alone(who: &str, what: &str) -> Result<Exclusive, Failure> {
    let taken = |taken: Taken| Failure::measuring(what, taken).hint("wait until it has ended");
    journal()?.exclusive(who).map_err(taken)
}
