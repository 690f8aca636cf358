// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same tests as what the process is, which for root means with its rights, and in a user namespace, without them.

use std::process::{Command, ExitCode};

use linerate_linux::sandbox::Privilege;

use crate::sandboxed::{Tests, enter};

/// As [`enter`]; the second time in a process of its own, which ends first.
pub(crate) fn enter_twice(tests: &Tests, inside: impl FnOnce(Privilege) -> ExitCode) -> ExitCode {
    let is_second = std::env::var_os(SECOND).is_some();
    let other_passed = is_second || again();
    let here = enter(tests, is_second.then_some(Privilege::UserNamespace), inside);
    if other_passed {
        here
    } else {
        ExitCode::FAILURE
    }
}

fn again() -> bool {
    if std::env::args().any(|argument| argument == "--list") {
        return true;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(std::env::args().skip(1)).env(SECOND, "1");
    again.status().is_ok_and(|status| status.success())
}

const SECOND: &str = "LINERATE_TEST_USER_NAMESPACE";
