// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask foreign-tests [TARGET...]`: the unit tests of the crates that read and write bytes, for another processor, under
//! qemu-user. Without a target: 32 bits, big endian.

use std::process::Command;

use super::target::{TARGETS, Target};
use crate::tally::Tally;
use crate::{Outcome, build};

/// `foreign-tests [TARGET...]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let mut tally = Tally::default();
    let named = if words.is_empty() { DEFAULT } else { words };
    for name in named {
        let target = TARGETS.iter().find(|target| target.triple == *name);
        let target = target.ok_or_else(|| format!("foreign-tests: no target {name}"))?;
        let what = format!("tests on {name}");
        match emulator(target) {
            Ok(emulator) => tally.check(&what, tests(target, emulator)),
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
fn tests(target: &Target, emulator: &str) -> Result<String, String> {
    let mut cargo = Command::new(build::cargo());
    cargo.args(["test", "--quiet", "--lib", "--target", target.triple]);
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    cargo.envs(target.test_environment(emulator));
    let status = cargo
        .status()
        .map_err(|why| format!("start cargo: {why}"))?;
    match status.success() {
        true => Ok(PACKAGES.join(", ")),
        false => Err(format!("cargo test ended with {status}")),
    }
}

const DEFAULT: &[&str] = &["powerpc-unknown-linux-gnu"];

/// What has no system call, and so must not depend on the processor.
const PACKAGES: &[&str] = &[
    "linerate-wire",
    "linerate-model",
    "linerate-method",
    "linerate-diagnose",
];
