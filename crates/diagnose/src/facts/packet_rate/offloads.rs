// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the card does for the processor, and checksums that do not come out right.

use crate::evidence::{Evidence, Source};
use linerate_model::map::Map;
use linerate_model::output::{Direction, Protocol, Role, Test};

use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, vantages};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let mut short_only = ShortOnly::default();
    for vantage in vantages(evidence) {
        match vantage.test {
            None if vantage.interface.is_some() => features(&vantage, facts),
            None => vantage.add_counted(facts, "csum_errors", errors(&vantage)),
            Some(test) if vantage.side == Some(Side::Receiver) => {
                segments(&vantage, test, facts);
                checksums(&vantage, test, &mut short_only, facts);
            }
            Some(_) => {}
        }
    }
}

fn features(vantage: &Vantage<'_>, facts: &mut Facts) {
    for (name, key) in [
        ("tso", "tcp-segmentation-offload"),
        ("gso", "generic-segmentation-offload"),
        ("gro", "generic-receive-offload"),
        ("lro", "large-receive-offload"),
        ("tx_checksumming", "tx-checksumming"),
    ] {
        let state = vantage.set_up("ethtool -k", key);
        vantage.add(facts, name, state, &format!("ethtool -k {key}"));
    }
}

/// How many packets the stack handles, and how large they come.
fn segments(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let count = |name| {
        let counted = vantage.of_interface(Source::Link, name);
        counted.filter(|counted| counted.value > 0)
    };
    if let Some((bytes, packets)) = count("rx_bytes").zip(count("rx_packets")) {
        let each = bytes.value as f64 / packets.value as f64;
        vantage.add(facts, "rx_bytes_per_packet", each, &bytes.source);
    }
    let mss = test.mss_bytes.filter(|mss| *mss > 0);
    let rates = test.delivered_bits_per_second.zip(mss);
    let each = rates.map(|(rate, mss)| rate / 8.0 / f64::from(mss));
    let source = "the test's account";
    facts.add_to_test(&test.id, "segments_per_second", each, source);
}

fn checksums(vantage: &Vantage<'_>, test: &Test, short_only: &mut ShortOnly, facts: &mut Facts) {
    let host = vantage.as_host();
    let version = if test.af == 6 { 6.0 } else { 4.0 };
    host.add(facts, "ip_version", version, "the test's account");
    let Some(errors) = errors(vantage) else {
        return;
    };
    let (count, source) = (errors.value as f64, &errors.source);
    host.add(facts, "csum_errors", count, source);
    let sent = test.sent_packets.filter(|sent| *sent > 0);
    let ratio = sent.map(|sent| count / sent as f64);
    host.add(facts, "csum_error_ratio", ratio, source);
    host.add(
        facts,
        "csum_errors_short_only",
        short_only.at(vantage),
        source,
    );
}

fn errors(vantage: &Vantage<'_>) -> Option<Counted> {
    vantage.sum_of_host([
        (Source::Snmp, "UdpInCsumErrors"),
        (Source::Snmp, "TcpInCsumErrors"),
        (Source::Snmp6, "Udp6InCsumErrors"),
    ])
}

/// The answers for each host and direction.
#[derive(Debug, Default)]
struct ShortOnly(Map<(Role, bool), Option<bool>>);

impl ShortOnly {
    fn at(&mut self, vantage: &Vantage<'_>) -> Option<bool> {
        let down = vantage.test?.direction == Direction::Down;
        let key = (vantage.host, down);
        *self.0.entry(key).or_insert_with(|| short_only(vantage))
    }
}

/// Over all UDP tests of the direction; `None` unless both short and long datagrams were sent.
fn short_only(vantage: &Vantage<'_>) -> Option<bool> {
    let this = vantage.test?;
    let tests = vantage.record.tests().filter(|test| {
        test.protocol == Protocol::Udp && test.direction == this.direction && test.payload_bytes > 0
    });
    let (mut short, mut long) = (None, None);
    for test in tests {
        let there = Vantage {
            test: Some(test),
            ..*vantage
        };
        let bad = errors(&there).map(|errors| errors.value);
        let sum = if test.payload_bytes <= SHORT_BYTES {
            &mut short
        } else {
            &mut long
        };
        *sum = bad.map(|bad| bad + sum.unwrap_or(0)).or(*sum);
    }
    Some(short? > 0 && long? == 0)
}

/// Payload of a UDP datagram whose frame is padded: 60 bytes less Ethernet, IPv4 and UDP headers.
const SHORT_BYTES: u32 = 18;
