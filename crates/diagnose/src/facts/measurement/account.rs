// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each test's own account, in the words that rules use.

use linerate_method::line_rate::{Family, Framing, Transport};
use linerate_model::output::{Interface, LinkKind, Protocol, Role, Test};

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in record.tests() {
        what(test, facts);
        let mut add = |name: &str, value: Option<f64>| {
            facts.add_to_test(&test.id, name, value, ACCOUNT);
        };
        rates(record, test, &mut add);
        order(test, &mut add);
    }
    let of_both = record.run.hosts.len() > 1 || record.one_machine();
    let shared = crate::facts::cpu::one_machine(record).filter(|_| of_both);
    if let Some((shared, source)) = shared {
        facts.add_to_run("one_machine", shared, source);
    }
}

type Add<'a> = dyn FnMut(&str, Option<f64>) + 'a;

fn what(test: &Test, facts: &mut Facts) {
    let protocol = match test.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    };
    facts.add_to_test(&test.id, "protocol", protocol, ACCOUNT);
    let duration_s = if only_a_rate(test) {
        0.0
    } else {
        test.duration_s
    };
    for (name, number) in [
        ("payload_bytes", f64::from(test.payload_bytes)),
        ("streams", f64::from(test.streams)),
        ("duration_s", duration_s),
    ] {
        let positive = (number > 0.0).then_some(number);
        facts.add_to_test(&test.id, name, positive, ACCOUNT);
    }
    let stalled = test.stalled_mss_bytes.map(f64::from);
    facts.add_to_test(
        &test.id,
        "stalled_mss_bytes",
        stalled,
        "the control connection",
    );
    let loopback = test.link_kind == Some(LinkKind::Loopback);
    facts.add_to_test(&test.id, "over_loopback", loopback, ACCOUNT);
    let asked = test.requested_bits_per_second;
    let met = asked.zip(test.delivered_bits_per_second);
    let met = met.is_some_and(|(asked, delivered)| delivered >= asked * MET);
    facts.add_to_test(&test.id, "met_request", met, ACCOUNT);
    let tap = test.link_kind == Some(LinkKind::Tap);
    facts.add_to_test(&test.id, "over_tap", tap, ACCOUNT);
    let kind = test.link_kind.map(LinkKind::name);
    facts.add_to_test(&test.id, "link_kind", kind, ACCOUNT);
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
    add("requested_bits_per_second", requested);
    add("offered_bits_per_second", offered);
    add("delivered_bits_per_second", delivered);
    add("line_rate_bits_per_second", line_rate);
    add("line_rate_ratio", ratio(delivered, line_rate));
    // A sender that failed was not slow.
    let failed = test.warnings.iter().any(|one| one.id == "stream-failed");
    let due = requested.filter(|_| !failed);
    add("offered_ratio", ratio(offered, due));
    let lacking = match test.protocol {
        Protocol::Udp => requested.zip(offered),
        Protocol::Tcp => line_rate.zip(delivered),
    };
    let lacking = lacking.map(|(due, got)| (due - got).max(0.0));
    add("lacking_bits_per_second", lacking);
    let received = test.received_packets.filter(|_| test.duration_s > 0.0);
    let rate = received.map(|packets| packets as f64 / test.duration_s);
    add("delivered_pps", rate);
}

fn order(test: &Test, add: &mut Add<'_>) {
    let count = |packets: Option<u64>| packets.map(|packets| packets as f64);
    let sent = count(test.sent_packets);
    let reordered = count(test.reordered_packets);
    let duplicates = count(test.duplicate_packets);
    add("corrupt_packets", count(test.corrupt_packets));
    add("duplicate_packets", duplicates);
    add("reordered_packets", reordered);
    add("reorder_extent_max", count(test.reorder_extent_max));
    add("reordered_ratio", ratio(reordered, sent));
    add("duplicate_ratio", ratio(duplicates, sent));
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    Some(part? / whole)
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
    let speeds = interfaces.iter().filter_map(|one| one.link_bits_per_second);
    let framing = Framing {
        link_bits_per_second: speeds.min()?,
        mtu_bytes: interfaces.iter().filter_map(|one| one.mtu).min()?,
        transport: match test.protocol {
            Protocol::Udp => Transport::Udp,
            Protocol::Tcp => Transport::Tcp { timestamps: true },
        },
        family: if test.af == 6 { Family::V6 } else { Family::V4 },
    };
    // The length of TCP's writes makes no difference, so it need not be known.
    let payload_bytes = match test.protocol {
        Protocol::Udp => test.payload_bytes,
        Protocol::Tcp => test.payload_bytes.max(FULL_SEGMENT_BYTES),
    };
    Some(framing.line_rate(payload_bytes)?.l4_bits_per_second)
}

const ACCOUNT: &str = "the test's account";
/// A short test is a little longer or shorter than its clock says.
const MET: f64 = 0.98;
/// Longer than any segment.
const FULL_SEGMENT_BYTES: u32 = 65_536;
