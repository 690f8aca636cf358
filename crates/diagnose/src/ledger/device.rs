// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the two interfaces' drivers counted, by the driver's table; and what the kernel's core
//! counts on each interface.
//!
//! A field that the driver never fills is not evidence. Of a driver without a table a counter that
//! increased is believed by its name, and one that did not is not evidence.

use super::claim::{Claim, Claims, Kind, evidence};
use super::internet::pieces;
use super::path::{End, Path};
use super::reasons::refused_below_ip;
use super::span::Span;
use crate::evidence::{Count, Moved, Source};
use linerate_knowledge::{Driver, Field, Stage, Unit};
use linerate_model::output::{Evidence, Value};
use linerate_model::record::Side;

pub(super) fn collect(path: &Path<'_>, claims: &mut Claims) {
    for side in [Side::Sender, Side::Receiver] {
        let end = path.end(side);
        let mut counts = end.place.drop_counters(side);
        counts
            .iter_mut()
            .for_each(|count| adjust(path, side, count));
        for count in end.place.resolve(side, counts) {
            if end.driver.is_some() || count.moved.grew.at_least > 0 {
                claims.add(claim(path, end, count));
            }
        }
        if let Some(driver) = end.driver {
            core(path, side, driver, claims);
        }
    }
    signal(path, claims);
}

/// Errors of the signal at the receiver count blocks or symbols, not the packets that died of them: they support what
/// was found on the wire, and claim nothing.
fn signal(path: &Path<'_>, claims: &mut Claims) {
    let mut counted = errors(path);
    counted.extend(last_bin(path));
    counted.extend(poor_quality(path));
    if counted.is_empty() {
        return;
    }
    // A healthy link corrects blocks, too: alone they support nothing.
    counted.extend(grown(path, (Source::Fec, "corrected_blocks", "blocks")));
    let receiver = &path.receiver;
    let nothing = Span::default();
    claims.add(receiver.claim_at_interface(Stage::Wire, Kind::Shared, nothing, counted));
}

fn errors(path: &Path<'_>) -> Vec<Evidence> {
    let counters = [
        (Source::Fec, "uncorrectable_blocks", "blocks"),
        (Source::EthPhy, "SymbolErrorDuringCarrier", "symbols"),
        (Source::Phydev, "RxErrors", "frames"),
    ];
    let each = counters.into_iter();
    each.filter_map(|counter| grown(path, counter)).collect()
}

fn grown(path: &Path<'_>, (source, name, unit): (Source, &str, &str)) -> Option<Evidence> {
    let grew = path.counted(Side::Receiver, source, name)?.grew.at_least;
    (grew > 0).then(|| evidence(name, grew, unit, source.text()))
}

/// The last bin of the histogram: blocks with as many wrong symbols as the code can just correct.
fn last_bin(path: &Path<'_>) -> Option<Evidence> {
    let bins = path.receiver.place.each(Source::Fec);
    let bins = bins.filter_map(|(name, moved)| {
        let (_, high) = name.strip_prefix("symbol_errors ")?.split_once('-')?;
        Some((high.parse::<u32>().ok()?, name, moved.grew.at_least))
    });
    let (_, name, grew) = bins.max_by_key(|(high, ..)| *high)?;
    (grew > 0).then(|| evidence(name, grew, "blocks", Source::Fec.text()))
}

/// Below 3 of 7, as rule L29 has it; only where something was lost.
fn poor_quality(path: &Path<'_>) -> Option<Evidence> {
    let (index, most) = path.receiver.signal_quality?;
    let is_poor = path.lost > 0 && index / most < 0.4;
    is_poor.then(|| Evidence {
        fact: "sqi".to_owned(),
        value: Value::Number(index),
        unit: format!("of {most}"),
        source: "ethtool".to_owned(),
    })
}

/// What else stands in a field: drops of the backlog in `rx_dropped`; in those of a veth pair also
/// what send calls refused at once, and what the other end's field shows.
fn adjust(path: &Path<'_>, side: Side, count: &mut Count) {
    if count.shared {
        count.moved = count.moved.of_others_too();
        return;
    }
    count.moved = count.moved.perhaps_without(path.lost_by_others);
    let is = |name| count.source == Source::Link && count.name == name;
    let grew = |side, source, name| {
        path.counted(side, source, name)
            .map_or(0, |moved| moved.grew.at_least)
    };
    let veth = path
        .end(side)
        .driver
        .is_some_and(|driver| driver.name == "veth");
    if is("rx_dropped") {
        count.moved = count
            .moved
            .perhaps_without(grew(side, Source::Softnet, "dropped"));
    }
    if veth && (is("rx_dropped") || is("tx_dropped")) {
        count.moved = count.moved.less(refused_below_ip(path));
    }
    if veth && is("tx_dropped") {
        count.moved = count
            .moved
            .perhaps_without(grew(Side::Receiver, Source::Link, "rx_dropped"));
    }
}

fn claim(path: &Path<'_>, end: &End<'_>, count: Count) -> Claim {
    let seen = packets(path, end, &count);
    let (unit, source) = (count.unit.word(), count.source.text());
    let evidence = vec![evidence(&count.name, count.counted, unit, source)];
    end.claim_at_interface(count.stage, Kind::Shared, seen, evidence)
}

fn packets(path: &Path<'_>, end: &End<'_>, count: &Count) -> Span {
    let joined = if count.unit == Unit::Segments {
        end.joined
    } else {
        1
    };
    pieces(path, count.moved, joined)
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
        let Some(moved) = path.moved(side, Source::Link, field).filter(|_| !filled) else {
            continue;
        };
        let backlog = path
            .moved(side, Source::Softnet, "dropped")
            .filter(|_| *field == "rx_dropped");
        let moved = moved.without(backlog.unwrap_or(Moved::nothing()));
        let grew = moved.grew.at_least;
        let end = path.end(side);
        let seen = pieces(path, moved, end.joined);
        let evidence = vec![evidence(field, grew, "packets", Source::Link.text())];
        claims.add(end.claim_at_interface(stage, Kind::Shared, seen, evidence));
    }
}
