// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit congestion notification: whether the path keeps it, and how much it marks.

use linerate_model::output::{Codepoint, Ecn, Test};

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for test in evidence.record.tests() {
        let Some(ecn) = test.ecn else { continue };
        let mut add = |name, value: Option<f64>, source| {
            facts.add_to_test(&test.id, name, value, source);
        };
        add("ecn_bleached_ratio", bleached(&ecn), ARRIVED);
        add("ecn_ce_ratio", marked(&ecn), MARKED);
        facts.add_to_test(&test.id, "ecn_negotiated", ecn.negotiated, OPTIONS);
        counted(evidence, test, facts);
    }
}

/// Of what was sent as ECT, what arrived as Not-ECT. TCP knows whether any segment arrived as ECT, so all or nothing.
fn bleached(ecn: &Ecn) -> Option<f64> {
    if ecn.negotiated == Some(true) {
        return ecn.ect_seen.filter(|seen| !seen).map(|_| 1.0);
    }
    let arrived = ecn.arrived?;
    let is_ect = matches!(ecn.requested?, Codepoint::Ect0 | Codepoint::Ect1);
    let share = arrived.not_ect_packets as f64 / all(ecn)?;
    is_ect.then_some(share)
}

/// Of what arrived, what a queue on the path marked.
fn marked(ecn: &Ecn) -> Option<f64> {
    if ecn.negotiated == Some(true) {
        let (all, marked) = (ecn.delivered_segments?, ecn.delivered_ce_segments?);
        return (marked <= all && all > 0).then(|| marked as f64 / all as f64);
    }
    let is_sent_marked = ecn.requested? == Codepoint::Ce;
    let share = ecn.arrived?.ce_packets as f64 / all(ecn)?;
    (!is_sent_marked).then_some(share)
}

fn all(ecn: &Ecn) -> Option<f64> {
    let of = ecn.arrived?;
    let all = [
        of.not_ect_packets,
        of.ect1_packets,
        of.ect0_packets,
        of.ce_packets,
    ];
    let all: f64 = all.into_iter().map(|count| count as f64).sum();
    (all > 0.0).then_some(all)
}

/// What the receiver's IP counted of all its traffic.
fn counted<'r>(evidence: &'r Evidence<'r>, test: &'r Test, facts: &mut Facts) {
    let receiver = Vantage::end(evidence, test, Side::Receiver);
    for (name, counter) in [
        ("ip_ce_packets", "IpExtInCEPkts"),
        ("ip_ect0_packets", "IpExtInECT0Pkts"),
    ] {
        let grew = receiver.of_host(Source::Netstat, counter);
        receiver.add_counted(facts, name, grew);
    }
}

const ARRIVED: &str = "the receiver's ECN fields";
const MARKED: &str = "the receiver's ECN fields, tcpi_delivered_ce";
const OPTIONS: &str = "tcpi_options";
