// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the two interfaces' drivers counted, by the driver's table; and what the kernel's core
//! counts on each interface.
//!
//! A field that the driver never fills says nothing. Of a driver without a table a counter that
//! moved is believed by its name, and one that did not move says nothing.

use super::alias::{Count, resolve};
use super::claim::{Claim, Claims, Kind, evidence};
use super::path::{End, Path};
use super::readings::{List, Moved};
use super::span::Span;
use linerate_knowledge::{Counter, Counts, Driver, Field, Group, Stage, Unit};
use linerate_model::record::Side;

/// Where `ip -s -s link` reads.
const LINK: &str = "rtnl_link_stats64";

pub(super) fn collect(path: &Path<'_>, claims: &mut Claims) {
    for side in [Side::Sender, Side::Receiver] {
        let end = path.end(side);
        let Some(driver) = end.driver else {
            by_name(path, side, claims);
            continue;
        };
        let counts = driver
            .counters
            .iter()
            .filter(|counter| counter.counts == Counts::Drop && of_side(counter.stage, side))
            .filter_map(|counter| count(path, side, counter))
            .collect();
        for count in resolve(counts, |word| stage_of_word(driver, side, word)) {
            claim(path, side, count, claims);
        }
        core(path, side, driver, claims);
    }
}

/// The wire's errors are found by the receiver.
fn of_side(stage: Stage, side: Side) -> bool {
    stage.word().starts_with("tx-") == (side == Side::Sender)
}

fn stage_of_word(driver: &Driver, side: Side, word: &str) -> Option<Stage> {
    let alone = driver
        .counters
        .iter()
        .find(|counter| matches!(counter.alias.as_slice(), [only] if only == word));
    let stage = alone.map(|counter| counter.stage);
    stage.filter(|stage| of_side(*stage, side))
}

/// The sum over all queues of a counter's name. `None` if none can be read, one was reset, or what
/// it counts are no packets.
fn count(path: &Path<'_>, side: Side, counter: &Counter) -> Option<Count> {
    let end = path.end(side);
    if !matches!(counter.unit, Unit::Frames | Unit::Segments) {
        return None;
    }
    let list = List {
        width: end.width(counter.width),
        ..end.link_list(source(counter.group))
    };
    let named = path.readings.names(list);
    let moved: Option<Vec<Moved>> = named
        .filter(|name| counter.name.matches(name))
        .map(|name| path.readings.moved(list, name))
        .collect();
    let moved = moved.filter(|moved| !moved.is_empty())?;
    let moved = moved.into_iter().fold(Moved::nothing(), Moved::plus);
    let moved = if counter.shared {
        moved.of_others_too()
    } else {
        adjusted(path, side, counter, moved)
    };
    let grew = moved.grew.at_least;
    Some(Count {
        stage: counter.stage,
        unit: counter.unit,
        words: counter.alias.iter().cloned().collect(),
        moved,
        general: counter.group == Group::Link,
        evidence: evidence(
            counter.name.text(),
            grew,
            counter.unit.word(),
            source(counter.group),
        ),
    })
}

/// What else stands in a field: drops of the backlog in `rx_dropped`; in those of a veth pair also
/// what the sender was told at once, and what the other end's field shows.
fn adjusted(path: &Path<'_>, side: Side, counter: &Counter, moved: Moved) -> Moved {
    let moved = moved.perhaps_without(path.lost_beside);
    let is = |name| counter.group == Group::Link && counter.name.text() == name;
    let grew = |side, name| path.link(side, name).map_or(0, |moved| moved.grew.at_least);
    let moved = if is("rx_dropped") {
        let source = "/proc/net/softnet_stat";
        let backlog = path.machine(side, source, "dropped");
        moved.perhaps_without(backlog.map_or(0, |backlog| backlog.grew.at_least))
    } else {
        moved
    };
    let veth = path.end(side).driver.is_some_and(|d| d.name == "veth");
    if !(veth && (is("rx_dropped") || is("tx_dropped"))) {
        return moved;
    }
    let moved = moved.less(path.test.refused_packets.unwrap_or(0));
    if is("tx_dropped") {
        moved.perhaps_without(grew(Side::Receiver, "rx_dropped"))
    } else {
        moved
    }
}

fn claim(path: &Path<'_>, side: Side, count: Count, claims: &mut Claims) {
    let end = path.end(side);
    claims.add(Claim {
        stage: count.stage,
        host: end.role,
        interface: end.interface.map(str::to_owned),
        kind: Kind::Shared,
        seen: packets(path, end, &count),
        evidence: vec![count.evidence],
    });
}

fn packets(path: &Path<'_>, end: &End<'_>, count: &Count) -> Span {
    let joined = if count.unit == Unit::Segments {
        end.joined
    } else {
        1
    };
    let seen = count.moved.seen(path.lost);
    seen.each_up_to(joined).pieces_of(path.fragments)
}

/// What the core drops on an interface: frames for another host; for no protocol, where the driver
/// leaves the field to the core.
fn core(path: &Path<'_>, side: Side, driver: &Driver, claims: &mut Claims) {
    let of_core = |field: &&str| matches!(driver.link_field(field), Field::Blind);
    let (stage, fields): (_, &[&str]) = match side {
        Side::Sender => (Stage::TxRing, &["tx_dropped"]),
        Side::Receiver => (
            Stage::RxSoftnet,
            &["rx_dropped", "rx_otherhost_dropped", "rx_nohandler"],
        ),
    };
    for field in fields {
        let filled = field.ends_with("x_dropped") && !of_core(field);
        let Some(moved) = path.link(side, field).filter(|_| !filled) else {
            continue;
        };
        let backlog = if *field == "rx_dropped" {
            path.machine(side, "/proc/net/softnet_stat", "dropped")
        } else {
            None
        };
        let moved = moved
            .perhaps_without(path.lost_beside)
            .without(backlog.unwrap_or(Moved::nothing()));
        let grew = moved.grew.at_least;
        claims.add(Claim {
            stage,
            host: path.end(side).role,
            interface: path.end(side).interface.map(str::to_owned),
            kind: Kind::Shared,
            seen: super::internet::pieces(path, moved, path.end(side).joined),
            evidence: vec![evidence(field, grew, "packets", LINK)],
        });
    }
}

/// Fields of an unknown driver that moved: nothing at least. What they contain of each other nobody
/// says: together the errors are no more than their sum's field tells.
fn by_name(path: &Path<'_>, side: Side, claims: &mut Claims) {
    let mut counts: Vec<Count> = Vec::new();
    for (stage, words, name) in FIELDS.iter().filter(|(stage, _, _)| of_side(*stage, side)) {
        let moved = path.link(side, name).or_else(|| of_proc(path, side, name));
        let Some(moved) = moved.filter(|moved| moved.grew.at_least > 0) else {
            continue;
        };
        let grew = moved.grew.at_least;
        counts.push(Count {
            stage: *stage,
            unit: Unit::Frames,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            moved: moved.of_others_too(),
            general: words.len() > 1,
            evidence: evidence(name, grew, "frames", LINK),
        });
    }
    within_their_sum(&mut counts);
    for count in resolve(counts, |_| None) {
        claim(path, side, count, claims);
    }
}

fn within_their_sum(counts: &mut [Count]) {
    let sum = counts.iter().find(|count| count.general);
    let Some(mut left) = sum.map(|sum| sum.moved.grew.at_least) else {
        return;
    };
    let parts = counts.iter_mut().filter(|count| count.words.len() == 1);
    for part in parts {
        part.moved = part.moved.capped(left);
        left -= part.moved.grew.at_least;
    }
}

/// The fields of `/proc/net/dev` are sums of those of the link.
fn of_proc(path: &Path<'_>, side: Side, name: &str) -> Option<Moved> {
    let (_, own) = PROC.iter().find(|(field, _)| *field == name)?;
    let list = path.end(side).link_list("/proc/net/dev");
    path.readings.moved(list, own)
}

const fn source(group: Group) -> &'static str {
    match group {
        Group::Link => LINK,
        Group::Ethtool => "ethtool -S",
        Group::Qstats => "qstats",
        Group::EthPhy => "eth-phy",
        Group::EthMac => "eth-mac",
        Group::EthCtrl => "eth-ctrl",
        Group::Rmon => "rmon",
        Group::Pause => "ethtool -I -a",
        Group::Fec => "ethtool -I --show-fec",
    }
}

/// What the names of include/uapi/linux/if_link.h promise, and what may be the same packets.
const FIELDS: [(Stage, &[&str], &str); 13] = [
    (Stage::RxMac, &["fifo"], "rx_fifo_errors"),
    (Stage::RxMac, &["fifo"], "rx_over_errors"),
    (Stage::RxMac, &["fifo"], "rx_missed_errors"),
    (Stage::RxMac, &["length"], "rx_length_errors"),
    (Stage::Wire, &["crc"], "rx_crc_errors"),
    (Stage::Wire, &["frame"], "rx_frame_errors"),
    (
        Stage::RxMac,
        &["fifo", "length", "crc", "frame"],
        "rx_errors",
    ),
    (Stage::RxRing, &[], "rx_dropped"),
    (Stage::TxMac, &["aborted"], "tx_aborted_errors"),
    (Stage::TxMac, &["carrier"], "tx_carrier_errors"),
    (Stage::TxMac, &["fifo"], "tx_fifo_errors"),
    (Stage::TxMac, &["aborted", "carrier", "fifo"], "tx_errors"),
    (Stage::TxRing, &[], "tx_dropped"),
];

/// Link fields and what `/proc/net/dev` calls the sums that they are part of (dev_seq_printf_stats,
/// net/core/net-procfs.c).
const PROC: [(&str, &str); 7] = [
    ("rx_errors", "rx_errs"),
    ("rx_dropped", "rx_drop"),
    ("rx_fifo_errors", "rx_fifo"),
    ("rx_frame_errors", "rx_frame"),
    ("tx_errors", "tx_errs"),
    ("tx_dropped", "tx_drop"),
    ("tx_fifo_errors", "tx_fifo"),
];
