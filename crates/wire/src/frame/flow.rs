// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends to whom: what all frames of one flow have in common.

use std::net::IpAddr;

use super::address::{Family, Side};

/// One flow of test frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Of the port that sends.
    pub source_mac: [u8; 6],
    /// Of the next hop (routed), or of the port that receives (bridged).
    pub destination_mac: [u8; 6],
    /// 802.1Q tag, 1 to 4094.
    pub vlan: Option<u16>,
    /// IP address; of the same family as `destination`.
    pub source: IpAddr,
    /// IP address.
    pub destination: IpAddr,
    /// UDP port.
    pub source_port: u16,
    /// UDP port.
    pub destination_port: u16,
    /// Hops that are allowed: one less after each router.
    pub ttl: u8,
}

/// The UDP source port of RFC 2544 appendix C, of the first flow.
pub const SOURCE_PORT: u16 = 0xC020;
/// The UDP destination port of RFC 2544 appendix C: echo.
pub const DESTINATION_PORT: u16 = 7;
/// The time to live of RFC 2544 appendix C. A bridge leaves it, a router takes one.
pub const TTL: u8 = 10;

impl Flow {
    /// The first flow of a test: from the tester's port on one side to its port on the other, untagged.
    #[must_use]
    pub const fn first(
        from: Side,
        family: Family,
        source_mac: [u8; 6],
        destination_mac: [u8; 6],
    ) -> Self {
        let hosts = (from.tester(family), from.opposite().tester(family));
        Self::between(hosts, source_mac, destination_mac)
    }

    /// The first flow from one host to another of the same family, untagged.
    #[must_use]
    pub const fn between(
        (source, destination): (IpAddr, IpAddr),
        source_mac: [u8; 6],
        destination_mac: [u8; 6],
    ) -> Self {
        Self {
            source_mac,
            destination_mac,
            vlan: None,
            source,
            destination,
            source_port: SOURCE_PORT,
            destination_port: DESTINATION_PORT,
            ttl: TTL,
        }
    }

    /// The smallest size of a frame that has room for the signature, with FCS: 64 for IPv4, 84 for IPv6, 4 more tagged.
    #[must_use]
    pub const fn smallest_size_bytes(&self) -> u16 {
        let size = if self.source.is_ipv4() { 64 } else { 84 };
        if self.vlan.is_some() { size + 4 } else { size }
    }
}
