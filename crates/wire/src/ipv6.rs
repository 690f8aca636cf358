// SPDX-License-Identifier: MIT OR Apache-2.0
//! IPv6 packets (RFC 8200), through hop-by-hop, routing, destination and fragment headers.

use std::net::Ipv6Addr;

/// A view of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
    /// The protocol after the extension headers: 17 for UDP.
    pub protocol: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// The flow label.
    pub flow_label: u32,
    /// Hops left.
    pub hop_limit: u8,
    /// The fragment header, if there is one.
    pub fragment: Option<Fragment>,
    /// What is carried, without Ethernet's padding.
    pub payload: &'a [u8],
}

/// The fragment header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Where this fragment belongs, bytes.
    pub offset_bytes: u16,
    /// Whether more fragments follow.
    pub more: bool,
    /// Names the packet that fragments belong to.
    pub identification: u32,
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

impl<'a> Packet<'a> {
    /// Reads the payload of a frame; `None` if it is no whole packet.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = bytes.split_first_chunk::<8>()?;
        let (source, rest) = rest.split_first_chunk::<16>()?;
        let (destination, rest) = rest.split_first_chunk::<16>()?;
        let first_word = u32::from_be_bytes([fixed[0], fixed[1], fixed[2], fixed[3]]);
        if first_word >> 28 != 6 {
            return None;
        }
        let length = u16::from_be_bytes([fixed[4], fixed[5]]);
        let mut packet = Self {
            source: Ipv6Addr::from(*source),
            destination: Ipv6Addr::from(*destination),
            protocol: fixed[6],
            traffic_class: ((first_word >> 20) & 0xFF) as u8,
            flow_label: first_word & 0x000F_FFFF,
            hop_limit: fixed[7],
            fragment: None,
            payload: rest.get(..length.into())?,
        };
        packet.skip_extensions()?;
        Some(packet)
    }

    /// Whether it is a part of a larger packet (an atomic fragment, RFC 6946, is whole).
    #[must_use]
    pub fn is_fragment(&self) -> bool {
        self.fragment
            .is_some_and(|fragment| fragment.more || fragment.offset_bytes > 0)
    }

    /// Moves to the upper layer; after a fragment that is not the first there is nothing to read.
    fn skip_extensions(&mut self) -> Option<()> {
        while matches!(self.protocol, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION) {
            let header: &[u8; 8] = self.payload.first_chunk()?;
            let mut header_bytes = 8;
            if self.protocol == FRAGMENT {
                self.fragment = Some(Fragment::parse(header));
            } else {
                header_bytes += usize::from(header[1]) * 8;
            }
            self.protocol = header[0];
            self.payload = self.payload.get(header_bytes..)?;
            if self
                .fragment
                .is_some_and(|fragment| fragment.offset_bytes > 0)
            {
                break;
            }
        }
        Some(())
    }
}

impl Fragment {
    fn parse(header: &[u8; 8]) -> Self {
        let offset = u16::from_be_bytes([header[2], header[3]]);
        Self {
            offset_bytes: offset & 0xFFF8,
            more: offset & 1 != 0,
            identification: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(next: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![
            0x6B,
            0x81,
            0x23,
            0x45,
            0,
            payload.len().to_le_bytes()[0],
            next,
            64,
        ];
        bytes.extend(Ipv6Addr::LOCALHOST.octets());
        bytes.extend(Ipv6Addr::UNSPECIFIED.octets());
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn a_padded_packet_is_read() {
        let bytes = [packet(17, &[1, 2, 3]), vec![0; 9]].concat();
        let read = Packet::parse(&bytes).unwrap();
        assert_eq!(
            (read.traffic_class, read.flow_label, read.hop_limit),
            (0xB8, 0x12345, 64)
        );
        assert_eq!(
            (read.source, read.protocol, read.payload),
            (Ipv6Addr::LOCALHOST, 17, &[1, 2, 3][..])
        );
        assert!(!read.is_fragment());
    }

    #[test]
    fn extension_headers_are_passed() {
        let hop_by_hop = [44, 0, 1, 4, 0, 0, 0, 0];
        let fragment = [17, 0, 0x05, 0xA9, 0, 0, 0, 7];
        let first = [17, 0, 0, 1, 0, 0, 0, 7];
        let later = packet(0, &[&hop_by_hop[..], &fragment, &[9, 9]].concat());
        let read = Packet::parse(&later).unwrap();
        assert_eq!(
            (read.protocol, read.payload, read.is_fragment()),
            (17, &[9, 9][..], true)
        );
        let expected = Fragment {
            offset_bytes: 1448,
            more: true,
            identification: 7,
        };
        assert_eq!(read.fragment, Some(expected));
        assert!(Packet::parse(&packet(44, &first)).unwrap().is_fragment());
    }

    #[test]
    fn what_is_cut_is_none() {
        let bytes = packet(17, &[1, 2, 3]);
        assert!((0..bytes.len()).all(|length| Packet::parse(&bytes[..length]).is_none()));
        assert_eq!(Packet::parse(&packet(0, &[17, 9, 0, 0, 0, 0, 0, 0])), None);
        assert_eq!(Packet::parse(&packet(0, &[17, 0])), None);
    }
}
