// SPDX-License-Identifier: MIT OR Apache-2.0
//! From an Ethernet frame down to the UDP payload and its 4-tuple: what a log of a wire needs of each frame.

use std::net::{IpAddr, SocketAddr};

use crate::{ether, ipv4, ipv6, udp};

/// The UDP part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpFrame<'a> {
    /// A datagram, or the first fragment of one.
    Datagram {
        /// Source address and port.
        source: SocketAddr,
        /// Destination address and port.
        destination: SocketAddr,
        /// What is carried, as far as this frame goes.
        payload: &'a [u8],
        /// Whether this frame is only the first fragment.
        is_first_fragment: bool,
        /// Whether the UDP checksum is right; `None` if there is none to check.
        is_intact: Option<bool>,
    },
    /// A later fragment: it has no ports. Its datagram has the same addresses and identification.
    LaterFragment {
        /// Source address.
        source: IpAddr,
        /// Destination address.
        destination: IpAddr,
        /// Names the packet that it belongs to.
        identification: u32,
    },
}

/// Reads a frame; `None` if it carries no UDP.
#[must_use]
pub fn udp_of_frame(frame: &[u8]) -> Option<UdpFrame<'_>> {
    let frame = ether::Frame::parse(frame)?;
    match frame.ethertype {
        ether::IPV4 => of_ipv4(&ipv4::Packet::parse(frame.payload)?),
        ether::IPV6 => of_ipv6(&ipv6::Packet::parse(frame.payload)?),
        _ => None,
    }
}

fn of_ipv4<'a>(packet: &ipv4::Packet<'a>) -> Option<UdpFrame<'a>> {
    let (source, destination) = (packet.source.into(), packet.destination.into());
    match packet.fragment_offset_bytes {
        _ if packet.protocol != udp::PROTOCOL => None,
        0 => datagram(source, destination, packet.payload, packet.is_fragment()),
        _ => Some(UdpFrame::LaterFragment {
            source,
            destination,
            identification: packet.identification.into(),
        }),
    }
}

fn of_ipv6<'a>(packet: &ipv6::Packet<'a>) -> Option<UdpFrame<'a>> {
    let (source, destination) = (packet.source.into(), packet.destination.into());
    match packet.fragment {
        _ if packet.protocol != udp::PROTOCOL => None,
        Some(fragment) if fragment.offset_bytes > 0 => Some(UdpFrame::LaterFragment {
            source,
            destination,
            identification: fragment.identification,
        }),
        _ => datagram(source, destination, packet.payload, packet.is_fragment()),
    }
}

fn datagram(
    source: IpAddr,
    destination: IpAddr,
    segment: &[u8],
    is_first_fragment: bool,
) -> Option<UdpFrame<'_>> {
    let datagram = udp::Datagram::parse(segment)?;
    Some(UdpFrame::Datagram {
        source: (source, datagram.source_port).into(),
        destination: (destination, datagram.destination_port).into(),
        payload: datagram.payload,
        is_first_fragment,
        is_intact: datagram.is_intact(source, destination),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(fragment: [u8; 2], protocol: u8) -> Vec<u8> {
        let mut bytes = vec![0; 12];
        bytes.extend([
            0x08,
            0x00,
            0x45,
            0,
            0,
            32,
            0x12,
            0x34,
            fragment[0],
            fragment[1],
            64,
            protocol,
            0,
            0,
        ]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0xC0, 0x00, 0x14, 0x51, 0, 12, 0, 0, b'd', b'a', b't', b'a']);
        bytes
    }

    #[test]
    fn ipv4_datagram_first_and_later_fragment_are_distinguished() {
        for (fragment, first) in [([0x40, 0], false), ([0x20, 0], true)] {
            let expected = UdpFrame::Datagram {
                source: "10.0.0.1:49152".parse().unwrap(),
                destination: "10.0.0.2:5201".parse().unwrap(),
                payload: b"data",
                is_first_fragment: first,
                is_intact: None,
            };
            assert_eq!(udp_of_frame(&frame(fragment, 17)), Some(expected));
        }
        let later = UdpFrame::LaterFragment {
            source: "10.0.0.1".parse().unwrap(),
            destination: "10.0.0.2".parse().unwrap(),
            identification: 0x1234,
        };
        assert_eq!(udp_of_frame(&frame([0, 185], 17)), Some(later));
    }

    #[test]
    fn ipv6_is_read_as_well() {
        let mut bytes = [
            &[0; 12][..],
            &[0x86, 0xDD, 0x60, 0, 0, 0, 0, 12, 17, 64],
            &[0xFD; 32],
        ]
        .concat();
        bytes.extend([0xC0, 0x00, 0x14, 0x51, 0, 12, 0, 0, b'd', b'a', b't', b'a']);
        let Some(UdpFrame::Datagram {
            payload,
            is_intact,
            destination,
            ..
        }) = udp_of_frame(&bytes)
        else {
            panic!("no datagram");
        };
        assert_eq!(
            (payload, is_intact, destination.port()),
            (&b"data"[..], Some(false), 5201)
        );
    }

    #[test]
    fn other_protocols_and_cut_frames_are_none() {
        assert_eq!(udp_of_frame(&frame([0, 0], 6)), None);
        let whole = frame([0, 0], 17);
        assert!((0..whole.len()).all(|length| udp_of_frame(&whole[..length]).is_none()));
    }
}
