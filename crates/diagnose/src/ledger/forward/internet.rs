// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the device's receive path, IP, its neighbours and its connection table dropped.

use super::View;
use super::claims::{Claim, evidence};
use super::delta;

pub(super) fn counted(view: &View<'_>) -> Vec<Claim> {
    let listed = COUNTERS.iter();
    let mut claims: Vec<Claim> = listed
        .filter_map(|(stage, source, name)| view.dropped(stage, (source, None, name)))
        .collect();
    claims.extend(between(view));
    claims
}

/// What IP took in and neither delivered nor passed on, beyond its own counts of errors: the packet filter
/// drops without a counter.
fn between(view: &View<'_>) -> Option<Claim> {
    let of = |(source, name): (&str, &str)| delta(view.device, source, None, name);
    let mut evidences = Vec::new();
    let mut missing = 0;
    for [received, delivered, forwarded, transmitted] in FAMILIES {
        let passed = if is_counted(view, transmitted) && of(transmitted) < of(forwarded) {
            transmitted
        } else {
            forwarded
        };
        let (came, kept, went) = (of(received), of(delivered), of(passed));
        if of(forwarded) == 0 && kept == 0 {
            continue;
        }
        missing += came.saturating_sub(kept.saturating_add(went));
        for (counter, frames) in [(received, came), (delivered, kept), (passed, went)] {
            evidences.push(evidence(counter.1, frames, counter.0));
        }
    }
    let known: u64 = COUNTERS
        .iter()
        .filter(|(stage, _, _)| *stage == IP)
        .map(|(_, source, name)| of((source, name)))
        .sum();
    let missing = missing.saturating_sub(known);
    (missing > NOISE).then(|| Claim {
        stage: IP,
        interface: None,
        balance: true,
        least: missing - NOISE,
        most: missing,
        evidence: evidences,
    })
}

/// A counter that this kernel has: some trial moved it.
fn is_counted(view: &View<'_>, (source, name): (&str, &str)) -> bool {
    let devices = view
        .record
        .trials
        .iter()
        .filter_map(|one| one.device.as_ref());
    devices
        .into_iter()
        .any(|one| delta(one, source, None, name) > 0)
}

const IP: &str = "fwd-ip";
const SNMP: &str = "/proc/net/snmp";
const SNMP6: &str = "/proc/net/snmp6";
const NETSTAT: &str = "/proc/net/netstat";
/// Packets between two readings of one file.
const NOISE: u64 = 2;

/// Since Linux 6.6 a packet counts as forwarded before the packet filter sees it; since then there is also a count of
/// those that left.
const FAMILIES: [[(&str, &str); 4]; 2] = [
    [
        (SNMP, "IpInReceives"),
        (SNMP, "IpInDelivers"),
        (SNMP, "IpForwDatagrams"),
        (SNMP, "IpOutTransmits"),
    ],
    [
        (SNMP6, "Ip6InReceives"),
        (SNMP6, "Ip6InDelivers"),
        (SNMP6, "Ip6OutForwDatagrams"),
        (SNMP6, "Ip6OutTransmits"),
    ],
];

/// Each a packet that died there.
const COUNTERS: &[(&str, &str, &str)] = &[
    ("fwd-softnet", "/proc/net/softnet_stat", "dropped"),
    ("fwd-conntrack", "/proc/net/stat/nf_conntrack", "drop"),
    ("fwd-conntrack", "/proc/net/stat/nf_conntrack", "early_drop"),
    (IP, SNMP, "IpInHdrErrors"),
    (IP, SNMP, "IpInAddrErrors"),
    (IP, SNMP, "IpInDiscards"),
    (IP, SNMP, "IpOutDiscards"),
    (IP, SNMP, "IpOutNoRoutes"),
    (IP, SNMP, "IpFragFails"),
    (IP, NETSTAT, "IpExtInNoRoutes"),
    (IP, NETSTAT, "IpExtInTruncatedPkts"),
    (IP, NETSTAT, "TcpExtIPReversePathFilter"),
    (IP, SNMP6, "Ip6InHdrErrors"),
    (IP, SNMP6, "Ip6InTooBigErrors"),
    (IP, SNMP6, "Ip6InNoRoutes"),
    (IP, SNMP6, "Ip6InAddrErrors"),
    (IP, SNMP6, "Ip6InTruncatedPkts"),
    (IP, SNMP6, "Ip6InDiscards"),
    (IP, SNMP6, "Ip6OutDiscards"),
    (IP, SNMP6, "Ip6OutNoRoutes"),
    (
        "fwd-neighbour",
        "/proc/net/stat/arp_cache",
        "unresolved_discards",
    ),
    (
        "fwd-neighbour",
        "/proc/net/stat/ndisc_cache",
        "unresolved_discards",
    ),
];
