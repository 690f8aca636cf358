// SPDX-License-Identifier: MIT OR Apache-2.0
//! What TCP lost: it tells what it sent again, and some of that was for nothing.

use linerate_model::counters::Width;
use linerate_model::output::Test;

use super::readings::{List, Readings};
use super::reasons;
use linerate_model::record::Side;

/// Segments sent again less those that the receiver had already: as many as it told the sender
/// (RFC 2883), or as its kernel freed for that reason. `None` where the sender's kernel does not tell.
pub(super) fn lost(test: &Test, readings: &Readings<'_>) -> Option<u64> {
    let grew = |side: Side, source, name| {
        let list = List {
            role: side.role(test),
            source,
            interface: None,
            width: Width::Bits64,
            most_per_second: 0.0,
        };
        Some(readings.moved(list, name)?.grew.at_least)
    };
    let netstat = "/proc/net/netstat";
    let told = grew(Side::Sender, netstat, "TcpExtTCPDSACKRecvSegs")
        .or_else(|| grew(Side::Sender, netstat, "TcpExtTCPDSACKRecv"))?;
    let had = ["TCP_OLD_DATA", "TCP_OLD_SEQUENCE"].map(|reason| {
        let freed = grew(Side::Receiver, reasons::SOURCE, reason);
        freed.unwrap_or(0)
    });
    let spurious = told.max(had.iter().sum());
    Some(test.retransmits?.saturating_sub(spurious))
}
