// SPDX-License-Identifier: MIT OR Apache-2.0
//! What else was going on: other traffic, captures, processors that changed their pace.

use std::collections::BTreeMap;

use crate::evidence::Source;
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

/// Of a UDP test that has the interface for itself, everything beyond what its sender sent.
fn foreign(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let tests = vantage.record.run.tests.iter();
    let alone = tests.filter(|other| other.group == test.group).count() == 1;
    let known = vantage.described().and_then(|interface| interface.mtu);
    let mtu_bytes = known.unwrap_or(USUAL_MTU_BYTES);
    let whole = test.payload_bytes + UDP_IP_BYTES <= mtu_bytes;
    if test.protocol != Protocol::Udp || vantage.side != Some(Side::Receiver) || !alone || !whole {
        return;
    }
    let arrived = vantage.of_interface(LINK, "rx_packets");
    let arrived = arrived.or_else(|| around(vantage));
    let (Some(arrived), Some(sent)) = (arrived, test.sent_packets.filter(|sent| *sent > 0)) else {
        return;
    };
    let own = sent + test.duplicate_packets.unwrap_or(0);
    let foreign = arrived.value.saturating_sub(own) as f64;
    let (ratio, source) = (foreign / sent as f64, &arrived.source);
    vantage.add(facts, "foreign_packet_ratio", ratio, source);
    let rate = (test.duration_s > 0.0).then(|| foreign / test.duration_s);
    vantage.add(facts, "foreign_packets_per_second", rate, source);
}

/// What readings before and after the only test of a text count.
fn around(vantage: &Vantage<'_>) -> Option<Counted> {
    let record = vantage.record;
    let outside = vantage.without_test();
    let counted = |source| {
        outside.counters().span_s(source)?;
        outside.of_interface(source, "rx_packets")
    };
    let only = record.pasted && record.run.tests.len() == 1;
    let counted = [LINK, "/proc/net/dev"].into_iter().find_map(counted);
    counted.filter(|counted| only && !counted.since_boot)
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
    let mut readings: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
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
