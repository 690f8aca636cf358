// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that cannot be, and reports that never came.

use linerate_model::output::Test;

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let tests = &record.run.tests;
    for test in tests {
        let source = "the test's account";
        facts.add_to_test(&test.id, "numbers_contradict", contradict(test), source);
    }
    let warnings = tests.iter().flat_map(|test| &test.warnings);
    let said = warnings.map(|warning| warning.text.as_str());
    let error = record.run.error.iter();
    let ended = error.flat_map(|error| [error.what.as_str(), error.why.as_str()]);
    let lost = said.chain(ended).any(|text| {
        let text = text.to_ascii_lowercase();
        LOST.iter().any(|words| text.contains(words))
    });
    facts.add_to_run("report_lost", lost, "what the tools said");
}

fn contradict(test: &Test) -> bool {
    let more = matches!((test.sent_packets, test.received_packets), (Some(sent), Some(received)) if received > sent);
    let beyond = test
        .loss_ratio
        .is_some_and(|ratio| !(0.0..=1.0).contains(&ratio));
    let reported = test
        .warnings
        .iter()
        .any(|warning| CONTRADICTIONS.contains(&warning.id.as_str()));
    more || beyond || reported
}

const CONTRADICTIONS: &[&str] = &["negative-loss", "sum-differs"];
const LOST: &[&str] = &[
    "connection refused",
    "did not receive ack of last datagram",
    "no report",
    "control connection",
];
