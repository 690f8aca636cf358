// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a router changes in a frame: Ethernet addresses, TTL, header checksum. Bytes only.

use std::net::IpAddr;

use linerate_wire::checksum::Checksum;
use linerate_wire::ether::{self, Frame};
use linerate_wire::{ipv4, ipv6};

/// An IP packet in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Where it begins in the frame.
    pub(super) at: usize,
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) ttl: u8,
}

impl Packet {
    /// Reads an IP packet, if the frame has one.
    pub(super) fn of(bytes: &[u8], frame: &Frame<'_>) -> Option<Self> {
        let at = bytes.len() - frame.payload.len();
        match frame.ethertype {
            ether::IPV4 => ipv4::Packet::parse(frame.payload).map(|packet| Self {
                at,
                source: packet.source.into(),
                destination: packet.destination.into(),
                ttl: packet.ttl,
            }),
            ether::IPV6 => ipv6::Packet::parse(frame.payload).map(|packet| Self {
                at,
                source: packet.source.into(),
                destination: packet.destination.into(),
                ttl: packet.hop_limit,
            }),
            _ => None,
        }
    }

    /// Addresses the frame to the next hop and decrements the TTL, which must suffice, by `hops`.
    pub(super) fn forward(&self, bytes: &mut [u8], to: [u8; 6], from: [u8; 6], hops: u8) {
        bytes[..6].copy_from_slice(&to);
        bytes[6..12].copy_from_slice(&from);
        let packet = &mut bytes[self.at..];
        match self.destination {
            IpAddr::V4(_) => {
                packet[8] -= hops;
                packet[10..12].fill(0);
                let header_bytes = usize::from(packet[0] & 0xF) * 4;
                let sum = Checksum::new().with(&packet[..header_bytes]).finish();
                packet[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            IpAddr::V6(_) => packet[7] -= hops,
        }
    }
}

/// Strips the tag of a frame that has one.
pub(super) fn without_tag(bytes: &mut [u8]) -> &[u8] {
    bytes.copy_within(..12, 4);
    &bytes[4..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::frame::{self, Arrived, Family, Flow, Side, Signature, Template};

    #[test]
    fn a_frame_is_forwarded_intact_with_a_lower_ttl() {
        for family in [Family::Ipv4, Family::Ipv6] {
            for vlan in [None, Some(7)] {
                let flow = Flow {
                    vlan,
                    ..Flow::first(Side::A, family, [2; 6], [4; 6])
                };
                let template = Template::new(&flow, 128).unwrap();
                let mut bytes = template.bytes().to_vec();
                template.stamp(&mut bytes, &Signature::default());
                let packet = Packet::of(&bytes, &Frame::parse(&bytes).unwrap()).unwrap();
                packet.forward(&mut bytes, [6; 6], [8; 6], 1);
                let Arrived::Ours(ours) = frame::read(&bytes) else {
                    panic!("{:?}", frame::read(&bytes));
                };
                assert!(ours.is_intact());
                assert_eq!((ours.ttl, ours.destination_mac), (frame::TTL - 1, [6; 6]));
                assert_eq!(ours.vlans[0], vlan);
                if vlan.is_some() {
                    let Arrived::Ours(ours) = frame::read(without_tag(&mut bytes)) else {
                        panic!("damaged");
                    };
                    assert!(ours.is_intact() && ours.vlans == [None; 2]);
                }
            }
        }
    }
}
