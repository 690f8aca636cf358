// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host that forwards does, and by which way.

use crate::evidence::{Evidence, Source};
use linerate_model::output::Test;

use crate::facts::vantage::{Vantage, vantages};
use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence) {
        if vantage.test.is_some() || vantage.interface.is_none() {
            counters(&vantage, facts);
        }
        if vantage.test.is_none() && vantage.interface.is_none() {
            set_up(&vantage, facts);
        }
    }
    of_bridged(evidence.record, facts, "routed_of_bridged", &["rout"]);
    of_bridged(evidence.record, facts, "bypass_of_kernel", BYPASSES);
}

fn counters(vantage: &Vantage<'_>, facts: &mut Facts) {
    let fails = vantage.of_host(SNMP, "IpFragFails");
    vantage.add_counted_to_host(facts, "fragmentation_failures", "packets", fails);
    let forwarded = vantage.of_host(SNMP, "IpForwDatagrams");
    let received = vantage
        .of_host(SNMP, "IpInReceives")
        .filter(|received| received.value > 0);
    if let Some((forwarded, received)) = forwarded.zip(received) {
        let share = forwarded.value as f64 / received.value as f64;
        let source = format!("{}, IpInReceives", forwarded.source);
        vantage.add_to_host(facts, "forwarded_share", share, "ratio", &source);
    }
    let span = vantage.host_counters().span_s(SNMP);
    if let Some((counted, span)) = vantage.of_host(SNMP, "IpForwDatagrams").zip(span) {
        let rate = counted.value as f64 / span;
        vantage.add_to_host(facts, "forwarded_pps", rate, "1/s", &counted.source);
    }
}

fn set_up(vantage: &Vantage<'_>, facts: &mut Facts) {
    if let Some(forwards) = vantage.host_set_up("sysctl", "net.ipv4.ip_forward") {
        vantage.add_to_host(
            facts,
            "forwarding",
            forwards,
            "",
            "sysctl net.ipv4.ip_forward",
        );
    }
    let number = |source, key| {
        vantage
            .host_set_up(source, key)?
            .trim_end_matches('%')
            .parse::<f64>()
            .ok()
    };
    if let Some(rules) = number("nft list ruleset", "rules") {
        vantage.add_to_host(facts, "filter_rules", rules, "", "nft list ruleset");
    }
    if let Some(tables) = number("nft list ruleset", "flowtables") {
        vantage.add_to_host(facts, "flowtable", tables > 0.0, "", "nft list ruleset");
    }
}

/// Of tests that are called so, against those of a bridge with the same number of flows.
fn of_bridged(record: &Record, facts: &mut Facts, name: &str, words: &[&str]) {
    let called = |test: &Test, words: &[&str]| {
        let name = test.name.to_ascii_lowercase();
        words.iter().any(|word| name.contains(word))
    };
    let tests = || record.run.tests.iter();
    for test in tests().filter(|test| called(test, words)) {
        let alike = |other: &&Test| called(other, &["bridge"]) && other.streams == test.streams;
        let bridged = tests()
            .find(alike)
            .and_then(|test| test.delivered_bits_per_second);
        let rates = test.delivered_bits_per_second.zip(bridged);
        if let Some((rate, bridged)) = rates.filter(|(_, bridged)| *bridged > 0.0) {
            let mut ratio = fact(name, rate / bridged, "ratio", "the accounts of both tests");
            ratio.test_id = Some(test.id.clone());
            facts.add(ratio);
        }
    }
}

/// Programs that take packets before the kernel's stack does.
const BYPASSES: &[&str] = &["dpdk", "testpmd", "xdp", "vpp"];
const SNMP: &str = Source::Snmp.text();
