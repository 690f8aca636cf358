// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs tests in a sandbox that the process enters before any thread exists, as the standard harness
//! cannot; where namespaces are forbidden they are printed as skipped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use linerate_linux::sandbox;

/// Runs those tests whose name contains the first argument, one after the other.
pub(crate) fn run(tests: &[(&str, fn())]) -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if let Err(refusal) = sandbox::enter(None) {
        println!(
            "skipped: {} tests: {refusal}; {}",
            tests.len(),
            refusal.remedy()
        );
        return ExitCode::SUCCESS;
    }
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let mut failed = 0;
    for (name, test) in tests
        .iter()
        .filter(|(name, _)| filter.as_ref().is_none_or(|f| name.contains(f)))
    {
        let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u8::from(!passed);
    }
    ExitCode::from(failed.min(1))
}
