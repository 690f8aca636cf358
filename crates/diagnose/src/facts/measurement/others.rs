// SPDX-License-Identifier: MIT OR Apache-2.0
//! What else was going on: other traffic, captures, processors that changed their pace.

mod own;

use crate::evidence::Source;
use linerate_model::map::Map;
use linerate_model::output::{Protocol, Test};

use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};
use linerate_model::record::Side;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    // No test sends any.
    vantage.add_rate(facts, "multicast_per_second", Source::Link, "multicast");
    match vantage.test {
        Some(test) => foreign(vantage, test, facts),
        None => outside(vantage, facts),
    }
}

/// Of a UDP test that has the interface for itself, everything beyond the test and its own conversation.
fn foreign(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let alone = vantage.evidence.group(&test.group).len() == 1;
    let known = vantage.described().and_then(|interface| interface.mtu);
    let mtu_bytes = known.unwrap_or(USUAL_MTU_BYTES);
    let whole = test.payload_bytes + UDP_IP_BYTES <= mtu_bytes;
    if test.protocol != Protocol::Udp || vantage.side != Some(Side::Receiver) || !alone || !whole {
        return;
    }
    let arrived = vantage.of_interface(LINK, "rx_packets");
    // A document without samples does not say when they were read: before and after the test.
    let of_test_s = (test.duration_s > 0.0).then_some(test.duration_s);
    let span_s = vantage.counters().span_s(LINK).or(of_test_s);
    let arrived = arrived.map(|counted| (counted, span_s));
    let arrived = arrived.or_else(|| around(vantage));
    let sent = test.sent_packets.filter(|sent| *sent > 0);
    let (Some((arrived, Some(span_s))), Some(sent)) = (arrived, sent) else {
        return;
    };
    let own = [
        sent,
        copies(test, sent),
        own::packets(vantage, test, span_s),
    ];
    let own = own.into_iter().fold(0, u64::saturating_add);
    let foreign = arrived.value.saturating_sub(own) as f64;
    let mut add = |name, value: f64| vantage.add(facts, name, value, &arrived.source);
    add("foreign_packets", foreign);
    add("foreign_packet_ratio", foreign / sent as f64);
    // The readings enclose the test: they are further apart than it is long.
    add("foreign_packets_per_second", foreign / span_s);
}

/// Copies that reached the interface, scaled from those that the program counted.
fn copies(test: &Test, sent: u64) -> u64 {
    let counted = u128::from(test.duplicate_packets.unwrap_or(0));
    let received = u128::from(test.received_packets.unwrap_or(sent).max(1));
    u64::try_from((counted * u128::from(sent)).div_ceil(received)).unwrap_or(u64::MAX)
}

/// What readings before and after the only test of a text count, and how far apart they are.
fn around(vantage: &Vantage<'_>) -> Option<(Counted, Option<f64>)> {
    let record = vantage.record;
    let outside = vantage.without_test();
    let counted = |source| {
        let span_s = outside.counters().span_s(source)?;
        Some((outside.of_interface(source, "rx_packets")?, Some(span_s)))
    };
    let only = record.pasted && record.run.tests.len() == 1;
    let counted = [LINK, "/proc/net/dev"].into_iter().find_map(counted);
    counted.filter(|(counted, _)| only && !counted.since_boot)
}

fn outside(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = "/proc/net/packet";
    if vantage.interface.is_some() {
        let sockets = vantage.number(source, "sockets");
        let sockets = sockets.map(|sockets| sockets as f64);
        return vantage.add(facts, "capture_sockets", sockets, source);
    }
    let change = frequency_change(vantage);
    vantage.add(facts, "frequency_change_ratio", change, "scaling_cur_freq");
    let throttled = vantage.logged(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("clock throttled") || line.contains("temperature above threshold")
    });
    if throttled > Some(0) {
        vantage.add(facts, "throttling_logged", true, "dmesg");
    }
}

/// Between the first and the last reading of each processor that was read more than once.
fn frequency_change(vantage: &Vantage<'_>) -> Option<f64> {
    let mut readings: Map<&str, Vec<f64>> = Map::new();
    let settings = vantage.record.run.settings.iter();
    for setting in settings.filter(|setting| setting.host == vantage.host) {
        let frequency = setting.values.get("scaling_cur_freq");
        if let Some(frequency) = frequency.and_then(|text| text.trim().parse().ok()) {
            readings.entry(&setting.source).or_default().push(frequency);
        }
    }
    let twice = readings.values().filter(|row| row.len() > 1);
    let ends: Vec<(f64, f64)> = twice
        .filter_map(|row| Some((*row.first()?, *row.last()?)))
        .collect();
    let (before, after) = ends.iter().fold((0.0, 0.0), |(before, after), pair| {
        (before + pair.0, after + pair.1)
    });
    (before > 0.0).then(|| ((after - before) / before).abs())
}

/// Headers of UDP and IPv4. A datagram that does not fit is several packets.
const UDP_IP_BYTES: u32 = 28;
const USUAL_MTU_BYTES: u32 = 1500;
const LINK: &str = Source::Link.text();
