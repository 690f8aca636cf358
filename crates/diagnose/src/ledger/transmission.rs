// SPDX-License-Identifier: MIT OR Apache-2.0
//! What TCP lost: it counts what it sent again, and some of that was for nothing.

use linerate_model::output::Test;

use super::reasons;
use crate::evidence::{Evidence, Source};
use linerate_model::record::Side;

/// Segments sent again less those that the receiver had already: as many as it reported to the sender
/// (RFC 2883), or as its kernel freed or rejected (RFC 7323, PAWS) for that reason. `None` where the sender's kernel
/// does not tell.
pub(super) fn lost(evidence: &Evidence<'_>, test: &Test) -> Option<u64> {
    let grew = |side: Side, source, name| {
        let place = evidence.at(side.role(test), None, evidence.window(test));
        Some(place.moved(source, name)?.grew.at_least)
    };
    let reported = grew(Side::Sender, Source::Netstat, "TcpExtTCPDSACKRecvSegs")
        .or_else(|| grew(Side::Sender, Source::Netstat, "TcpExtTCPDSACKRecv"))?;
    let freed_in = |list: Source| {
        let counts = DUPLICATES.map(|reason| grew(Side::Receiver, list, reason));
        let known: Vec<u64> = counts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<u64>())
    };
    // With data both ways the sample keeps them apart.
    let freed = freed_in(Source::DropsReceived).or_else(|| freed_in(reasons::SOURCE));
    let late = grew(Side::Receiver, Source::Netstat, "TcpExtPAWSEstab").unwrap_or(0);
    let spurious = reported.max(freed.unwrap_or(0)).max(late);
    Some(test.retransmits?.saturating_sub(spurious))
}

/// Why a kernel frees a segment whose data it has.
const DUPLICATES: [&str; 5] = [
    "TCP_OLD_DATA",
    "TCP_OLD_SEQUENCE",
    "TCP_OFOMERGE",
    "TCP_OFO_DROP",
    "TCP_RFC7323_PAWS",
];
