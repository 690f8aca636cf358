// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs tests in a sandbox that the process enters before any thread exists, as the standard harness
//! cannot; where namespaces are forbidden they are printed as skipped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use linerate_linux::sandbox::{self, Privilege};

/// Each with its name.
pub(crate) type Tests = [(&'static str, fn())];

/// Enters a sandbox, with one kind of privilege or any, and runs `inside` there. `--list` prints the names only.
pub(crate) fn enter(
    tests: &Tests,
    privilege: Option<Privilege>,
    inside: impl FnOnce(Privilege) -> ExitCode,
) -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    match sandbox::enter(privilege) {
        Ok(privilege) => inside(privilege),
        Err(refusal) => skip(tests, &format!("{refusal}; {}", refusal.remedy())),
    }
}

pub(crate) fn skip(tests: &Tests, why: &str) -> ExitCode {
    println!("skipped: {} tests: {why}", tests.len());
    ExitCode::SUCCESS
}

/// Runs those tests whose name contains the first argument, one after the other.
pub(crate) fn run(tests: &Tests, privilege: Privilege) -> ExitCode {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let chosen = tests
        .iter()
        .filter(|(name, _)| filter.as_ref().is_none_or(|f| name.contains(f)));
    let mut failed = 0;
    for (name, test) in chosen {
        let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
        let verdict = if passed { "ok" } else { "FAILED" };
        println!("test {privilege:?}::{name} ... {verdict}");
        failed += u8::from(!passed);
    }
    ExitCode::from(failed.min(1))
}
