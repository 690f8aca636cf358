// SPDX-License-Identifier: MIT OR Apache-2.0
//! What else was going on: other traffic, captures, processors that changed their pace.

use crate::evidence::Source;
use linerate_model::output::{Protocol, Test};

use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, set_up_number};
use linerate_model::record::Side;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    multicast(vantage, facts);
    match vantage.test {
        Some(test) => foreign(vantage, test, facts),
        None => outside(vantage, facts),
    }
}

/// Of a UDP test that has the interface for itself, everything beyond what its sender sent.
fn foreign(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let alone = vantage
        .record
        .run
        .tests
        .iter()
        .filter(|other| other.group == test.group)
        .count()
        == 1;
    let whole = test.payload_bytes + UDP_IP_BYTES <= mtu(vantage).unwrap_or(USUAL_MTU_BYTES);
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
    vantage.add(
        facts,
        "foreign_packet_ratio",
        foreign / sent as f64,
        "ratio",
        &arrived.source,
    );
    if test.duration_s > 0.0 {
        vantage.add(
            facts,
            "foreign_packets_per_second",
            foreign / test.duration_s,
            "1/s",
            &arrived.source,
        );
    }
}

fn mtu(vantage: &Vantage<'_>) -> Option<u32> {
    let interfaces = &vantage.record.host(vantage.host)?.interfaces;
    let mut interfaces = interfaces.iter();
    let interface = interfaces.find(|known| Some(known.name.as_str()) == vantage.interface);
    interface?.mtu
}

/// What readings before and after the only test of a text count.
fn around(vantage: &Vantage<'_>) -> Option<Counted> {
    let record = vantage.record;
    let outside = Vantage {
        test: None,
        ..*vantage
    };
    let counted = |source| {
        outside.counters().span_s(source)?;
        outside.of_interface(source, "rx_packets")
    };
    let only = record.pasted && record.run.tests.len() == 1;
    let counted = [LINK, "/proc/net/dev"].into_iter().find_map(counted);
    counted.filter(|counted| only && !counted.since_boot)
}

/// No test sends any.
fn multicast(vantage: &Vantage<'_>, facts: &mut Facts) {
    let span = vantage.counters().span_s(LINK);
    if let Some((received, span)) = vantage.of_interface(LINK, "multicast").zip(span) {
        let rate = received.value as f64 / span;
        vantage.add(facts, "multicast_per_second", rate, "1/s", &received.source);
    }
}

fn outside(vantage: &Vantage<'_>, facts: &mut Facts) {
    if let Some(interface) = vantage.interface {
        let sockets = set_up_number(
            vantage.record,
            vantage.host,
            "/proc/net/packet",
            Some(interface),
            "sockets",
        );
        if let Some(sockets) = sockets {
            vantage.add(
                facts,
                "capture_sockets",
                sockets as f64,
                "",
                "/proc/net/packet",
            );
        }
        return;
    }
    if let Some(change) = frequency_change(vantage) {
        vantage.add(
            facts,
            "frequency_change_ratio",
            change,
            "ratio",
            "scaling_cur_freq",
        );
    }
    if throttled(vantage) {
        vantage.add(facts, "throttling_logged", true, "", "dmesg");
    }
}

/// Between the first and the last reading of each processor that was read more than once.
fn frequency_change(vantage: &Vantage<'_>) -> Option<f64> {
    let mut readings: std::collections::BTreeMap<&str, Vec<f64>> =
        std::collections::BTreeMap::new();
    for setting in vantage
        .record
        .run
        .settings
        .iter()
        .filter(|setting| setting.host == vantage.host)
    {
        let frequency = setting
            .values
            .get("scaling_cur_freq")
            .and_then(|text| text.trim().parse().ok());
        if let Some(frequency) = frequency {
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

fn throttled(vantage: &Vantage<'_>) -> bool {
    let settings = vantage.record.run.settings.iter();
    let mut logs =
        settings.filter(|setting| setting.host == vantage.host && setting.source == "dmesg");
    logs.any(|setting| {
        let mut lines = setting
            .values
            .values()
            .map(|line| line.to_ascii_lowercase());
        lines.any(|line| {
            line.contains("clock throttled") || line.contains("temperature above threshold")
        })
    })
}

/// Headers of UDP and IPv4. A datagram that does not fit is several packets.
const UDP_IP_BYTES: u32 = 28;
const USUAL_MTU_BYTES: u32 = 1500;
const LINK: &str = Source::Link.text();
