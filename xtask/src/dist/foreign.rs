// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask foreign-tests [--short] [TARGET...]`: the unit tests of the crates that read and write bytes, for another
//! processor, under qemu-user, or on this one where it runs them. Without a target: big endian with 32 and 64 bits, and 32
//! bits little endian; `--short` is the part for CI.

use std::path::Path;
use std::process::Command;

use super::emulator;
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
        match runner(&set) {
            Ok(emulator) => {
                has_run = true;
                tally.check(&what, tests(&set, emulator.as_deref()));
            }
            Err(why) => tally.skip(&what, why),
        }
    }
    if named.is_empty() && !short {
        for (what, why) in NOT_HAD {
            tally.skip(what, why);
        }
    }
    // CI continues where no emulator is available.
    Ok(tally.close() || (short && !has_run))
}

const SHORT: &str = "--short";

/// Packages for one target.
struct Set {
    target: &'static Target,
    packages: Vec<&'static str>,
    /// The oldest qemu that runs them, and what older ones lack.
    needs: Option<(u32, &'static str)>,
}

fn sets(named: &[&str], short: bool) -> Result<Vec<Set>, String> {
    let wanted: Vec<(&str, &'static [&'static str])> = match named {
        [] if short => SHORT_SETS.to_vec(),
        [] => DEFAULT.to_vec(),
        named => named.iter().flat_map(|name| rows(name)).collect(),
    };
    let of = |(triple, packages): (&str, _)| {
        let target = TARGETS.iter().find(|target| target.triple == triple);
        let target = target.ok_or_else(|| format!("foreign-tests: no target {triple}"))?;
        Ok(of_target(target, packages))
    };
    let sets: Result<Vec<_>, String> = wanted.into_iter().map(of).collect();
    Ok(sets?.into_iter().flatten().collect())
}

/// What is run where a target is named.
fn rows(triple: &str) -> Vec<(&str, &'static [&'static str])> {
    let known = DEFAULT.iter().filter(|(name, _)| *name == triple);
    let known: Vec<_> = known.copied().collect();
    match known.is_empty() {
        true => vec![(triple, COMPUTES)],
        false => known,
    }
}

/// What needs a newer emulator is a set of its own.
fn of_target(target: &'static Target, packages: &[&'static str]) -> Vec<Set> {
    let is_powerpc = target.triple.starts_with("powerpc-");
    let (newer, any): (Vec<_>, Vec<_>) = packages
        .iter()
        .copied()
        .partition(|package| is_powerpc && *package == USES_EXP);
    let set = |packages: Vec<&'static str>, needs| Set {
        target,
        packages,
        needs,
    };
    let sets = [set(any, None), set(newer, Some(POWERPC_EXP))];
    sets.into_iter()
        .filter(|set| !set.packages.is_empty())
        .collect()
}

/// What runs the tests: this machine, or the newest emulator that is installed.
fn runner(set: &Set) -> Result<Option<String>, String> {
    if let Some(why) = set.target.missing() {
        return Err(why);
    }
    match runs_here(set.target.triple) {
        true => Ok(None),
        false => emulator(set).map(Some),
    }
}

/// Whether this processor and this kernel run 32-bit programs of the same family (CONFIG_IA32_EMULATION has this switch).
fn runs_here(triple: &str) -> bool {
    triple.starts_with("i686-")
        && cfg!(target_arch = "x86_64")
        && Path::new("/proc/sys/abi/vsyscall32").exists()
}

/// The newest that is installed, if it is new enough.
fn emulator(set: &Set) -> Result<String, String> {
    let newest = set.target.emulator()?;
    match (set.needs, emulator::version(newest)) {
        (Some((least, lacks)), version) if version < least => {
            Err(format!("{newest} is version {version}: {lacks}"))
        }
        _ => Ok(newest.to_owned()),
    }
}

/// cargo prints each test.
fn tests(set: &Set, emulator: Option<&str>) -> Result<String, String> {
    let mut cargo = Command::new(build::cargo());
    cargo.args(["test", "--quiet", "--no-fail-fast", "--lib"]);
    cargo.args(["--target", set.target.triple]);
    // A directory of its own: whoever stops this while it compiles would stop all who wait for its lock.
    cargo.args(["--target-dir", "target/foreign"]);
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
        true => Ok(emulator.map_or("on this machine".to_owned(), |name| format!("under {name}"))),
        false => Err(format!("cargo test ended with {status}")),
    }
}

/// 32 bits and big endian at once, twice; 64 bits and big endian; 32 bits.
const DEFAULT: &[(&str, &[&str])] = &[
    ("powerpc-unknown-linux-gnu", COMPUTES),
    ("mips-unknown-linux-gnu", COMPUTES),
    ("mips-unknown-linux-gnu", ACCOUNTS),
    ("s390x-unknown-linux-gnu", COMPUTES),
    ("s390x-unknown-linux-gnu", ACCOUNTS),
    ("i686-unknown-linux-musl", COMPUTES),
    ("i686-unknown-linux-musl", ACCOUNTS),
    ("i686-unknown-linux-musl", CALLS),
];

/// What CI has time for.
const SHORT_SETS: &[(&str, &[&str])] = &[
    ("s390x-unknown-linux-gnu", SMALL),
    ("i686-unknown-linux-musl", SMALL),
];

const SMALL: &[&str] = &["linerate-wire", "linerate-model"];

/// What has no system call, and so must not depend on the processor.
const COMPUTES: &[&str] = &[
    "linerate-wire",
    "linerate-model",
    "linerate-wording",
    "linerate-knowledge",
    "linerate-registers",
    "linerate-paste",
    "linerate-diagnose",
    "linerate-report",
    USES_EXP,
];
const USES_EXP: &str = "linerate-method";

/// Streams, ports and their accounts, with those system calls that an emulator has.
const ACCOUNTS: &[&str] = &["linerate-endpoint", "linerate-forward"];

/// Every system call.
const CALLS: &[&str] = &["linerate-linux"];

/// What was tried and cannot be had.
const NOT_HAD: &[(&str, &str)] = &[(
    "linerate-linux on s390x-unknown-linux-gnu",
    "88 of 93 tests pass; qemu-user 7.2 refuses requests for qdiscs and of ethtool, and opens /proc/self/exe as a file",
)];

/// glibc's `exp` on PowerPC; such a processor executes it as `mffs`.
const POWERPC_EXP: (u32, &str) = (
    10,
    "7.2 rejects the instruction `mffscrni`, 10.0 executes it (qemu-user of Debian's bookworm-backports)",
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Packages of each set, and whether it waits for a newer emulator.
    fn counts(named: &[&str], short: bool) -> Vec<(usize, bool)> {
        let sets = sets(named, short).unwrap();
        let count = |set: &Set| (set.packages.len(), set.needs.is_some());
        sets.iter().map(count).collect()
    }

    #[test]
    fn only_what_uses_exp_waits_for_a_newer_emulator() {
        let all = COMPUTES.len();
        assert_eq!(
            counts(&["powerpc-unknown-linux-gnu"], false),
            [(all - 1, false), (1, true)]
        );
        assert_eq!(
            counts(&["s390x-unknown-linux-gnu"], false),
            [(all, false), (ACCOUNTS.len(), false)]
        );
        assert!(sets(&["vax"], false).is_err());
    }

    #[test]
    fn what_calls_the_kernel_is_run_for_32_bits_of_the_same_family() {
        let all = [COMPUTES, ACCOUNTS, CALLS].map(|packages| (packages.len(), false));
        assert_eq!(counts(&["i686-unknown-linux-musl"], false), all);
        // Without a row of its own.
        let other = counts(&["powerpc64le-unknown-linux-gnu"], false);
        assert_eq!(other, [(COMPUTES.len(), false)]);
    }

    #[test]
    fn every_set_is_of_a_known_target() {
        assert_eq!(counts(&[], true), [(2, false), (2, false)]);
        assert_eq!(counts(&[], false).len(), 9);
    }
}
