// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments that were sent again, those of them that the receiver already had, and the rate that the loss leaves.

use crate::evidence::{Evidence, Source};
use linerate_model::output::{Protocol, Test};

use crate::calc::tcp_bound::mathis_bits_per_second;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence) {
        let of_sender = vantage.side == Some(Side::Sender)
            && vantage
                .test
                .is_some_and(|test| test.protocol == Protocol::Tcp);
        if of_sender || vantage.is_host_alone() {
            sent_again(&vantage.as_host(), facts);
        }
    }
}

fn sent_again(host: &Vantage<'_>, facts: &mut Facts) {
    let Some(segments) = Segments::of(host) else {
        return;
    };
    let spurious = host.of_host(NETSTAT, "TcpExtTCPDSACKRecv");
    let spurious = spurious.map(|counted| counted.value as f64);
    let again = segments.again;
    let needed = (again - spurious.unwrap_or(0.0)).max(0.0) / segments.sent;
    let source = segments.source;
    let mut add = |name, value: Option<f64>, source| host.add(facts, name, value, source);
    add("retransmits", Some(again), source);
    add("retransmit_ratio", Some(again / segments.sent), source);
    add("needed_retransmit_ratio", Some(needed), source);
    let ratio = spurious.filter(|_| again > 0.0);
    let ratio = ratio.map(|spurious| (spurious / again).min(1.0));
    let source = "/proc/net/netstat TcpExtTCPDSACKRecv";
    add("spurious_retransmits", spurious, source);
    add("spurious_retransmit_ratio", ratio, source);
    let bound = host.test.and_then(|test| bound(test, needed));
    let source = "MSS, round-trip time and loss";
    add("mathis_bits_per_second", bound, source);
}

/// What all streams reach together at this loss.
fn bound(test: &Test, loss_ratio: f64) -> Option<f64> {
    let rtt_s = test.rtt_ns.filter(|rtt| rtt.p50 > 0)?.p50 as f64 / 1e9;
    let mss_bytes = f64::from(test.mss_bytes?);
    let each = mathis_bits_per_second(mss_bytes, rtt_s, loss_ratio);
    Some(each * f64::from(test.streams.max(1)))
}

struct Segments {
    again: f64,
    sent: f64,
    source: &'static str,
}

impl Segments {
    /// A test's own account, else what the host's TCP counted.
    fn of(vantage: &Vantage<'_>) -> Option<Self> {
        let segments = vantage
            .test
            .and_then(Self::of_test)
            .or_else(|| Self::of_host(vantage))?;
        (segments.sent > 0.0).then_some(segments)
    }

    fn of_test(test: &Test) -> Option<Self> {
        let again = test.retransmits? as f64;
        let bits = test.delivered_bits_per_second? * test.duration_s;
        let once = bits / 8.0 / f64::from(test.mss_bytes.unwrap_or(MSS_BYTES).max(1));
        Some(Self {
            again,
            sent: once + again,
            source: "the test's account",
        })
    }

    fn of_host(vantage: &Vantage<'_>) -> Option<Self> {
        let count = |name| Some(vantage.of_host(SNMP, name)?.value as f64);
        Some(Self {
            again: count("TcpRetransSegs")?,
            sent: count("TcpOutSegs")?,
            source: "/proc/net/snmp TcpRetransSegs, TcpOutSegs",
        })
    }
}

/// Of an Ethernet frame with TCP's timestamps, where the MSS is not known.
const MSS_BYTES: u32 = 1448;
const SNMP: &str = Source::Snmp.text();
const NETSTAT: &str = Source::Netstat.text();
