// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy saving on the link, and the round trips in which it would show.

use linerate_model::output::Phase;

use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::Record;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.test.is_some() {
        return;
    }
    if let Some(status) = vantage.set_up("ethtool --show-eee", "EEE status") {
        let active = status.contains("active") && !status.contains("inactive");
        vantage.add(facts, "eee_active", active, "ethtool --show-eee");
    }
}

pub(super) fn round_trips(record: &Record, facts: &mut Facts) {
    let idle = record
        .run
        .latency
        .iter()
        .find(|latency| latency.phase == Phase::Idle);
    let rtt = idle.and_then(|latency| latency.rtt_ns);
    let (median, p99) = (rtt.map(|rtt| rtt.p50), rtt.map(|rtt| rtt.p99));
    let us = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e3);
    facts.add_to_run("idle_rtt_p50_us", us(median), "latency, idle");
    facts.add_to_run("idle_rtt_p99_us", us(p99), "latency, idle");
}
