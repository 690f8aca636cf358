// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the sender's own queueing did, and what its kernel refused.

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence)
        .iter()
        .filter(|vantage| vantage.interface.is_some())
    {
        if vantage.side != Some(Side::Receiver) {
            counters(vantage, facts);
        }
        if vantage.side != Some(Side::Sender) {
            on_arrival(vantage, facts);
        }
        if vantage.test.is_none() {
            let kind = vantage.set_up("tc qdisc", "root");
            vantage.add(facts, "qdisc_kind", kind, "tc qdisc");
        }
        let refused = vantage.test.and_then(|test| test.refused_packets);
        let refused = refused.filter(|_| vantage.side == Some(Side::Sender));
        let refused = refused.map(|packets| packets as f64);
        vantage.add(facts, "refused_packets", refused, "the test's account");
    }
}

fn counters(vantage: &Vantage<'_>, facts: &mut Facts) {
    let counted = |name| vantage.of_interface(SOURCE, name);
    let Some(drops) = counted("drops") else {
        return;
    };
    let dropped = drops.value as f64;
    vantage.add(facts, "qdisc_drops", dropped, &drops.source);
    let overlimits = counted("overlimits").map(|overlimits| overlimits.value as f64);
    vantage.add(facts, "qdisc_overlimits", overlimits, SOURCE);
    // Only fq limits each flow, and it reports that only after a drop.
    let of_flows = vantage.counters().each(Source::Qdisc);
    let of_flows = of_flows.filter(|(name, _)| name.ends_with("flows_plimit"));
    let each_flow: u64 = of_flows.map(|(_, moved)| moved.grew.at_least).sum();
    let each_flow = each_flow as f64;
    vantage.add(facts, "flow_limit_drops", each_flow, SOURCE);
    let Some(sent) = counted("packets").filter(|sent| sent.value > 0) else {
        return;
    };
    let sent = sent.value as f64;
    let ratio = dropped / (sent + dropped);
    vantage.add(facts, "qdisc_drop_ratio", ratio, &drops.source);
    if let Some(requeues) = counted("requeues") {
        let ratio = requeues.value as f64 / sent;
        vantage.add(facts, "qdisc_requeue_ratio", ratio, &requeues.source);
    }
}

/// Filters and policers on arrival count what they drop at the qdisc that holds them.
fn on_arrival(vantage: &Vantage<'_>, facts: &mut Facts) {
    let holds = |name: &str| {
        ["ingress ", "clsact "]
            .iter()
            .any(|kind| name.starts_with(kind))
    };
    let counters = vantage.counters();
    let drops = counters
        .each(Source::Qdisc)
        .filter(|(name, _)| holds(name) && name.ends_with(".drops"))
        .map(|(_, moved)| moved.grew.at_least)
        .reduce(|one, other| one + other);
    let drops = drops.map(|drops| drops as f64);
    vantage.add(facts, "ingress_drops", drops, SOURCE);
}

const SOURCE: &str = Source::Qdisc.text();
