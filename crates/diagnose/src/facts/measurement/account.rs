// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each test's own account, in the words that rules use.

use linerate_method::line_rate::{Family, Framing, Transport};
use linerate_model::output::{Interface, LinkKind, Protocol, Role, Test, Value};

use crate::facts::{Facts, fact};
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in &record.run.tests {
        let mut add = |name: &str, value: Option<Value>, unit: &str| {
            if let Some(value) = value {
                let mut fact = fact(name, value, unit, "the test's account");
                fact.test_id = Some(test.id.clone());
                facts.add(fact);
            }
        };
        what(test, &mut add);
        rates(record, test, &mut add);
        order(test, &mut add);
    }
    if record.run.hosts.len() > 1 {
        facts.add(fact(
            "one_machine",
            record.one_machine(),
            "",
            "boot_id of both ends",
        ));
    }
}

type Add<'a> = dyn FnMut(&str, Option<Value>, &str) + 'a;

fn what(test: &Test, add: &mut Add<'_>) {
    let protocol = match test.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    };
    add("protocol", Some(protocol.into()), "");
    let positive = |number: f64| (number > 0.0).then_some(number.into());
    add(
        "payload_bytes",
        positive(f64::from(test.payload_bytes)),
        "bytes",
    );
    add("streams", positive(f64::from(test.streams)), "");
    if !only_a_rate(test) {
        add("duration_s", positive(test.duration_s), "s");
    }
    let kind = test.link_kind.map(|kind| match kind {
        LinkKind::Wire => "wire",
        LinkKind::Veth => "veth",
        LinkKind::Tap => "tap",
        LinkKind::Loopback => "loopback",
    });
    add("link_kind", kind.map(Value::from), "");
}

/// A table of packets a second says nothing of how long it took; it is kept as one second.
pub(super) fn only_a_rate(test: &Test) -> bool {
    test.duration_s == 1.0 && test.sent_packets.is_none() && test.received_packets.is_some()
}

fn rates(record: &Record, test: &Test, add: &mut Add<'_>) {
    let (requested, offered, delivered) = (
        test.requested_bits_per_second,
        test.offered_bits_per_second,
        test.delivered_bits_per_second,
    );
    let line_rate = line_rate_bits_per_second(record, test);
    let bits = |rate: Option<f64>| rate.map(Value::from);
    add("requested_bits_per_second", bits(requested), "bit/s");
    add("offered_bits_per_second", bits(offered), "bit/s");
    add("delivered_bits_per_second", bits(delivered), "bit/s");
    add("line_rate_bits_per_second", bits(line_rate), "bit/s");
    add("line_rate_ratio", ratio(delivered, line_rate), "ratio");
    add("offered_ratio", ratio(offered, requested), "ratio");
    let lacking = match test.protocol {
        Protocol::Udp => requested.zip(offered),
        Protocol::Tcp => line_rate.zip(delivered),
    };
    add(
        "lacking_bits_per_second",
        bits(lacking.map(|(due, got)| (due - got).max(0.0))),
        "bit/s",
    );
    let received = test.received_packets.filter(|_| test.duration_s > 0.0);
    add(
        "delivered_pps",
        received.map(|packets| (packets as f64 / test.duration_s).into()),
        "1/s",
    );
}

fn order(test: &Test, add: &mut Add<'_>) {
    let count = |packets: Option<u64>| packets.map(|packets| packets as f64);
    let sent = count(test.sent_packets);
    for (name, packets) in [
        ("corrupt_packets", test.corrupt_packets),
        ("duplicate_packets", test.duplicate_packets),
        ("reordered_packets", test.reordered_packets),
        ("reorder_extent_max", test.reorder_extent_max),
    ] {
        add(name, count(packets).map(Value::from), "packets");
    }
    add(
        "reordered_ratio",
        ratio(count(test.reordered_packets), sent),
        "ratio",
    );
    add(
        "duplicate_ratio",
        ratio(count(test.duplicate_packets), sent),
        "ratio",
    );
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<Value> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    Some((part? / whole).into())
}

/// What the slower of the two links carries of this payload.
fn line_rate_bits_per_second(record: &Record, test: &Test) -> Option<f64> {
    let ends = [
        (Role::Local, &test.local_interface),
        (Role::Remote, &test.remote_interface),
    ];
    let interfaces: Vec<&Interface> = ends
        .into_iter()
        .filter_map(|(role, name)| {
            let known = &record.host(role)?.interfaces;
            known
                .iter()
                .find(|interface| Some(&interface.name) == name.as_ref())
        })
        .collect();
    let framing = Framing {
        link_bits_per_second: interfaces
            .iter()
            .filter_map(|interface| interface.link_bits_per_second)
            .min()?,
        mtu_bytes: interfaces
            .iter()
            .filter_map(|interface| interface.mtu)
            .min()?,
        transport: match test.protocol {
            Protocol::Udp => Transport::Udp,
            Protocol::Tcp => Transport::Tcp { timestamps: true },
        },
        family: if test.af == 6 { Family::V6 } else { Family::V4 },
    };
    // How long TCP's writes are makes no difference, so that nobody needs to tell it.
    let payload_bytes = match test.protocol {
        Protocol::Udp => test.payload_bytes,
        Protocol::Tcp => test.payload_bytes.max(FULL_SEGMENT_BYTES),
    };
    Some(framing.line_rate(payload_bytes)?.l4_bits_per_second)
}

/// Longer than any segment.
const FULL_SEGMENT_BYTES: u32 = 65_536;
