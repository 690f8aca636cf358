// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole frame of a flow, made once; each frame sent is a copy of it with its own signature.
//!
//! Hot path: [`Template::stamp`] neither allocates nor panics.

use std::net::IpAddr;

use super::flow::Flow;
use super::pattern;
use super::signature::Signature;
use crate::checksum::Checksum;
use crate::{ether, udp};

/// The bytes of a flow's frames of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    bytes: Vec<u8>,
    ports: [u16; 2],
    signature_at: usize,
    /// Of the UDP datagram but its signature, where there is a checksum: IPv6.
    unsigned_sum: Option<Checksum>,
}

/// Why a flow has no frame of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no room for the signature.
    #[error(
        "a frame of {size_bytes} bytes has no room for the signature: {smallest_bytes} is the smallest"
    )]
    TooSmall {
        /// Asked for, with FCS.
        size_bytes: u16,
        /// Possible, with FCS.
        smallest_bytes: u16,
    },
    /// The addresses are not of one family.
    #[error("{source_address} and {destination} are not of one family")]
    MixedFamilies {
        /// The flow's source.
        source_address: IpAddr,
        /// The flow's destination.
        destination: IpAddr,
    },
    /// 802.1Q has no such number.
    #[error("VLAN {0} is not between 1 and 4094")]
    NoSuchVlan(u16),
}

impl Template {
    /// Makes the frame of `size_bytes` (with FCS); its signature is still missing.
    ///
    /// # Errors
    /// If the flow has no frame of that size.
    pub fn new(flow: &Flow, size_bytes: u16) -> Result<Self, Refusal> {
        refuse(flow, size_bytes)?;
        let mut bytes = Vec::with_capacity(size_bytes.into());
        push_ethernet_header(&mut bytes, flow);
        let ip_bytes = usize::from(size_bytes) - FCS_BYTES - bytes.len();
        let udp_at = bytes.len() + ip_header_bytes(flow);
        push_ip_header(&mut bytes, flow, ip_bytes as u16);
        push_udp(&mut bytes, flow, ip_bytes - ip_header_bytes(flow));
        let signature_at = udp_at + udp::HEADER_BYTES;
        bytes[signature_at..][..Signature::LEN].fill(0);
        let unsigned_sum = unsigned_sum(flow, &bytes[udp_at..]);
        Ok(Self {
            bytes,
            ports: [flow.source_port, flow.destination_port],
            signature_at,
            unsigned_sum,
        })
    }

    /// The frame without signature and FCS: what a buffer must hold before [`stamp`](Self::stamp).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the signature, and over IPv6 the checksum, into a copy of [`bytes`](Self::bytes), whatever signature it
    /// has. A buffer that is too short is left alone.
    #[inline]
    pub fn stamp(&self, frame: &mut [u8], signature: &Signature) {
        let checksum_at = self.signature_at - CHECKSUM_BYTES;
        let Some(place) = frame.get_mut(checksum_at..) else {
            return;
        };
        let Some((checksum, rest)) = place.split_first_chunk_mut::<CHECKSUM_BYTES>() else {
            return;
        };
        let Some(room) = rest.first_chunk_mut() else {
            return;
        };
        signature.write(self.ports, room);
        if let Some(sum) = self.unsigned_sum {
            *checksum = udp::never_zero(sum.with(room).finish()).to_be_bytes();
        }
    }
}

fn refuse(flow: &Flow, size_bytes: u16) -> Result<(), Refusal> {
    if flow.source.is_ipv4() != flow.destination.is_ipv4() {
        return Err(Refusal::MixedFamilies {
            source_address: flow.source,
            destination: flow.destination,
        });
    }
    if let Some(vlan) = flow.vlan.filter(|vlan| !(1..=4094).contains(vlan)) {
        return Err(Refusal::NoSuchVlan(vlan));
    }
    let smallest_bytes = flow.smallest_size_bytes();
    if size_bytes < smallest_bytes {
        return Err(Refusal::TooSmall {
            size_bytes,
            smallest_bytes,
        });
    }
    Ok(())
}

fn push_ethernet_header(bytes: &mut Vec<u8>, flow: &Flow) {
    let header = ether::Header {
        destination: flow.destination_mac,
        source: flow.source_mac,
        vlan: flow.vlan,
        ethertype: if flow.source.is_ipv4() {
            ether::IPV4
        } else {
            ether::IPV6
        },
    };
    let (header, header_bytes) = header.encode();
    bytes.extend(&header[..header_bytes]);
}

const fn ip_header_bytes(flow: &Flow) -> usize {
    if flow.source.is_ipv4() { 20 } else { 40 }
}

fn push_ip_header(bytes: &mut Vec<u8>, flow: &Flow, ip_bytes: u16) {
    let at = bytes.len();
    match (flow.source, flow.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let [high, low] = ip_bytes.to_be_bytes();
            bytes.extend([
                0x45,
                0,
                high,
                low,
                0,
                0,
                0,
                0,
                flow.ttl,
                udp::PROTOCOL,
                0,
                0,
            ]);
            bytes.extend(source.octets());
            bytes.extend(destination.octets());
            let sum = Checksum::new().with(&bytes[at..]).finish();
            bytes[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
        }
        (source, destination) => {
            let [high, low] = (ip_bytes - 40).to_be_bytes();
            bytes.extend([0x60, 0, 0, 0, high, low, udp::PROTOCOL, flow.ttl]);
            bytes.extend(octets(source));
            bytes.extend(octets(destination));
        }
    }
}

/// Header and payload; the checksum is 0, which over IPv4 means none.
fn push_udp(bytes: &mut Vec<u8>, flow: &Flow, udp_bytes: usize) {
    bytes.extend(flow.source_port.to_be_bytes());
    bytes.extend(flow.destination_port.to_be_bytes());
    bytes.extend((udp_bytes as u16).to_be_bytes());
    bytes.extend([0, 0]);
    let payload_at = bytes.len();
    bytes.resize(payload_at + udp_bytes - udp::HEADER_BYTES, 0);
    pattern::fill(&mut bytes[payload_at..]);
}

fn unsigned_sum(flow: &Flow, datagram: &[u8]) -> Option<Checksum> {
    if flow.source.is_ipv4() {
        return None;
    }
    let length = datagram.len() as u32;
    let sum = Checksum::pseudo_header(flow.source, flow.destination, udp::PROTOCOL, length)?;
    Some(sum.with(datagram))
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

const FCS_BYTES: usize = 4;
const CHECKSUM_BYTES: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::address::{Family, Side};

    fn flow(family: Family) -> Flow {
        Flow::first(Side::A, family, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
    }

    fn word(bytes: &[u8], at: usize) -> u16 {
        u16::from_be_bytes([bytes[at], bytes[at + 1]])
    }

    /// Size, IP total length, UDP length, IP checksum at TTL 10 and at 9: 198.18.1.2 to 198.19.1.2. RFC 2544 prints
    /// other UDP lengths from 256 to 1280 (009A …), which do not fit its IP lengths.
    const RFC_2544: [(u16, u16, u16, u16, u16); 8] = [
        (64, 0x002E, 0x001A, 0x2296, 0x2396),
        (128, 0x006E, 0x005A, 0x2256, 0x2356),
        (256, 0x00EE, 0x00DA, 0x21D6, 0x22D6),
        (512, 0x01EE, 0x01DA, 0x20D6, 0x21D6),
        (768, 0x02EE, 0x02DA, 0x1FD6, 0x20D6),
        (1024, 0x03EE, 0x03DA, 0x1ED6, 0x1FD6),
        (1280, 0x04EE, 0x04DA, 0x1DD6, 0x1ED6),
        (1518, 0x05DC, 0x05C8, 0x1CE8, 0x1DE8),
    ];

    #[test]
    fn ipv4_frames_are_those_of_rfc_2544() {
        for (size, total, udp, sum_10, sum_9) in RFC_2544 {
            for (ttl, sum) in [(10, sum_10), (9, sum_9)] {
                let flow = Flow {
                    ttl,
                    ..flow(Family::Ipv4)
                };
                let template = Template::new(&flow, size).unwrap();
                let bytes = template.bytes();
                assert_eq!(bytes.len(), usize::from(size) - 4);
                assert_eq!(
                    (word(bytes, 16), word(bytes, 38), word(bytes, 24)),
                    (total, udp, sum),
                    "{size}"
                );
                assert_eq!(
                    (word(bytes, 34), word(bytes, 36), word(bytes, 40)),
                    (0xC020, 7, 0)
                );
                assert_eq!(
                    (word(bytes, 14), word(bytes, 18), word(bytes, 20)),
                    (0x4500, 0, 0)
                );
                let octets = (18..).map(|at| (at % 256) as u8);
                assert!(
                    bytes[60..]
                        .iter()
                        .copied()
                        .eq(octets.take(bytes.len() - 60))
                );
            }
        }
    }

    #[test]
    fn the_smallest_frames_hold_the_signature_to_their_last_byte() {
        let tagged = |flow| Flow {
            vlan: Some(100),
            ..flow
        };
        let (v4, v6) = (flow(Family::Ipv4), flow(Family::Ipv6));
        for (flow, smallest) in [(v4, 64), (tagged(v4), 68), (v6, 84), (tagged(v6), 88)] {
            assert_eq!(flow.smallest_size_bytes(), smallest);
            let template = Template::new(&flow, smallest).unwrap();
            assert_eq!(template.signature_at + 18, template.bytes().len());
            let refusal = Refusal::TooSmall {
                size_bytes: smallest - 1,
                smallest_bytes: smallest,
            };
            assert_eq!(Template::new(&flow, smallest - 1), Err(refusal));
            assert!(Template::new(&flow, u16::MAX).is_ok());
        }
    }

    #[test]
    fn a_flow_that_cannot_be_is_refused() {
        let mixed = Flow {
            destination: Side::B.tester(Family::Ipv6),
            ..flow(Family::Ipv4)
        };
        assert!(matches!(
            Template::new(&mixed, 128),
            Err(Refusal::MixedFamilies { .. })
        ));
        for vlan in [0, 4095] {
            let flow = Flow {
                vlan: Some(vlan),
                ..flow(Family::Ipv4)
            };
            assert_eq!(Template::new(&flow, 128), Err(Refusal::NoSuchVlan(vlan)));
        }
    }

    #[test]
    fn a_short_buffer_is_left_alone() {
        let template = Template::new(&flow(Family::Ipv6), 84).unwrap();
        let signature = Signature::default();
        for length in 0..80 {
            let mut buffer = template.bytes()[..length].to_vec();
            template.stamp(&mut buffer, &signature);
            assert_eq!(buffer, template.bytes()[..length]);
        }
    }
}
