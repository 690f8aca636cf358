// SPDX-License-Identifier: MIT OR Apache-2.0
//! IPv4 packets (RFC 791).

use std::net::Ipv4Addr;

use crate::checksum::Checksum;

/// A view of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// What is carried: 17 for UDP.
    pub protocol: u8,
    /// TOS byte: DSCP and ECN.
    pub tos: u8,
    /// Hops left.
    pub ttl: u8,
    /// Names the packet that fragments belong to.
    pub identification: u16,
    /// Whether it may not be fragmented.
    pub dont_fragment: bool,
    /// Whether more fragments follow.
    pub more_fragments: bool,
    /// Where this fragment belongs, bytes.
    pub fragment_offset_bytes: u16,
    /// Whether the checksum of the header is right.
    pub header_intact: bool,
    /// What is carried, without Ethernet's padding.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads the payload of a frame; `None` if it is no whole packet.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let fixed: &[u8; 20] = bytes.first_chunk()?;
        let header_bytes = usize::from(fixed[0] & 0x0F) * 4;
        let total_bytes = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        if fixed[0] >> 4 != 4 || header_bytes < 20 {
            return None;
        }
        let fragment = u16::from_be_bytes([fixed[6], fixed[7]]);
        Some(Self {
            source: Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]),
            destination: Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]),
            protocol: fixed[9],
            tos: fixed[1],
            ttl: fixed[8],
            identification: u16::from_be_bytes([fixed[4], fixed[5]]),
            dont_fragment: fragment & 0x4000 != 0,
            more_fragments: fragment & 0x2000 != 0,
            fragment_offset_bytes: (fragment & 0x1FFF) << 3,
            header_intact: Checksum::new().with(bytes.get(..header_bytes)?).finish() == 0,
            payload: bytes.get(header_bytes..total_bytes)?,
        })
    }

    /// Whether it is a part of a larger packet.
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 192.168.0.1 to 192.168.0.199, UDP, four bytes of payload.
    const HEADER: [u8; 20] = [
        0x45, 0x00, 0x00, 0x18, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xB8, 0xBC, 0xC0, 0xA8, 0x00,
        0x01, 0xC0, 0xA8, 0x00, 0xC7,
    ];

    #[test]
    fn a_padded_packet_is_read() {
        let bytes = [&HEADER[..], &[1, 2, 3, 4], &[0; 22]].concat();
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!(packet.source, Ipv4Addr::new(192, 168, 0, 1));
        assert_eq!((packet.protocol, packet.payload), (17, &[1, 2, 3, 4][..]));
        assert!(packet.header_intact && packet.dont_fragment && !packet.is_fragment());
    }

    #[test]
    fn a_fragment_knows_its_place() {
        let mut bytes = [&HEADER[..], &[0; 4]].concat();
        bytes[6..8].copy_from_slice(&[0x20, 0xB9]);
        let packet = Packet::parse(&bytes).unwrap();
        assert!(packet.is_fragment() && packet.more_fragments && !packet.header_intact);
        assert_eq!(packet.fragment_offset_bytes, 1480);
    }

    #[test]
    fn what_is_cut_or_contradicts_itself_is_none() {
        let bytes = [&HEADER[..], &[0; 4]].concat();
        assert_eq!(Packet::parse(&bytes[..23]), None);
        for (at, value) in [(0, 0x65), (0, 0x44), (0, 0x4F), (3, 19)] {
            let mut broken = bytes.clone();
            broken[at] = value;
            assert_eq!(Packet::parse(&broken), None, "byte {at}");
        }
    }
}
