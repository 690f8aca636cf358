// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the device's interfaces dropped, by their drivers' tables; and what is missing between the tester
//! and them, and from one to the other.

use std::collections::BTreeSet;

use linerate_knowledge::{Driver, Field};
use linerate_model::order::Gather as _;
use linerate_model::record::Side;

use super::{DutStage, Path, missing};
use crate::dut::Ports;
use crate::evidence::{Count, Source};
use crate::ledger::claim::{Claim, evidence};

/// Counters of drops that moved.
pub(super) fn counted(path: &Path<'_>) -> Vec<Claim<DutStage>> {
    let named = path
        .device
        .counters
        .iter()
        .filter_map(|one| one.interface.as_deref());
    let interfaces: BTreeSet<&str> = named.gather();
    interfaces
        .into_iter()
        .flat_map(|name| of_interface(path, name))
        .collect()
}

fn of_interface<'r>(path: &Path<'r>, name: &'r str) -> Vec<Claim<DutStage>> {
    let place = path.at(Some(name));
    let mut claims = Vec::new();
    for side in [Side::Receiver, Side::Sender] {
        let mut counts = place.drop_counters(side);
        counts.iter_mut().for_each(|count| adjust(path, count));
        claims.extend(place.resolve(side, counts).into_iter().filter_map(|count| {
            let stage = DutStage::of(count.stage)?;
            path.claim(stage, Some(name), count.moved, (count.source, &count.name))
        }));
    }
    claims.extend(path.dropped(DutStage::Qdisc, Some(name), Source::Qdisc, "drops"));
    let driver = place.driver().into_iter();
    claims.extend(driver.flat_map(|driver| core(path, name, driver)));
    claims
}

/// A frame that the backlog drops shows in the interface's field, too.
fn adjust(path: &Path<'_>, count: &mut Count) {
    if count.source == Source::Link && count.name == "rx_dropped" {
        count.moved = count.moved.perhaps_without(path.device.softnet_dropped);
    }
}

/// What the driver leaves to the kernel's core.
fn core<'r>(
    path: &Path<'r>,
    name: &'r str,
    driver: &Driver,
) -> impl Iterator<Item = Claim<DutStage>> {
    let fields = [
        (DutStage::Softnet, "rx_dropped"),
        (DutStage::TxRing, "tx_dropped"),
    ];
    let of_core = fields
        .into_iter()
        .filter(|(_, field)| !matches!(driver.link_field(field), Field::Filled(_)));
    of_core.filter_map(|(stage, field)| {
        let mut moved = path.moved(Some(name), Source::Link, field);
        if stage == DutStage::Softnet {
            moved = moved.less(path.device.softnet_dropped);
        }
        path.claim(stage, Some(name), moved, (Source::Link, field))
    })
}

/// What is missing from one count to the next on a frame's way, beyond what is `counted` in between.
pub(super) fn between(
    path: &Path<'_>,
    ports: &Ports<'_>,
    counted: &[Claim<DutStage>],
) -> Vec<Claim<DutStage>> {
    let [way] = path.trial.directions.as_slice() else {
        // Both ways at once the counts of one port are of both.
        return Vec::new();
    };
    let (Some(ingress), Some(egress)) = (ports.ingress, ports.egress) else {
        return Vec::new();
    };
    let at = |stages: &[DutStage]| -> u64 {
        let there = counted.iter().filter(|one| stages.contains(&one.stage));
        there.map(|one| one.seen.hi).sum()
    };
    let gap = |stage, interface: &str, from: Counted, to: Counted, known: u64| {
        let frames = from.frames.saturating_sub(to.frames).saturating_sub(known);
        let evidence = [from, to].map(|one| evidence(one.name, one.frames, "frames", one.source));
        Some(Claim {
            evidence: evidence.to_vec(),
            ..missing(stage, Some(interface), frames, NOISE)?
        })
    };
    let at_port = |port, name| Counted {
        name,
        source: Source::Link.text(),
        frames: path.grew(Some(port), Source::Link, name),
    };
    let of_trial = |name, frames| Counted {
        name,
        source: "the trial's account",
        frames,
    };
    let taken = at_port(ingress, "rx_packets");
    let sent = at_port(egress, "tx_packets");
    // On IP's way its own counts say more.
    let bridged = path.grew(None, Source::Snmp, "IpForwDatagrams") == 0
        && path.grew(None, Source::Snmp6, "Ip6OutForwDatagrams") == 0;
    use DutStage as At;
    let before = at(&[At::RxMac, At::RxRing, At::WireIn, At::Softnet]);
    let inside = at(&[At::Softnet, At::Qdisc, At::TxRing, At::Ip, At::Neighbour]);
    let after = at(&[At::TxMac, At::Softnet]);
    let offered = of_trial("offered_frames", way.offered_frames);
    let received = of_trial("received_frames", way.received_frames);
    let gaps = [
        gap(At::WireIn, ingress, offered, taken, before),
        gap(At::Bridge, ingress, taken, sent, inside).filter(|_| bridged),
        gap(At::WireOut, egress, sent, received, after),
    ];
    gaps.into_iter().flatten().collect()
}

/// A count of frames that came through.
#[derive(Clone, Copy)]
struct Counted {
    name: &'static str,
    source: &'static str,
    frames: u64,
}

/// Frames that the device sends on its own, and those between two readings.
const NOISE: u64 = 3;
