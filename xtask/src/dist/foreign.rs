// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask foreign-tests [--short] [TARGET...]`: the unit tests of the crates that read and write bytes, for another
//! processor, under qemu-user. Without a target: big endian with 32 and 64 bits, and 32 bits little endian; `--short` is the
//! part for CI.

use std::process::Command;

use super::target::{TARGETS, Target};
use crate::tally::Tally;
use crate::{Outcome, build};

/// `foreign-tests [--short] [TARGET...]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let named: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| *word != SHORT)
        .collect();
    let short = words.contains(&SHORT);
    let mut tally = Tally::default();
    let mut has_run = false;
    for set in sets(&named, short)? {
        let what = format!("{} on {}", set.packages.join(", "), set.target.triple);
        match emulator(&set) {
            Ok(emulator) => {
                has_run = true;
                tally.check(&what, tests(&set, &emulator));
            }
            Err(why) => tally.skip(&what, why),
        }
    }
    // CI goes on where the emulator cannot be had.
    Ok(tally.close() || (short && !has_run))
}

const SHORT: &str = "--short";

/// Packages for one target.
struct Set {
    target: &'static Target,
    packages: &'static [&'static str],
    /// The oldest qemu that runs them, and what older ones lack.
    needs: Option<(u32, &'static str)>,
}

fn sets(named: &[&str], short: bool) -> Result<Vec<Set>, String> {
    let all = |triple: &str, packages| {
        let target = TARGETS.iter().find(|target| target.triple == triple);
        let target = target.ok_or_else(|| format!("foreign-tests: no target {triple}"))?;
        Ok(of_target(target, packages))
    };
    let sets: Result<Vec<_>, String> = match named {
        [] if short => SHORT_SETS
            .iter()
            .map(|(name, packages)| all(name, packages))
            .collect(),
        [] => DEFAULT.iter().map(|name| all(name, PACKAGES)).collect(),
        named => named.iter().map(|name| all(name, PACKAGES)).collect(),
    };
    Ok(sets?.into_iter().flatten().collect())
}

/// What needs a newer emulator is a set of its own.
fn of_target(target: &'static Target, packages: &'static [&'static str]) -> Vec<Set> {
    let set = |packages, needs| Set {
        target,
        packages,
        needs,
    };
    if target.triple.starts_with("powerpc-") && packages.contains(&COMPUTES[0]) {
        return vec![set(PARSES, None), set(COMPUTES, Some(POWERPC_EXP))];
    }
    vec![set(packages, None)]
}

/// The newest that is installed.
fn emulator(set: &Set) -> Result<String, String> {
    if let Some(why) = set.target.missing() {
        return Err(why);
    }
    let first = set.target.emulator()?;
    let installed = set.target.emulators.iter().copied();
    let installed = installed.filter(|program| build::has_program(program));
    let newest = installed
        .max_by_key(|program| version(program))
        .unwrap_or(first);
    match (set.needs, version(newest)) {
        (Some((least, lacks)), version) if version < least => {
            Err(format!("{newest} is version {version}: {lacks}"))
        }
        _ => Ok(newest.to_owned()),
    }
}

/// The first number of `qemu-ppc version 10.0.2 (Debian …)`.
fn version(emulator: &str) -> u32 {
    let output = Command::new(emulator).arg("--version").output();
    let said = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    major(&String::from_utf8_lossy(&said))
}

fn major(said: &str) -> u32 {
    let number = said.split_once("version ").map_or("", |(_, rest)| rest);
    let number = number.split('.').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

/// cargo prints each test.
fn tests(set: &Set, emulator: &str) -> Result<String, String> {
    let mut cargo = Command::new(build::cargo());
    cargo.args(["test", "--quiet", "--no-fail-fast", "--lib"]);
    cargo.args(["--target", set.target.triple]);
    cargo.args(set.target.options());
    cargo.args(
        set.packages
            .iter()
            .flat_map(|package| ["--package", package]),
    );
    cargo.envs(set.target.test_environment(emulator));
    let status = cargo
        .status()
        .map_err(|why| format!("start cargo: {why}"))?;
    match status.success() {
        true => Ok(format!("under {emulator}")),
        false => Err(format!("cargo test ended with {status}")),
    }
}

/// 32 bits and big endian at once; 64 bits and big endian; 32 bits.
const DEFAULT: &[&str] = &[
    "powerpc-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "i686-unknown-linux-musl",
];

/// What CI has time for.
const SHORT_SETS: &[(&str, &[&str])] = &[(
    "s390x-unknown-linux-gnu",
    &["linerate-wire", "linerate-model"],
)];

/// What has no system call, and so must not depend on the processor.
const PACKAGES: &[&str] = &[
    "linerate-wire",
    "linerate-model",
    "linerate-diagnose",
    "linerate-method",
];
const PARSES: &[&str] = &["linerate-wire", "linerate-model", "linerate-diagnose"];
const COMPUTES: &[&str] = &["linerate-method"];

/// glibc's `exp` on PowerPC; such a processor executes it as `mffs`.
const POWERPC_EXP: (u32, &str) = (
    10,
    "7.2 rejects the instruction `mffscrni`, 10.0 executes it (qemu-user of Debian's bookworm-backports)",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_an_emulator_is_read() {
        let said = "qemu-ppc version 10.0.2 (Debian 1:10.0.2+ds-2)\nCopyright (c) 2003-2024";
        assert_eq!(
            (major(said), major("qemu-s390x version 7.2.22"), major("")),
            (10, 7, 0)
        );
    }

    #[test]
    fn only_what_computes_waits_for_a_newer_emulator() {
        let needs = |triple: &str| -> Vec<(usize, bool)> {
            let sets = sets(&[triple], false).unwrap();
            let shown = sets.iter();
            shown
                .map(|set| (set.packages.len(), set.needs.is_some()))
                .collect()
        };
        assert_eq!(needs("powerpc-unknown-linux-gnu"), [(3, false), (1, true)]);
        assert_eq!(needs("s390x-unknown-linux-gnu"), [(4, false)]);
        assert!(sets(&["vax"], false).is_err());
    }

    #[test]
    fn every_set_is_of_a_known_target() {
        assert_eq!(sets(&[], true).unwrap().len(), 1);
        assert_eq!(sets(&[], false).unwrap().len(), 4);
    }
}
