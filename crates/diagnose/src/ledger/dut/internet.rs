// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the device's receive path, IP, its neighbours and its connection table dropped.

use super::{DutStage, Path, missing};
use crate::evidence::{Source, Window};
use crate::ledger::claim::{Claim, evidence};
use linerate_model::output::Role;

pub(super) fn counted(path: &Path<'_>) -> Vec<Claim<DutStage>> {
    let listed = COUNTERS.iter();
    let mut claims: Vec<_> = listed
        .filter_map(|(stage, source, name)| path.dropped(*stage, None, *source, name))
        .collect();
    claims.extend(between(path));
    claims
}

/// What IP took in and neither delivered nor passed on, beyond its own counts of errors: the packet filter
/// drops without a counter.
fn between(path: &Path<'_>) -> Option<Claim<DutStage>> {
    let of = |(source, name): (Source, &str)| path.grew(None, source, name);
    let mut evidences = Vec::new();
    let mut frames = 0;
    for [received, delivered, forwarded, transmitted] in FAMILIES {
        let passed = if is_counted(path, transmitted) && of(transmitted) < of(forwarded) {
            transmitted
        } else {
            forwarded
        };
        let (came, kept, went) = (of(received), of(delivered), of(passed));
        if of(forwarded) == 0 && kept == 0 {
            continue;
        }
        frames += came.saturating_sub(kept.saturating_add(went));
        for ((source, name), frames) in [(received, came), (delivered, kept), (passed, went)] {
            evidences.push(evidence(name, frames, "frames", source.text()));
        }
    }
    let of_ip = COUNTERS.iter().filter(|(stage, ..)| *stage == DutStage::Ip);
    let known: u64 = of_ip.map(|(_, source, name)| of((*source, name))).sum();
    let claim = missing(DutStage::Ip, None, frames.saturating_sub(known), NOISE)?;
    Some(Claim {
        evidence: evidences,
        ..claim
    })
}

/// A counter that this kernel has: some trial moved it.
fn is_counted(path: &Path<'_>, (source, name): (Source, &str)) -> bool {
    let trials = path.evidence.record.trials.iter();
    let mut devices = trials.filter_map(|one| one.device.as_ref());
    devices.any(|device| {
        let place = path.evidence.at(Role::Device, None, Window::Trial(device));
        place
            .moved(source, name)
            .is_some_and(|moved| moved.grew.at_least > 0)
    })
}

const IP: DutStage = DutStage::Ip;
const SNMP: Source = Source::Snmp;
const SNMP6: Source = Source::Snmp6;
const NETSTAT: Source = Source::Netstat;
/// Packets between two readings of one file.
const NOISE: u64 = 2;

/// Since Linux 6.6 a packet counts as forwarded before the packet filter sees it; since then there is also a count of
/// those that left.
const FAMILIES: [[(Source, &str); 4]; 2] = [
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
const COUNTERS: &[(DutStage, Source, &str)] = &[
    (DutStage::Softnet, Source::Softnet, "dropped"),
    (DutStage::Conntrack, Source::Conntrack, "drop"),
    (DutStage::Conntrack, Source::Conntrack, "early_drop"),
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
    (DutStage::Neighbour, Source::ArpCache, "unresolved_discards"),
    (
        DutStage::Neighbour,
        Source::NdiscCache,
        "unresolved_discards",
    ),
];
