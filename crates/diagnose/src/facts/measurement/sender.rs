// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the sender did what was asked of it.

use super::of_test;
use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in &record.run.tests {
        let refused = test.refused_packets.is_some_and(|refused| refused > 0);
        facts.add(of_test(
            test,
            "sender_refused",
            refused,
            "",
            "the test's account",
        ));
        if let Some(behind_ns) = test.sender_behind_ns_max {
            facts.add(of_test(
                test,
                "sender_behind_ms",
                behind_ns as f64 / 1e6,
                "ms",
                "the test's account",
            ));
        }
        if let Some(unsent) = test.unsent_packets {
            facts.add(of_test(
                test,
                "unsent_packets",
                unsent as f64,
                "packets",
                "the test's account",
            ));
        }
    }
}
