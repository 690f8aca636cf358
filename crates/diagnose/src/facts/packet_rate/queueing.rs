// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the sender's own queueing did, and what its kernel refused.

use std::collections::BTreeSet;

use crate::facts::Facts;
use crate::facts::counted::{Place, places};
use linerate_model::record::{Record, Side};

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for place in places(record)
        .iter()
        .filter(|place| place.interface.is_some())
    {
        if place.side != Some(Side::Receiver) {
            counters(place, facts);
        }
        if place.test.is_none()
            && let Some(kind) = place.set_up("tc qdisc", "root")
        {
            place.add(facts, "qdisc_kind", kind, "", "tc qdisc");
        }
        let refused = place.test.and_then(|test| test.refused_packets);
        if let Some(refused) = refused.filter(|_| place.side == Some(Side::Sender)) {
            place.add(
                facts,
                "refused_packets",
                refused as f64,
                "packets",
                "the test's account",
            );
        }
    }
}

fn counters(place: &Place<'_>, facts: &mut Facts) {
    let counted = |name| place.of_interface(SOURCE, name);
    let Some(drops) = counted("drops") else {
        return;
    };
    let dropped = drops.value as f64;
    place.add(facts, "qdisc_drops", dropped, "packets", &drops.source);
    // Only fq limits each flow, and tells of it only where it dropped.
    let names = flow_limits(place);
    let each_flow = names
        .iter()
        .filter_map(|name| counted(name))
        .map(|counted| counted.value);
    let each_flow = each_flow.sum::<u64>() as f64;
    place.add(facts, "flow_limit_drops", each_flow, "packets", SOURCE);
    let Some(sent) = counted("packets").filter(|sent| sent.value > 0) else {
        return;
    };
    let sent = sent.value as f64;
    place.add(
        facts,
        "qdisc_drop_ratio",
        dropped / (sent + dropped),
        "ratio",
        &drops.source,
    );
    if let Some(requeues) = counted("requeues") {
        let ratio = requeues.value as f64 / sent;
        place.add(
            facts,
            "qdisc_requeue_ratio",
            ratio,
            "ratio",
            &requeues.source,
        );
    }
}

/// Of the root, or of the children of `mq`.
fn flow_limits<'r>(place: &Place<'r>) -> BTreeSet<&'r str> {
    let samples = place.record.samples.iter();
    let of_source = samples.filter(|sample| sample.host == place.host && sample.source == SOURCE);
    let names = of_source.flat_map(|sample| sample.counters.keys());
    names
        .map(String::as_str)
        .filter(|name| name.ends_with("flows_plimit"))
        .collect()
}

const SOURCE: &str = "tc -s qdisc";
