// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole frames with right or wrong checksums.

use std::net::IpAddr;

use linerate_wire::checksum::Checksum;
use linerate_wire::ether;
use linerate_wire::offload::put;

use crate::packet::{TCP, TCP_SUM_AT, UDP, UDP_SUM_AT};

/// From whom to whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub source_mac: [u8; 6],
    pub destination_mac: [u8; 6],
    pub source: IpAddr,
    pub destination: IpAddr,
    pub source_port: u16,
    pub destination_port: u16,
}

/// What the headers below say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub tos: u8,
    pub ttl: u8,
    pub vlan: Option<u16>,
    /// IPv4: names the packet.
    pub id: u16,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            tos: 0,
            ttl: 64,
            vlan: None,
            id: 0,
        }
    }
}

/// What a TCP header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tcp<'a> {
    pub sequence: u32,
    pub acknowledged: u32,
    pub flags: u8,
    /// A multiple of four bytes.
    pub options: &'a [u8],
}

pub(crate) const SYN: u8 = 2;
pub(crate) const ACK: u8 = 16;

/// A UDP datagram in a frame.
pub(crate) fn udp(path: &Path, marks: Marks, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let mut upper = ports(path);
    upper.extend(length.to_be_bytes());
    upper.extend([0, 0]);
    upper.extend(payload);
    sum(path, UDP, &mut upper);
    frame(path, marks, UDP, &upper)
}

/// A TCP segment in a frame.
pub(crate) fn tcp(path: &Path, marks: Marks, head: Tcp<'_>, payload: &[u8]) -> Vec<u8> {
    let words = (20 + head.options.len()) / 4;
    let mut upper = ports(path);
    upper.extend(head.sequence.to_be_bytes());
    upper.extend(head.acknowledged.to_be_bytes());
    upper.extend([(words as u8) << 4, head.flags, 0xFF, 0xFF, 0, 0, 0, 0]);
    upper.extend(head.options);
    upper.extend(payload);
    sum(path, TCP, &mut upper);
    frame(path, marks, TCP, &upper)
}

fn ports(path: &Path) -> Vec<u8> {
    let ports = [path.source_port, path.destination_port];
    ports.iter().flat_map(|port| port.to_be_bytes()).collect()
}

/// Writes the checksum of UDP or TCP, whose field is 0.
fn sum(path: &Path, protocol: u8, upper: &mut [u8]) {
    let length = upper.len() as u32;
    let begun = Checksum::pseudo_header(path.source, path.destination, protocol, length);
    let sum = begun.unwrap_or_default().with(upper).finish();
    let (at, sum) = match (protocol, sum) {
        (UDP, 0) => (UDP_SUM_AT, 0xFFFF),
        (UDP, sum) => (UDP_SUM_AT, sum),
        (_, sum) => (TCP_SUM_AT, sum),
    };
    put(upper, at, sum);
}

/// Its padding is not zero: who counts it, counts wrongly.
fn frame(path: &Path, marks: Marks, protocol: u8, upper: &[u8]) -> Vec<u8> {
    let header = ether::Header {
        destination: path.destination_mac,
        source: path.source_mac,
        vlan: marks.vlan,
        ethertype: match path.source {
            IpAddr::V4(_) => ether::IPV4,
            IpAddr::V6(_) => ether::IPV6,
        },
    };
    let (header, length) = header.encode();
    let mut bytes = header.get(..length).unwrap_or_default().to_vec();
    // With its priority.
    if let Some(tag) = marks.vlan {
        put(&mut bytes, 14, tag);
    }
    bytes.extend(internet(path, marks, protocol, upper.len()));
    bytes.extend(upper);
    bytes.resize(bytes.len().max(SMALLEST_BYTES), PADDING);
    bytes
}

fn internet(path: &Path, marks: Marks, protocol: u8, upper_bytes: usize) -> Vec<u8> {
    match (path.source, path.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let mut header = vec![0x45, marks.tos];
            header.extend((20 + upper_bytes as u16).to_be_bytes());
            header.extend(marks.id.to_be_bytes());
            header.extend([0x40, 0, marks.ttl, protocol, 0, 0]);
            header.extend(source.octets());
            header.extend(destination.octets());
            let sum = Checksum::new().with(&header).finish();
            put(&mut header, 10, sum);
            header
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let mut header = vec![0x60 | marks.tos >> 4, marks.tos << 4, 0, 0];
            header.extend((upper_bytes as u16).to_be_bytes());
            header.extend([protocol, marks.ttl]);
            header.extend(source.octets());
            header.extend(destination.octets());
            header
        }
        _ => Vec::new(),
    }
}

/// Without FCS.
const SMALLEST_BYTES: usize = 60;
const PADDING: u8 = 0xA5;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::Packet;

    /// From one documentation address to another.
    pub(crate) fn path(is_ipv6: bool) -> Path {
        let address = |last: u8| match is_ipv6 {
            true => IpAddr::from([0x2001, 2, 0, 0, 0, 0, 0, last.into()]),
            false => IpAddr::from([198, 18, 0, last]),
        };
        Path {
            source_mac: [2, 0, 0, 0, 0, 1],
            destination_mac: [2, 0, 0, 0, 0, 2],
            source: address(1),
            destination: address(2),
            source_port: 1000,
            destination_port: 2000,
        }
    }

    #[test]
    fn every_size_is_right_and_every_flipped_bit_is_not() {
        for is_ipv6 in [false, true] {
            let path = path(is_ipv6);
            for size in 0..70 {
                let payload: Vec<u8> = (0..size).collect();
                let head = Tcp {
                    sequence: 1,
                    acknowledged: 2,
                    flags: ACK,
                    options: &[],
                };
                for frame in [
                    udp(&path, Marks::default(), &payload),
                    tcp(&path, Marks::default(), head, &payload),
                ] {
                    let packet = Packet::parse(&frame).unwrap();
                    assert_eq!((packet.payload(), packet.fault()), (&payload[..], None));
                    let at = packet.upper_at;
                    for bit in 0..(packet.end - at) * 8 {
                        let mut bad = frame.clone();
                        bad[at + bit / 8] ^= 1 << (bit % 8);
                        let bad = Packet::parse(&bad);
                        // A longer or shorter UDP length is not whole; else its sum is wrong.
                        let seen = bad.and_then(|bad| bad.upper_fault());
                        assert!(seen.is_some(), "bit {bit} of {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn padding_is_not_carried() {
        let frame = udp(&path(false), Marks::default(), b"x");
        let packet = Packet::parse(&frame).unwrap();
        assert_eq!(
            (frame.len(), packet.end, packet.payload()),
            (60, 43, &b"x"[..])
        );
        assert_eq!(frame[59], PADDING);
    }
}
