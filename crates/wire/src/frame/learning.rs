// SPDX-License-Identifier: MIT OR Apache-2.0
//! Learning frames: they show a bridge behind which port an address is (RFC 2544 section 23 b, RFC 2889 section 4.1).
//!
//! A frame of the local experimental protocol (IEEE 802 ethertype 88B5) whose source is the destination of the test
//! stream. [`read`](super::read) shows where it comes out. The caller paces: at most 50 a second for slow bridges.

use super::control::ControlFrame;
use crate::ether::Header;

/// A learning frame from the port that is to receive the stream to `destination_mac`, the port that will send it.
#[must_use]
pub fn learning(source_mac: [u8; 6], destination_mac: [u8; 6], vlan: Option<u16>) -> ControlFrame {
    let header = Header {
        destination: destination_mac,
        source: source_mac,
        vlan,
        ethertype: ETHERTYPE,
    };
    ControlFrame::new(&header, &[MARK])
}

/// Whether this is a learning frame's payload.
pub(super) fn is_ours(payload: &[u8]) -> bool {
    payload.starts_with(MARK)
}

/// IEEE 802 Local Experimental Ethertype 1.
pub(super) const ETHERTYPE: u16 = 0x88B5;
const MARK: &[u8] = b"linerate learning";
