// SPDX-License-Identifier: MIT OR Apache-2.0
//! What TCP lost: it tells what it sent again, and some of that was for nothing.

use linerate_model::counters::Width;
use linerate_model::output::Test;

use super::readings::{List, Readings};
use crate::record::Side;

/// Segments sent again less those that the receiver had already (RFC 2883). `None` where the
/// sender's kernel does not tell of the latter.
pub(super) fn lost(test: &Test, readings: &Readings<'_>) -> Option<u64> {
    let list = List {
        role: Side::Sender.role(test),
        source: "/proc/net/netstat",
        interface: None,
        width: Width::Bits64,
        most_per_second: 0.0,
    };
    let spurious = readings.moved(list, "TcpExtTCPDSACKRecv")?;
    Some(test.retransmits?.saturating_sub(spurious.grew.at_least))
}
