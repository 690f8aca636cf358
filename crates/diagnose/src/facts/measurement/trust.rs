// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that cannot be, and reports that never came.

use linerate_model::output::Test;

use super::of_test;
use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in &record.run.tests {
        facts.add(of_test(
            test,
            "numbers_contradict",
            contradict(test),
            "",
            "the test's account",
        ));
    }
    let said = record
        .run
        .tests
        .iter()
        .flat_map(|test| &test.warnings)
        .map(|warning| warning.text.as_str());
    let ended = record
        .run
        .error
        .iter()
        .flat_map(|error| [error.what.as_str(), error.why.as_str()]);
    let lost = said.chain(ended).any(|text| {
        let text = text.to_ascii_lowercase();
        LOST.iter().any(|words| text.contains(words))
    });
    facts.add(fact("report_lost", lost, "", "what the tools said"));
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
