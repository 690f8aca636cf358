// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the sender did what was asked of it.

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in record.tests() {
        let refused = test.refused_packets.is_some_and(|refused| refused > 0);
        facts.add_to_test(&test.id, "sender_refused", refused, ACCOUNT);
        let behind_ms = test.sender_behind_ns_max.map(|ns| ns as f64 / 1e6);
        facts.add_to_test(&test.id, "sender_behind_ms", behind_ms, ACCOUNT);
        let unsent = test.unsent_packets.map(|packets| packets as f64);
        facts.add_to_test(&test.id, "unsent_packets", unsent, ACCOUNT);
    }
}

const ACCOUNT: &str = "the test's account";
