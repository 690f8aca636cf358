// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether an end of a test had no processor time left: then what its rates seem to say of the path is its own.

use linerate_model::output::Test;
use linerate_model::record::Record;

use crate::facts::Facts;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    // Of what no test belongs to nothing is known.
    facts.add_to_run("an_end_is_full", false, "no test");
    for test in record.tests() {
        let full = !record.one_machine() && is_an_end_full(test);
        let source = "/proc/stat during the test";
        facts.add_to_test(&test.id, "an_end_is_full", full, source);
    }
}

/// All processors of an end together, so that no other could have helped.
fn is_an_end_full(test: &Test) -> bool {
    let ends = [test.cpu.local, test.cpu.remote].into_iter().flatten();
    ends.map(|cpu| cpu.busy()).any(|busy| busy >= FULL)
}

/// As `cpu_idle` in the rules about it.
const FULL: f64 = 0.95;

#[cfg(test)]
mod tests;
