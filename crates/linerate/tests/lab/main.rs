// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab, for real: every topology, wire and fault, with packets through it.
//!
//! libtest starts threads, and a process with threads cannot enter a user namespace: so this
//! harness is its own. As libtest does, it answers `--list` and takes a name to filter by.
//! Without namespaces every test is printed and counted as skipped.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]

mod commands;
mod endings;
mod faults;
mod role;
mod topologies;
mod traffic;
mod verdict;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use linerate_lab::Isolation;
use linerate_linux::sandbox::Privilege;
use verdict::{Outcome, Verdict};

/// A name and what to do on the isolation that there is.
type Test = (&'static str, fn(&Isolation) -> Outcome);

fn main() -> ExitCode {
    if let Some(role) = std::env::var_os(role::VARIABLE) {
        return role::play(&role);
    }
    let tests: Vec<Test> = [
        topologies::TESTS,
        wire::TESTS,
        faults::TESTS,
        endings::TESTS,
        commands::TESTS,
    ]
    .concat();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let filter = words.iter().find(|word| !word.starts_with('-'));
    let chosen = tests
        .into_iter()
        .filter(|(name, _)| filter.is_none_or(|part| name.contains(part)));
    if words.iter().any(|word| word == "--list") {
        chosen.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let user = std::env::var_os("LINERATE_TEST_USER_NAMESPACE").is_some();
    let isolation = Isolation::enter_with(user.then_some(Privilege::UserNamespace));
    println!("isolation: {isolation}");
    run(&isolation, chosen)
}

fn run(isolation: &Isolation, tests: impl Iterator<Item = Test>) -> ExitCode {
    let [mut passed, mut failed, mut skipped] = [0, 0, 0];
    for (name, test) in tests {
        let outcome = match isolation {
            Isolation::Namespaces(_) => catch_unwind(AssertUnwindSafe(|| test(isolation)))
                .unwrap_or_else(|_| Err(Verdict::Failed("panicked".to_owned()))),
            Isolation::Loopback { because } => Err(Verdict::Skipped(because.to_string())),
        };
        let (count, word) = match outcome {
            Ok(()) => (&mut passed, "ok".to_owned()),
            Err(Verdict::Skipped(why)) => (&mut skipped, format!("skipped: {why}")),
            Err(Verdict::Failed(why)) => (&mut failed, format!("FAILED: {why}")),
        };
        *count += 1;
        println!("test {name} ... {word}");
    }
    println!("test result: {passed} passed; {failed} failed; {skipped} skipped");
    ExitCode::from(u8::from(failed > 0))
}
