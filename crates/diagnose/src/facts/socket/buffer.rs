// SPDX-License-Identifier: MIT OR Apache-2.0
//! The datagram socket's receive buffer: what was asked, what was granted, for how long it lasts.

use crate::evidence::Source;
use linerate_model::output::{ReceiveBuffer, Role, Test};

use crate::calc::udp_buffer::{lasts_s, usual_truesize_bytes};
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, set_up};
use linerate_model::record::{Record, Side};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if let Some(test) = vantage
        .test
        .filter(|_| vantage.side == Some(Side::Receiver))
    {
        of_test(vantage, test, facts);
    }
    if vantage.is_host() {
        errors(&vantage.as_host(), facts);
    }
}

fn of_test(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let Some(buffer) = test.receive_buffer_bytes else {
        return;
    };
    let mut add = |name, bytes: Option<u64>| {
        vantage.add(facts, name, bytes.map(|bytes| bytes as f64), "SO_RCVBUF");
    };
    add("receive_buffer_asked_bytes", buffer.asked);
    add("receive_buffer_granted_bytes", buffer.granted);
    cut_by(vantage, buffer, facts);
    let lasts_ms = buffer.granted.zip(stream_pps(test)).map(|(granted, rate)| {
        // The kernel keeps twice of what it grants, to pay for its own bookkeeping.
        lasts_s(granted * 2, usual_truesize_bytes(test.payload_bytes), rate) * 1e3
    });
    let source = "SO_RCVBUF, the test's account";
    vantage.add(facts, "receive_buffer_lasts_ms", lasts_ms, source);
}

/// A kernel grants at most its setting; where that is unknown it is the usual suspect.
fn cut_by(vantage: &Vantage<'_>, buffer: ReceiveBuffer, facts: &mut Facts) {
    let most = most_bytes(vantage.record, vantage.host);
    let bytes = most.map(|most| most as f64);
    vantage.add(facts, "rmem_max_bytes", bytes, "sysctl net.core.rmem_max");
    let (Some(asked), Some(granted)) = (buffer.asked, buffer.granted) else {
        return;
    };
    if granted < asked {
        let other = most.is_some_and(|most| most >= asked);
        let by = if other {
            "something else"
        } else {
            "net.core.rmem_max"
        };
        vantage.add(facts, "receive_buffer_cut_by", by, "SO_RCVBUF, sysctl");
    }
}

/// A host's `net.core.rmem_max`; both ends of one machine have the same.
pub(crate) fn most_bytes(record: &Record, host: Role) -> Option<u64> {
    let of = |host| -> Option<u64> {
        let value = set_up(record, host, "sysctl", None, "net.core.rmem_max")?;
        value.trim().parse().ok()
    };
    let shared = || of(Role::Local).filter(|_| record.one_machine());
    of(host).or_else(shared)
}

/// Datagrams a second that one stream offered.
pub(super) fn stream_pps(test: &Test) -> Option<f64> {
    let sent = test.sent_packets.filter(|sent| *sent > 0)? as f64;
    (test.duration_s > 0.0).then(|| sent / test.duration_s / f64::from(test.streams.max(1)))
}

/// Both versions of IP together.
fn errors(host: &Vantage<'_>, facts: &mut Facts) {
    let Some(errors) = both(host, "UdpRcvbufErrors", "Udp6RcvbufErrors") else {
        return;
    };
    if let Some(received) = both(host, "UdpInDatagrams", "Udp6InDatagrams") {
        let came = (errors.value + received.value).max(1);
        let ratio = errors.value as f64 / came as f64;
        host.add(facts, "udp_buffer_error_ratio", ratio, &errors.source);
    }
    host.add_counted(facts, "udp_buffer_errors", Some(errors));
}

/// A counter of IPv4 and its twin of IPv6.
pub(super) fn both(host: &Vantage<'_>, four: &'static str, six: &'static str) -> Option<Counted> {
    host.sum_of_host([(Source::Snmp, four), (Source::Snmp6, six)])
}
