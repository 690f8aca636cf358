// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IP packet of a frame that may be ours: no options, no extensions, and read even where lengths and checksums say
//! that it is damaged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::pattern;
use super::signature::Signature;
use crate::checksum::Checksum;
use crate::udp::{self, Datagram};

/// What a test frame needs of IP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) ttl: u8,
    pub(super) traffic_class: u8,
    /// Whether the header's checksum is right.
    pub(super) header_ok: bool,
    /// Whether the packet fills the frame.
    pub(super) length_ok: bool,
    /// The UDP datagram, as far as it is here.
    pub(super) segment: &'a [u8],
}

/// An IPv4 packet of UDP that is no fragment.
#[inline]
pub(super) fn ipv4(bytes: &[u8]) -> Option<Packet<'_>> {
    let (header, rest) = bytes.split_first_chunk::<20>()?;
    let later_fragment = header[6] & 0x1F != 0 || header[7] != 0;
    if header[0] != 0x45 || header[9] != udp::PROTOCOL || later_fragment {
        return None;
    }
    let header_ok = Checksum::new().with(header).finish() == 0;
    let first_fragment = header[6] & MORE_FRAGMENTS != 0;
    // Else the bit is a part of the damage.
    if first_fragment && header_ok {
        return None;
    }
    let total_bytes = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let segment_bytes = total_bytes.saturating_sub(header.len());
    Some(Packet {
        source: Ipv4Addr::new(header[12], header[13], header[14], header[15]).into(),
        destination: Ipv4Addr::new(header[16], header[17], header[18], header[19]).into(),
        ttl: header[8],
        traffic_class: header[1],
        header_ok,
        length_ok: total_bytes == bytes.len(),
        segment: rest.get(..segment_bytes).unwrap_or(rest),
    })
}

/// An IPv6 packet of UDP.
#[inline]
pub(super) fn ipv6(bytes: &[u8]) -> Option<Packet<'_>> {
    let (fixed, rest) = bytes.split_first_chunk::<8>()?;
    let (source, rest) = rest.split_first_chunk::<16>()?;
    let (destination, rest) = rest.split_first_chunk::<16>()?;
    if fixed[0] >> 4 != 6 || fixed[6] != udp::PROTOCOL {
        return None;
    }
    let segment_bytes = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    Some(Packet {
        source: Ipv6Addr::from(*source).into(),
        destination: Ipv6Addr::from(*destination).into(),
        ttl: fixed[7],
        traffic_class: fixed[0] << 4 | fixed[1] >> 4,
        header_ok: true,
        length_ok: segment_bytes == rest.len(),
        segment: rest.get(..segment_bytes).unwrap_or(rest),
    })
}

/// Whether the UDP checksum is right. Of a payload that is known to be as sent the sum is known, too.
#[inline]
pub(super) fn udp_intact(packet: &Packet<'_>, datagram: &Datagram<'_>, payload_ok: bool) -> bool {
    if datagram.checksum == 0 && packet.source.is_ipv4() {
        return true;
    }
    if !payload_ok {
        return datagram.is_intact(packet.source, packet.destination) == Some(true);
    }
    let Some((beginning, tail)) = packet.segment.split_at_checked(SIGNED_BYTES) else {
        return false;
    };
    let length = u32::from(datagram.length);
    Checksum::pseudo_header(packet.source, packet.destination, udp::PROTOCOL, length).is_some_and(
        |sum| {
            let sum = sum
                .with(beginning)
                .with(&pattern::sum(tail.len()).to_be_bytes());
            datagram.checksum != 0 && sum.finish() == 0
        },
    )
}

const MORE_FRAGMENTS: u8 = 0x20;
/// UDP header and signature.
const SIGNED_BYTES: usize = udp::HEADER_BYTES + Signature::LEN;
