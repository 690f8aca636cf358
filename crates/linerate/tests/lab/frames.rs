// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames to send by a packet socket.

use std::net::{IpAddr, SocketAddrV4};

use linerate_wire::checksum::Checksum;
use linerate_wire::offload::Upper;

/// A datagram over IPv4 with right checksums.
pub(crate) fn udp_frame(
    hardware: [u8; 6],
    from: SocketAddrV4,
    to: SocketAddrV4,
    payload: &[u8],
) -> Vec<u8> {
    let ends = (IpAddr::V4(*from.ip()), IpAddr::V4(*to.ip()));
    let header = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    let length = (8 + payload.len()) as u16;
    let upper = [&header[..], &length.to_be_bytes(), &[0, 0], payload].concat();
    let mut frame = packet(hardware, false, ends, 17, &upper);
    if let Some(upper) = Upper::of(&frame) {
        let sum = upper.sum(&frame).unwrap_or(0);
        frame[upper.checksum.field..][..2].copy_from_slice(&sum.to_be_bytes());
    }
    frame
}

/// A packet in a frame, with a VLAN tag or without.
pub(crate) fn packet(
    hardware: [u8; 6],
    tagged: bool,
    ends: (IpAddr, IpAddr),
    protocol: u8,
    upper: &[u8],
) -> Vec<u8> {
    let mut frame = [&hardware[..], &[2, 0, 0, 0, 0, 9]].concat();
    if tagged {
        frame.extend([0x81, 0, 0, 7]);
    }
    match ends {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let total = (20 + upper.len()) as u16;
            let mut header = [&[0x45, 0x28][..], &total.to_be_bytes()].concat();
            header.extend([0xFF, 0xFE, 0x40, 0, 64, protocol, 0, 0]);
            header.extend([from.octets(), to.octets()].concat());
            let sum = Checksum::new().with(&header).finish();
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            frame.extend([8, 0]);
            frame.extend(header);
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            frame.extend([0x86, 0xDD, 0x6B, 0x81, 0x23, 0x45]);
            frame.extend((upper.len() as u16).to_be_bytes());
            frame.extend([protocol, 64]);
            frame.extend([from.octets(), to.octets()].concat());
        }
        _ => {}
    }
    frame.extend(upper);
    frame
}
