// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the TCP segment or UDP datagram of a frame is.

use std::net::IpAddr;
use std::ops::Range;

use super::Place;
use crate::checksum::Checksum;
use crate::ether::{self, Frame};
use crate::{ipv4, ipv6, udp};

/// A whole TCP segment or UDP datagram. All places are offsets in the frame, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upper {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Whether it is TCP, else UDP.
    pub is_tcp: bool,
    /// Where the IP packet begins.
    pub network: usize,
    /// Its checksum.
    pub checksum: Place,
    /// Its payload. What follows it is padding.
    pub payload: Range<usize>,
}

impl Upper {
    /// Of a frame with at most two VLAN tags; `None` for fragments, other protocols, and what is cut.
    #[must_use]
    pub fn of(frame: &[u8]) -> Option<Self> {
        let ethernet = Frame::parse(frame)?;
        let network = frame.len() - ethernet.payload.len();
        let (source, destination, protocol, whole, end) = match ethernet.ethertype {
            ether::IPV4 => {
                let packet = ipv4::Packet::parse(ethernet.payload)?;
                let whole = (!packet.is_fragment()).then_some(packet.payload)?;
                let end = network + word(frame, network + 2)?;
                let (from, to) = (packet.source.into(), packet.destination.into());
                (from, to, packet.protocol, whole, end)
            }
            ether::IPV6 => {
                let packet = ipv6::Packet::parse(ethernet.payload)?;
                let whole = (!packet.is_fragment()).then_some(packet.payload)?;
                let end = network + 40 + word(frame, network + 4)?;
                let (from, to) = (packet.source.into(), packet.destination.into());
                (from, to, packet.protocol, whole, end)
            }
            _ => return None,
        };
        let start = end.checked_sub(whole.len())?;
        let (is_tcp, field, header_bytes) = match protocol {
            TCP => (true, start + 16, usize::from(whole.get(12)? >> 4) * 4),
            udp::PROTOCOL => (false, start + 6, udp::HEADER_BYTES),
            _ => return None,
        };
        let least = if is_tcp { 20 } else { udp::HEADER_BYTES };
        (header_bytes >= least && header_bytes <= whole.len()).then_some(Self {
            source,
            destination,
            is_tcp,
            network,
            checksum: Place { start, field },
            payload: start + header_bytes..end,
        })
    }

    /// The sum over the whole with its pseudo-header: 0 if the checksum is right.
    #[must_use]
    pub fn sum(&self, frame: &[u8]) -> Option<u16> {
        let covered = frame.get(self.checksum.start..self.payload.end)?;
        let protocol = if self.is_tcp { TCP } else { udp::PROTOCOL };
        let length = u32::try_from(covered.len()).ok()?;
        let sum = Checksum::pseudo_header(self.source, self.destination, protocol, length)?;
        Some(sum.with(covered).finish())
    }

    /// Source and destination port.
    #[must_use]
    pub fn ports(&self, frame: &[u8]) -> Option<[u8; 4]> {
        frame.get(self.checksum.start..)?.first_chunk().copied()
    }
}

fn word(frame: &[u8], at: usize) -> Option<usize> {
    let word = frame.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*word).into())
}

/// IP protocol number.
const TCP: u8 = 6;
