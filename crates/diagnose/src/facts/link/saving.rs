// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy saving on the link, and the round trips in which it would show.

use linerate_model::output::Phase;

use crate::facts::vantage::Vantage;
use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.test.is_some() {
        return;
    }
    if let Some(status) = vantage.set_up("ethtool --show-eee", "EEE status") {
        let active = status.contains("active") && !status.contains("inactive");
        vantage.add(facts, "eee_active", active, "", "ethtool --show-eee");
    }
}

pub(super) fn round_trips(record: &Record, facts: &mut Facts) {
    let idle = record
        .run
        .latency
        .iter()
        .find(|latency| latency.phase == Phase::Idle);
    if let Some(rtt) = idle.and_then(|latency| latency.rtt_ns) {
        facts.add(fact(
            "idle_rtt_p50_us",
            rtt.p50 as f64 / 1e3,
            "us",
            "latency, idle",
        ));
        facts.add(fact(
            "idle_rtt_p99_us",
            rtt.p99 as f64 / 1e3,
            "us",
            "latency, idle",
        ));
    }
}
