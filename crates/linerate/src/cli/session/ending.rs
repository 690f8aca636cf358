// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exit code.

use linerate_model::output::{NicCheck, NicState, Output, Test};

use crate::exit::Exit;
use linerate_model::failure::Failure;

/// The exit code of a finished document.
pub(super) fn exit_of(output: &Output, failure: Option<&Failure>) -> Exit {
    let judged = |test: &&Test| !output.is_trial(test);
    if let Some(failure) = failure {
        Exit::from(failure.kind)
    } else if output.tests.iter().filter(judged).any(|test| !test.valid)
        || says_only_what_the_tester_can(output)
    {
        Exit::Invalid
    } else if output
        .expectations
        .iter()
        .any(|expectation| !expectation.met)
        || output.checks.iter().any(is_wrong)
    {
        Exit::ExpectationFailed
    } else {
        Exit::Ok
    }
}

fn is_wrong(check: &NicCheck) -> bool {
    check.state == NicState::Wrong
}

/// Every rate of the device is one that the tester can hardly exceed.
fn says_only_what_the_tester_can(output: &Output) -> bool {
    !output.results.is_empty() && output.results.iter().all(|result| result.tester_limited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Expectation;

    fn output(valid: bool, met: bool) -> Output {
        Output {
            tests: vec![Test {
                valid,
                ..Test::default()
            }],
            expectations: vec![Expectation {
                met,
                ..Expectation::default()
            }],
            ..Output::default()
        }
    }

    #[test]
    fn exit_codes_by_weight() {
        let gone = Failure::measuring("go on", "gone");
        let stopped = Failure::interrupted("go on");
        for (output, failure, exit) in [
            (output(true, true), None, Exit::Ok),
            (output(true, false), None, Exit::ExpectationFailed),
            (output(false, false), None, Exit::Invalid),
            (output(false, false), Some(&gone), Exit::CouldNotMeasure),
            (output(true, true), Some(&stopped), Exit::Interrupted),
        ] {
            assert_eq!(exit_of(&output, failure), exit);
        }
    }
}
