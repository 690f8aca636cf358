// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks as they end: each is printed, a skipped one with its reason, and all are counted.

use std::fmt::Display;

/// Counts of what was checked.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl Tally {
    /// Prints and counts one check.
    pub(crate) fn check(&mut self, what: &str, result: Result<String, String>) {
        match result {
            Ok(detail) => {
                self.passed += 1;
                println!("passed: {what}: {detail}");
            }
            Err(why) => {
                self.failed += 1;
                println!("failed: {what}: {why}");
            }
        }
    }

    /// Prints and counts one check that could not be made.
    pub(crate) fn skip(&mut self, what: &str, why: impl Display) {
        self.skipped += 1;
        println!("skipped: {what}: {why}");
    }

    /// Whether a check failed so far.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// Prints the counts; whether nothing failed and something passed.
    pub(crate) fn close(self) -> bool {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        failed == 0 && passed > 0
    }
}
