// SPDX-License-Identifier: MIT OR Apache-2.0
//! An IP packet in a frame, by the places of its parts, and whether its checksums are right (RFC 1071, 768, 9293).

use std::net::IpAddr;

use linerate_wire::checksum::Checksum;
use linerate_wire::offload::Upper;
use linerate_wire::{ether, ipv4, ipv6, udp};

use crate::hex;
use linerate_model::output::NicExample;

/// IP protocol number of TCP.
pub(crate) const TCP: u8 = 6;
/// IP protocol number of UDP.
pub(crate) const UDP: u8 = udp::PROTOCOL;

/// A packet and where it is in its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    pub frame: &'a [u8],
    /// Where the IP header begins.
    pub ip_at: usize,
    /// Where what is carried begins.
    pub upper_at: usize,
    /// Where the packet ends: what follows is padding.
    pub end: usize,
    /// What is carried: [`TCP`] or [`UDP`].
    pub protocol: u8,
    pub source: IpAddr,
    pub destination: IpAddr,
    /// The place of a fragment in bytes, whether more follow, and its number.
    pub fragment: Option<(usize, bool, u32)>,
}

impl<'a> Packet<'a> {
    /// `None` for what is no whole IP packet.
    pub(crate) fn parse(frame: &'a [u8]) -> Option<Self> {
        let ethernet = ether::Frame::parse(frame)?;
        let ip_at = frame.len() - ethernet.payload.len();
        match ethernet.ethertype {
            ether::IPV4 => Self::ipv4(frame, ip_at, ethernet.payload),
            ether::IPV6 => Self::ipv6(frame, ip_at, ethernet.payload),
            _ => None,
        }
    }

    fn ipv4(frame: &'a [u8], ip_at: usize, bytes: &'a [u8]) -> Option<Self> {
        let packet = ipv4::Packet::parse(bytes)?;
        let upper_at = ip_at + usize::from(bytes.first()? & 15) * 4;
        let place = packet.fragment_offset_bytes.into();
        let part = (place, packet.more_fragments, packet.identification.into());
        Some(Self {
            frame,
            ip_at,
            upper_at,
            end: upper_at + packet.payload.len(),
            protocol: packet.protocol,
            source: packet.source.into(),
            destination: packet.destination.into(),
            fragment: packet.is_fragment().then_some(part),
        })
    }

    fn ipv6(frame: &'a [u8], ip_at: usize, bytes: &'a [u8]) -> Option<Self> {
        let packet = ipv6::Packet::parse(bytes)?;
        let length: &[u8; 2] = bytes.get(4..6)?.first_chunk()?;
        let end = ip_at + 40 + usize::from(u16::from_be_bytes(*length));
        let part = packet.fragment.filter(|_| packet.is_fragment());
        let part = part.map(|part| (part.offset_bytes.into(), part.more, part.identification));
        Some(Self {
            frame,
            ip_at,
            upper_at: end.checked_sub(packet.payload.len())?,
            end,
            protocol: packet.protocol,
            source: packet.source.into(),
            destination: packet.destination.into(),
            fragment: part,
        })
    }

    /// The UDP datagram or TCP segment, without padding.
    pub(crate) fn upper(&self) -> &'a [u8] {
        self.frame.get(self.upper_at..self.end).unwrap_or_default()
    }

    /// Source and destination.
    pub(crate) fn ports(&self) -> Option<(u16, u16)> {
        let ports: &[u8; 4] = self.upper().first_chunk()?;
        let [a, b, c, d] = *ports;
        Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
    }

    /// What UDP or TCP carries.
    pub(crate) fn payload(&self) -> &'a [u8] {
        let upper = self.upper();
        let header = match self.protocol {
            TCP => upper.get(12).map_or(0, |byte| usize::from(byte >> 4) * 4),
            _ => udp::HEADER_BYTES,
        };
        upper.get(header..).unwrap_or_default()
    }

    /// Sequence number and flags.
    pub(crate) fn tcp(&self) -> Option<(u32, u8)> {
        let header: &[u8; 14] = self.upper().first_chunk()?;
        let [_, _, _, _, a, b, c, d, ..] = *header;
        Some((u32::from_be_bytes([a, b, c, d]), header[13]))
    }

    /// What is wrong with the checksum of the IPv4 header; IPv6 has none.
    pub(crate) fn header_fault(&self) -> Option<NicExample> {
        let header = self.frame.get(self.ip_at..self.upper_at)?;
        if self.source.is_ipv6() {
            return None;
        }
        self.sum_fault(
            "IPv4 header checksum",
            header,
            self.ip_at,
            10,
            Checksum::new(),
        )
    }

    /// What is wrong with the checksum of UDP or TCP; nothing to judge in a fragment.
    pub(crate) fn sum_fault(
        &self,
        what: &str,
        part: &[u8],
        at: usize,
        sum_at: usize,
        begun: Checksum,
    ) -> Option<NicExample> {
        let seen = part.get(sum_at..sum_at + 2)?;
        let sum = begun.with(part.get(..sum_at)?).with(&[0, 0]);
        let sum = sum.with(part.get(sum_at + 2..)?).finish();
        let is_udp = self.protocol == UDP && sum_at == UDP_SUM_AT;
        let right = if is_udp && sum == 0 { 0xFFFF } else { sum };
        let is_right = seen == right.to_be_bytes()
            || (!is_udp && is_zero(seen) && is_zero(&right.to_be_bytes()));
        (!is_right).then(|| NicExample {
            what: what.to_owned(),
            offset: u32::try_from(at + sum_at).ok(),
            expected: hex::of(&right.to_be_bytes()),
            seen: hex::of(seen),
            frame: Some(shown(self.frame)),
        })
    }

    /// What is wrong with the checksum of UDP or TCP.
    pub(crate) fn upper_fault(&self) -> Option<NicExample> {
        let upper = self.upper();
        let (what, sum_at) = match self.protocol {
            UDP => ("UDP checksum", UDP_SUM_AT),
            TCP => ("TCP checksum", TCP_SUM_AT),
            _ => return None,
        };
        let length = u32::try_from(upper.len()).ok()?;
        let begun = Checksum::pseudo_header(self.source, self.destination, self.protocol, length)?;
        self.sum_fault(what, upper, self.upper_at, sum_at, begun)
    }

    /// What is wrong with a frame of this length that carries it: bytes after the packet that are no padding. An interface
    /// may pad to 60 bytes, to 64 for a tag, and by a few (usbnet adds one to a frame that fills its last USB packet).
    pub(crate) fn length_fault(&self, length: u32) -> Option<NicExample> {
        let more = (length as usize).saturating_sub(self.end);
        let is_padding = length as usize <= self.end.max(SMALLEST_BYTES) + PADDED_BYTES;
        (!is_padding).then(|| NicExample {
            what: format!("bytes after the packet in a frame of {length} bytes"),
            offset: u32::try_from(self.end).ok(),
            expected: "none but padding".to_owned(),
            seen: more.to_string(),
            frame: Some(shown(self.frame)),
        })
    }

    /// What is wrong with any checksum.
    pub(crate) fn fault(&self) -> Option<NicExample> {
        self.header_fault().or_else(|| self.upper_fault())
    }
}

/// Source and destination port of the TCP segment or UDP datagram that a frame begins; of part of a frame, too.
pub(crate) fn ports_of_beginning(frame: &[u8]) -> Option<[u16; 2]> {
    Upper::of_beginning(frame)?.ports(frame)
}

/// The two zeros of one's complement.
fn is_zero(sum: &[u8]) -> bool {
    sum == [0, 0] || sum == [0xFF, 0xFF]
}

/// The beginning of a frame.
pub(crate) fn shown(frame: &[u8]) -> String {
    hex::of(&frame[..frame.len().min(SHOWN_BYTES)])
}

/// Of the UDP and TCP headers.
pub(crate) const UDP_SUM_AT: usize = 6;
pub(crate) const TCP_SUM_AT: usize = 16;
const SHOWN_BYTES: usize = 192;
/// Of Ethernet, without FCS.
const SMALLEST_BYTES: usize = 60;
const PADDED_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{self, Marks};

    #[test]
    fn padding_is_no_fault_and_more_than_that_is() {
        for (size, length, is_right) in [
            (0, 60, true),
            (0, 64, true),
            (0, 65, false),
            // 42 bytes of headers.
            (1000, 1042, true),
            (1000, 1046, true),
            (1000, 1047, false),
            (1000, 2400, false),
        ] {
            let frame = craft::udp(&craft::tests::path(false), Marks::default(), &vec![7; size]);
            let fault = Packet::parse(&frame).unwrap().length_fault(length);
            assert_eq!(fault.is_none(), is_right, "{size} {length}");
        }
    }
}
