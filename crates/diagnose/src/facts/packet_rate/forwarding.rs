// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host that forwards does, and by which way.

use crate::evidence::{Evidence, Source};
use linerate_model::map::Map;
use linerate_model::output::Test;

use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::Record;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let ends = vantages(evidence).into_iter();
    for host in ends.filter(Vantage::is_host).map(Vantage::as_host) {
        counters(&host, facts);
        if host.test.is_none() {
            set_up(&host, facts);
        }
    }
    of_bridged(evidence.record, facts, "routed_of_bridged", &["rout"]);
    of_bridged(evidence.record, facts, "bypass_of_kernel", BYPASSES);
}

fn counters(host: &Vantage<'_>, facts: &mut Facts) {
    let fails = host.of_host(SNMP, "IpFragFails");
    host.add_counted(facts, "fragmentation_failures", fails);
    let forwarded = host.of_host(SNMP, "IpForwDatagrams");
    let received = host.of_host(SNMP, "IpInReceives");
    let received = received.filter(|received| received.value > 0);
    if let Some((forwarded, received)) = forwarded.zip(received) {
        let share = forwarded.value as f64 / received.value as f64;
        let source = format!("{}, IpInReceives", forwarded.source);
        host.add(facts, "forwarded_share", share, &source);
    }
    host.add_rate(facts, "forwarded_pps", SNMP, "IpForwDatagrams");
}

fn set_up(host: &Vantage<'_>, facts: &mut Facts) {
    let forwards = host.host_set_up("sysctl", "net.ipv4.ip_forward");
    host.add(facts, "forwarding", forwards, "sysctl net.ipv4.ip_forward");
    let source = "nft list ruleset";
    let number = |key| {
        let text = host.host_set_up(source, key)?;
        text.trim_end_matches('%').parse::<f64>().ok()
    };
    host.add(facts, "filter_rules", number("rules"), source);
    let tables = number("flowtables").map(|tables| tables > 0.0);
    host.add(facts, "flowtable", tables, source);
}

/// Of tests that are called so, against those of a bridge with the same number of flows.
fn of_bridged(record: &Record, facts: &mut Facts, name: &str, words: &[&str]) {
    let called = |test: &Test, words: &[&str]| {
        let name = test.name.to_ascii_lowercase();
        words.iter().any(|word| name.contains(word))
    };
    let tests = || record.tests();
    let mut bridged: Map<u32, Option<f64>> = Map::new();
    for test in tests().filter(|test| called(test, &["bridge"])) {
        let first = bridged.entry(test.streams);
        first.or_insert(test.delivered_bits_per_second);
    }
    for test in tests().filter(|test| called(test, words)) {
        let bridged = bridged.get(&test.streams).copied().flatten();
        let rates = test.delivered_bits_per_second.zip(bridged);
        let rates = rates.filter(|(_, bridged)| *bridged > 0.0);
        let ratio = rates.map(|(rate, bridged)| rate / bridged);
        facts.add_to_test(&test.id, name, ratio, "the accounts of both tests");
    }
}

/// Programs that take packets before the kernel's stack does.
const BYPASSES: &[&str] = &["dpdk", "testpmd", "xdp", "vpp"];
const SNMP: Source = Source::Snmp;
