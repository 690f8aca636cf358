// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other traffic that arrives at a port, as far as it identifies the device.

use crate::ether::Frame;
use crate::{ipv6, nd};

/// A frame that is not of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Link layer discovery (IEEE 802.1AB).
    Lldp,
    /// Spanning tree, standard or per VLAN: the device is a bridge, and may hold a new port back for 30 s.
    SpanningTree,
    /// Flow control (IEEE 802.3 annex 31B) that reached software: the device asks for a pause.
    Pause,
    /// Link aggregation and other slow protocols (IEEE 802.3 annex 57A).
    SlowProtocol,
    /// IPv6: a host that looks for routers.
    RouterSolicitation,
    /// IPv6: a router that makes itself known.
    RouterAdvertisement,
    /// IPv6: who listens to multicast groups (RFC 3810).
    MulticastListener,
    /// Any other packet of IPv4 or IPv6, by its protocol number.
    Ip {
        /// The upper layer.
        protocol: u8,
    },
    /// Any other protocol.
    Other {
        /// Of Ethernet; a length where it is at most 1500.
        ethertype: u16,
    },
    /// Too short, or its own lengths contradict each other.
    Malformed,
}

impl Foreign {
    /// Of a frame that is neither IP nor ARP.
    pub(super) fn of(frame: &Frame<'_>) -> Self {
        match frame.ethertype {
            LLDP => Self::Lldp,
            MAC_CONTROL => Self::Pause,
            SLOW => Self::SlowProtocol,
            0..=LONGEST_LENGTH if is_spanning_tree(frame.payload) => Self::SpanningTree,
            ethertype => Self::Other { ethertype },
        }
    }

    /// Of an IPv6 packet that says nothing of neighbours.
    pub(super) fn of_ipv6(packet: &ipv6::Packet<'_>) -> Self {
        match (packet.protocol, packet.payload.first()) {
            (nd::ICMPV6, Some(133)) => Self::RouterSolicitation,
            (nd::ICMPV6, Some(134)) => Self::RouterAdvertisement,
            (nd::ICMPV6, Some(130..=132 | 143)) => Self::MulticastListener,
            (protocol, _) => Self::Ip { protocol },
        }
    }
}

fn is_spanning_tree(payload: &[u8]) -> bool {
    SPANNING_TREE.iter().any(|llc| payload.starts_with(llc))
}

const LLDP: u16 = 0x88CC;
const MAC_CONTROL: u16 = 0x8808;
const SLOW: u16 = 0x8809;
const LONGEST_LENGTH: u16 = 1500;
/// LLC of IEEE 802.1D, and the SNAP header of the trees per VLAN.
const SPANNING_TREE: [&[u8]; 2] = [
    &[0x42, 0x42, 0x03],
    &[0xAA, 0xAA, 0x03, 0x00, 0x00, 0x0C, 0x01, 0x0B],
];
