// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask dist`: the static binaries that are shipped, and proof that they run.

mod check;
mod emulator;
pub(crate) mod foreign;
mod second;
mod target;
mod traces;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::build::{Binary, Place};
use crate::tally::Tally;
use crate::{Outcome, package};
pub(crate) use target::Names;
use target::{TARGETS, Target};
use traces::Traces;

/// An x86_64 binary must fit the flash of a small board: a larger one is refused; a larger one of another target is
/// reported. Much of it is what it knows (`knowledge/`).
const LIMIT_BYTES: u64 = 7 << 20;

/// `dist [--check] [--packages] [--reproducible] [--build] [TARGET...]`. With `--build`, what the others examine is
/// compiled and not examined.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let [check, packages, reproducible, only_build] = FLAGS.map(|flag| words.contains(&flag));
    let named: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !FLAGS.contains(word))
        .collect();
    if let Some(unknown) = named
        .iter()
        .find(|name| TARGETS.iter().all(|t| t.triple != **name))
    {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
        return Err(format!("dist: no target {unknown} (there are {})", known.join(", ")).into());
    }
    let wanted = |target: &&Target| match named.as_slice() {
        [] if reproducible && !packages => target.is_native(),
        [] => target.checked || !check,
        // Man pages and completions are what the native binary prints.
        named => named.contains(&target.triple) || (packages && target.is_native()),
    };
    let mut tally = Tally::default();
    let place = Place::here();
    let targets: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    let built = side_by_side(&targets, &place, check, &mut tally);
    if only_build {
        return Ok(tally.close());
    }
    if check {
        check::run(&built, &place.root, &mut tally);
    }
    if packages {
        package::run(&built, check, &mut tally);
    }
    if reproducible {
        second::run(&built, &place, &mut tally);
    }
    Ok(tally.close())
}

const FLAGS: [&str; 4] = ["--check", "--packages", "--reproducible", "--build"];

/// One target with its binary.
#[derive(Debug, Clone)]
pub(crate) struct Build {
    pub(crate) target: &'static Target,
    pub(crate) path: PathBuf,
    profile: &'static str,
}

/// What is built for `triple`.
pub(crate) fn target(triple: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.triple == triple)
}

/// Builds all, in their order; those of each profile next to the other's, which has directories of its own. While one
/// links, which takes a single processor, the other compiles.
fn side_by_side(
    targets: &[&'static Target],
    place: &Place,
    check: bool,
    tally: &mut Tally,
) -> Vec<Build> {
    let tally = Mutex::new(tally);
    let all = |native: bool| -> Vec<Build> {
        let all = targets.iter().copied();
        let of_these = all.filter(|target| target.is_native() == native);
        of_these
            .filter_map(|target| build(target, place, check, &tally))
            .collect()
    };
    let mut built = thread::scope(|scope| {
        let foreign = scope.spawn(|| all(false));
        let native = all(true);
        let foreign = foreign.join().unwrap_or_else(|panic| resume_unwind(panic));
        [native, foreign].concat()
    });
    built.sort_by_key(|build| {
        TARGETS
            .iter()
            .position(|one| one.triple == build.target.triple)
    });
    built
}

fn build(
    target: &'static Target,
    place: &Place,
    check: bool,
    tally: &Mutex<&mut Tally>,
) -> Option<Build> {
    let tally = || tally.lock().unwrap_or_else(PoisonError::into_inner);
    let what = format!("build of {}", target.triple);
    if let Some(why) = target.missing() {
        tally().skip(&what, why);
        return None;
    }
    // A shipped binary has every optimisation; a foreign one that a check runs once needs less.
    let profile = if check && !target.is_native() {
        "dist-check"
    } else {
        "dist"
    };
    let built = target.build(place, profile);
    let judged = built
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|binary| judge(target, place, profile, binary));
    tally().check(&what, judged);
    let path = built.ok()?.path;
    Some(Build {
        target,
        path,
        profile,
    })
}

/// Its size, and that it names no directory of this machine.
fn judge(target: &Target, place: &Place, profile: &str, binary: &Binary) -> Result<String, String> {
    let mib = binary.bytes as f64 / f64::from(1 << 20);
    let line = format!(
        "{mib:.2} MiB in profile {profile} ({:.0} s): {}",
        binary.took.as_secs_f64(),
        binary.path.display()
    );
    let bytes = std::fs::read(&binary.path).map_err(|why| format!("{line}: {why}"))?;
    Traces::of(place, &binary.path).absent(&bytes)?;
    let refused = profile == "dist" && target.triple.starts_with("x86_64");
    match binary.bytes > LIMIT_BYTES {
        true if refused => Err(format!("over 7 MiB: {line}")),
        true => Ok(format!("over 7 MiB: {line}")),
        false => Ok(line),
    }
}
