// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of findings: whether the measurement itself is valid, then what explains most,
//! then what is surest; what is only worth knowing last. Never by a fixed severity.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use linerate_model::order::Gather as _;
use linerate_model::output::{Finding, Protocol, Test};

use super::Strength;
use super::finding::Fired;
use linerate_model::order;
use linerate_model::record::Record;

/// The findings in their order, with their conflicts named.
pub(super) fn order(mut fired: Vec<Fired<'_>>, record: &Record) -> Vec<Finding> {
    name_conflicts(&mut fired);
    let weighed = fired.into_iter();
    let weighed = weighed.map(|fired| (weight(&fired, record), fired));
    let mut weighed: Vec<(f64, Fired<'_>)> = weighed.collect();
    order::by(&mut weighed, compare);
    weighed
        .into_iter()
        .map(|(_, fired)| fired.finding)
        .collect()
}

fn compare((one_lost, one): &(f64, Fired<'_>), (other_lost, other): &(f64, Fired<'_>)) -> Ordering {
    let key = |fired: &Fired<'_>| (fired.rule.informational, !fired.rule.validity);
    let shared = |fired: &Fired<'_>| fired.finding.explains.shared_packets;
    let sure = |fired: &Fired<'_>| Strength::of_word(&fired.finding.strength);
    key(one)
        .cmp(&key(other))
        .then_with(|| other_lost.total_cmp(one_lost))
        .then_with(|| shared(other).cmp(&shared(one)))
        .then_with(|| sure(other).cmp(&sure(one)))
        .then_with(|| one.rule.id.cmp(&other.rule.id))
}

/// Of two findings with the same cause on the same host and in the same tests the surer one remains.
pub(super) fn keep_surest(fired: &mut Vec<Fired<'_>>) {
    let sure = |fired: &Fired<'_>| Strength::of_word(&fired.finding.strength);
    let weaker = |one: &Fired<'_>, other: &Fired<'_>| {
        let key = |fired: &Fired<'_>| (fired.finding.host, fired.finding.informational);
        let same = one.finding.cause == other.finding.cause && key(one) == key(other);
        let covered = || {
            let tests: BTreeSet<&String> = other.finding.test_ids.iter().gather();
            one.finding.test_ids.iter().all(|id| tests.contains(id))
        };
        same && sure(one) < sure(other) && covered()
    };
    let kept: Vec<bool> = fired
        .iter()
        .map(|one| !fired.iter().any(|other| weaker(one, other)))
        .collect();
    let mut kept = kept.into_iter();
    fired.retain(|_| kept.next().unwrap_or(true));
}

/// What orders findings first. A rule of last resort stands back where TCP sent the packets again: they are not what its user
/// lacks, and other rules say why its rate is low.
fn weight(fired: &Fired<'_>, record: &Record) -> f64 {
    let of_tcp = || {
        let ids = &fired.finding.test_ids;
        let mut tests = record.tests().filter(|test| ids.contains(&test.id));
        tests.all(|test| test.protocol == Protocol::Tcp)
    };
    if fired.rule.fallback && of_tcp() {
        return 0.0;
    }
    lost_bits_per_second(&fired.finding, record)
}

/// Lost packets and lost rate on one scale: the payload bits a second that the tests in question lack.
fn lost_bits_per_second(finding: &Finding, record: &Record) -> f64 {
    let of_finding: BTreeSet<&String> = finding.test_ids.iter().gather();
    let tests = record.tests();
    let tests = tests.filter(|test| of_finding.contains(&test.id));
    let bits_of_packet = tests.map(bits_per_second_of_packet).fold(0.0, f64::max);
    let packets = finding.explains.lost_packets.unwrap_or(0) as f64;
    // Without a test a packet counts as one bit a second: only the order matters.
    let scale = if bits_of_packet > 0.0 {
        bits_of_packet
    } else {
        1.0
    };
    finding
        .explains
        .bits_per_second
        .unwrap_or(0.0)
        .max(packets * scale)
}

fn bits_per_second_of_packet(test: &Test) -> f64 {
    if test.duration_s > 0.0 {
        f64::from(test.payload_bytes) * 8.0 / test.duration_s
    } else {
        0.0
    }
}

/// Two findings of one host whose rules exclude each other say so both.
fn name_conflicts(fired: &mut [Fired<'_>]) {
    let clash = |one: &Fired<'_>, other: &Fired<'_>| {
        one.finding.host == other.finding.host
            && (one.rule.contradicts.contains(&other.rule.id)
                || other.rule.contradicts.contains(&one.rule.id))
    };
    let conflicts: Vec<Vec<String>> = fired
        .iter()
        .map(|one| {
            fired
                .iter()
                .filter(|other| clash(one, other))
                .map(|other| other.rule.id.clone())
                .collect()
        })
        .collect();
    for (fired, conflicts) in fired.iter_mut().zip(conflicts) {
        fired.finding.conflicts = conflicts;
    }
}
