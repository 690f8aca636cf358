// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the device's interfaces dropped, by their drivers' tables; and what is missing between the tester
//! and them, and from one to the other.

use linerate_model::output::{MovedCounter, Role, TrialDevice};

use super::View;
use super::claims::{Claim, evidence};
use super::delta;
use linerate_knowledge::{self as knowledge, Counter, Counts, Driver, Group, Stage, Unit};

/// Which interface took in most frames, and which sent most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) ingress: Option<String>,
    pub(crate) egress: Option<String>,
}

impl Ports {
    pub(crate) fn of(device: &TrialDevice) -> Self {
        let most = |name: &str| {
            let named = device
                .counters
                .iter()
                .filter(|one| one.source == LINK && one.name == name);
            named
                .max_by_key(|one| one.delta)
                .and_then(|one| one.interface.clone())
        };
        Self {
            ingress: most("rx_packets"),
            egress: most("tx_packets"),
        }
    }
}

/// Counters of drops that moved.
pub(super) fn counted(view: &View<'_>) -> Vec<Claim> {
    let counters = view.device.counters.iter();
    counters
        .filter_map(|counter| {
            let interface = counter.interface.as_deref()?;
            let stage = stage_of(view, interface, counter)?;
            view.dropped(stage, (&counter.source, Some(interface), &counter.name))
        })
        .map(|claim| beside_softnet(view, claim))
        .collect()
}

/// A frame that the backlog drops shows in the interface's field, too.
fn beside_softnet(view: &View<'_>, mut claim: Claim) -> Claim {
    let is_field = claim
        .evidence
        .iter()
        .any(|one| one.fact.ends_with("x_dropped"));
    if is_field {
        claim.least = claim.least.saturating_sub(view.device.softnet_dropped);
    }
    claim
}

fn stage_of(view: &View<'_>, interface: &str, counter: &MovedCounter) -> Option<&'static str> {
    if counter.source == "tc -s qdisc" {
        return (counter.name == "drops").then_some("fwd-qdisc");
    }
    match driver(view, interface) {
        Some(driver) => {
            let group = group(&counter.source)?;
            let known = driver.counter(group, &counter.name);
            match known {
                Some(known) => of_table(known),
                // What the driver leaves to the kernel's core.
                None if group == Group::Link && counter.name == "rx_dropped" => Some("fwd-softnet"),
                None if group == Group::Link && counter.name == "tx_dropped" => Some("fwd-tx-ring"),
                None => None,
            }
        }
        None if counter.source == LINK => {
            let field = FIELDS.iter().find(|(name, _)| *name == counter.name);
            field.map(|(_, stage)| *stage)
        }
        None => None,
    }
}

fn driver(view: &View<'_>, interface: &str) -> Option<&'static Driver> {
    let host = view.record.host(Role::Device)?;
    let named = host.interfaces.iter().find(|one| one.name == interface)?;
    knowledge::driver(named.driver.as_deref()?)
}

fn of_table(counter: &Counter) -> Option<&'static str> {
    let frames = matches!(counter.unit, Unit::Frames | Unit::Segments);
    (counter.counts == Counts::Drop && frames).then_some(())?;
    Some(match counter.stage {
        Stage::Wire => "fwd-wire-in",
        Stage::RxMac => "fwd-rx-mac",
        Stage::RxRing | Stage::RxXdp => "fwd-rx-ring",
        Stage::RxSoftnet => "fwd-softnet",
        Stage::RxIp | Stage::TxIp => "fwd-ip",
        Stage::TxQdisc => "fwd-qdisc",
        Stage::TxRing => "fwd-tx-ring",
        Stage::TxMac => "fwd-tx-mac",
        Stage::TxApp | Stage::TxSocket | Stage::RxSocket | Stage::RxApp => return None,
    })
}

/// What is missing from one count to the next on a frame's way, beyond what is `counted` in between.
pub(super) fn between(view: &View<'_>, ports: &Ports, counted: &[Claim]) -> Vec<Claim> {
    let [way] = view.trial.directions.as_slice() else {
        // Both ways at once the counts of one port are of both.
        return Vec::new();
    };
    let (Some(ingress), Some(egress)) = (&ports.ingress, &ports.egress) else {
        return Vec::new();
    };
    let link = |interface: &str, name| delta(view.device, LINK, Some(interface), name);
    let (came, went) = (link(ingress, "rx_packets"), link(egress, "tx_packets"));
    let at = |stages: &[&str]| -> u64 {
        let there = counted.iter().filter(|one| stages.contains(&one.stage));
        there.map(|one| one.most).sum()
    };
    let gap = |stage, interface: &str, from: (&str, u64), to: (&str, u64), known: u64| {
        let missing = from.1.saturating_sub(to.1).saturating_sub(known);
        (missing > NOISE).then(|| Claim {
            stage,
            interface: Some(interface.to_owned()),
            balance: true,
            least: missing - NOISE,
            most: missing,
            evidence: vec![
                evidence(from.0, from.1, if from.0 == OFFERED { TRIAL } else { LINK }),
                evidence(to.0, to.1, if to.0 == RECEIVED { TRIAL } else { LINK }),
            ],
        })
    };
    let (taken, sent) = (("rx_packets", came), ("tx_packets", went));
    // On IP's way its own counts say more.
    let bridged = delta(view.device, "/proc/net/snmp", None, "IpForwDatagrams") == 0
        && delta(view.device, "/proc/net/snmp6", None, "Ip6OutForwDatagrams") == 0;
    let inside = at(&[
        "fwd-softnet",
        "fwd-qdisc",
        "fwd-tx-ring",
        "fwd-ip",
        "fwd-neighbour",
    ]);
    [
        gap(
            "fwd-wire-in",
            ingress,
            (OFFERED, way.offered_frames),
            taken,
            at(&["fwd-rx-mac", "fwd-rx-ring", "fwd-wire-in", "fwd-softnet"]),
        ),
        gap("fwd-bridge", ingress, taken, sent, inside).filter(|_| bridged),
        gap(
            "fwd-wire-out",
            egress,
            sent,
            (RECEIVED, way.received_frames),
            at(&["fwd-tx-mac", "fwd-softnet"]),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn group(source: &str) -> Option<Group> {
    Some(match source {
        LINK => Group::Link,
        "ethtool -S" => Group::Ethtool,
        "qstats" => Group::Qstats,
        "eth-mac" => Group::EthMac,
        "eth-phy" => Group::EthPhy,
        "eth-ctrl" => Group::EthCtrl,
        "rmon" => Group::Rmon,
        _ => return None,
    })
}

const LINK: &str = "rtnl_link_stats64";
const TRIAL: &str = "the trial's account";
const OFFERED: &str = "offered_frames";
const RECEIVED: &str = "received_frames";
/// Frames that the device says by itself, and those between two readings.
const NOISE: u64 = 3;

/// Of a driver without a table, what the names of include/uapi/linux/if_link.h promise.
const FIELDS: [(&str, &str); 11] = [
    ("rx_crc_errors", "fwd-wire-in"),
    ("rx_frame_errors", "fwd-wire-in"),
    ("rx_length_errors", "fwd-rx-mac"),
    ("rx_fifo_errors", "fwd-rx-mac"),
    ("rx_over_errors", "fwd-rx-mac"),
    ("rx_missed_errors", "fwd-rx-mac"),
    ("rx_dropped", "fwd-rx-ring"),
    ("tx_dropped", "fwd-tx-ring"),
    ("tx_aborted_errors", "fwd-tx-mac"),
    ("tx_carrier_errors", "fwd-tx-mac"),
    ("tx_fifo_errors", "fwd-tx-mac"),
];
