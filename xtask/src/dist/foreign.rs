// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask foreign-tests [TARGET...]`: the unit tests of the crates that read and write bytes, for another processor, under
//! qemu-user. Without a target: big endian, and 32 bits where they run.

use std::process::Command;

use super::target::{TARGETS, Target};
use crate::tally::Tally;
use crate::{Outcome, build};

/// `foreign-tests [TARGET...]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let mut tally = Tally::default();
    let named = words.iter().map(|name| (*name, PACKAGES));
    let defaults = DEFAULT.iter().filter(|_| words.is_empty()).copied();
    for (name, packages) in named.chain(defaults) {
        let target = TARGETS.iter().find(|target| target.triple == name);
        let target = target.ok_or_else(|| format!("foreign-tests: no target {name}"))?;
        let what = format!("tests on {name}");
        match emulator(target) {
            Ok(emulator) => tally.check(&what, tests(target, packages, emulator)),
            Err(why) => tally.skip(&what, why),
        }
    }
    Ok(tally.close())
}

fn emulator(target: &Target) -> Result<&'static str, String> {
    if let Some(why) = target.missing() {
        return Err(why);
    }
    target.emulator()
}

/// cargo prints each test.
fn tests(target: &Target, packages: &[&str], emulator: &str) -> Result<String, String> {
    let mut cargo = Command::new(build::cargo());
    cargo.args(["test", "--quiet", "--no-fail-fast", "--lib"]);
    cargo.args(["--target", target.triple]);
    cargo.args(packages.iter().flat_map(|package| ["--package", package]));
    cargo.envs(target.test_environment(emulator));
    let status = cargo
        .status()
        .map_err(|why| format!("start cargo: {why}"))?;
    match status.success() {
        true => Ok(packages.join(", ")),
        false => Err(format!("cargo test ended with {status}")),
    }
}

/// 32 bits and big endian at once; but qemu 7.2 refuses an instruction of glibc's `exp` there (`mffscrni`, which such a processor
/// executes as `mffs`), so what computes runs with 64 bits.
const DEFAULT: &[(&str, &[&str])] = &[
    (
        "powerpc-unknown-linux-gnu",
        &["linerate-wire", "linerate-model", "linerate-diagnose"],
    ),
    ("s390x-unknown-linux-gnu", &["linerate-method"]),
];

/// What has no system call, and so must not depend on the processor.
const PACKAGES: &[&str] = &[
    "linerate-wire",
    "linerate-model",
    "linerate-method",
    "linerate-diagnose",
];
