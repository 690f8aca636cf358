// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask dist`: the static binaries that are given away, and proof that they run.

mod check;
mod target;

use std::path::PathBuf;

use crate::tally::Tally;
use crate::{Outcome, package};
pub(crate) use target::Names;
use target::{TARGETS, Target};

/// An x86_64 binary must fit the flash of a small board: a larger one is refused; a larger one of another target is
/// reported. Much of it is what it knows (`knowledge/`).
const LIMIT_BYTES: u64 = 8 << 20;

/// `dist [--check] [--packages] [TARGET...]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let check = words.contains(&"--check");
    let packages = words.contains(&"--packages");
    let named: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !["--check", "--packages"].contains(word))
        .collect();
    if let Some(unknown) = named
        .iter()
        .find(|name| TARGETS.iter().all(|t| t.triple != **name))
    {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
        return Err(format!("dist: no target {unknown} (there are {})", known.join(", ")).into());
    }
    let wanted = |target: &&Target| match named.as_slice() {
        [] => target.checked || !check,
        // Man pages and completions are what the native binary prints.
        named => named.contains(&target.triple) || (packages && target.is_native()),
    };
    let mut tally = Tally::default();
    let built: Vec<Build> = TARGETS
        .iter()
        .filter(wanted)
        .filter_map(|t| build(t, check, &mut tally))
        .collect();
    if check {
        check::run(&built, &mut tally);
    }
    if packages {
        package::run(&built, check, &mut tally);
    }
    Ok(tally.close())
}

/// One target with its binary.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) target: &'static Target,
    pub(crate) path: PathBuf,
}

/// What is built for `triple`.
pub(crate) fn target(triple: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.triple == triple)
}

fn build(target: &'static Target, check: bool, tally: &mut Tally) -> Option<Build> {
    let what = format!("build of {}", target.triple);
    if let Some(why) = target.missing() {
        tally.skip(&what, why);
        return None;
    }
    // What is given away has every optimisation; a foreign one that each check runs once needs less.
    let profile = if check && target.checked && !target.is_native() {
        "dist-check"
    } else {
        "dist"
    };
    let built = target.build(profile);
    tally.check(
        &what,
        built.clone().and_then(|binary| {
            let mib = binary.bytes as f64 / f64::from(1 << 20);
            let line = format!(
                "{mib:.2} MiB in profile {profile} ({:.0} s): {}",
                binary.took.as_secs_f64(),
                binary.path.display()
            );
            let refused = profile == "dist" && target.triple.starts_with("x86_64");
            match binary.bytes > LIMIT_BYTES {
                true if refused => Err(format!("over 8 MiB: {line}")),
                true => Ok(format!("over 8 MiB: {line}")),
                false => Ok(line),
            }
        }),
    );
    let path = built.ok()?.path;
    Some(Build { target, path })
}
