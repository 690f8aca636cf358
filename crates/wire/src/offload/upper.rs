// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the TCP segment or UDP datagram of a frame is.

use std::net::IpAddr;
use std::ops::Range;

use super::Place;
use crate::checksum::Checksum;
use crate::ether::{self, Frame};
use crate::udp;

/// A TCP segment or UDP datagram. All places are offsets in the frame, bytes.
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
    /// Of a frame with at most two VLAN tags; `None` for fragments, packets with extension headers, other protocols, and
    /// what is cut.
    #[must_use]
    pub fn of(frame: &[u8]) -> Option<Self> {
        Self::parse(frame)
            .filter(|upper| (upper.payload.start..=frame.len()).contains(&upper.payload.end))
    }

    /// Also of the beginning of a frame: the payload may end after it. That of a packet whose length field is too short for
    /// its length (BIG TCP) is what is here of it.
    #[must_use]
    pub fn of_beginning(frame: &[u8]) -> Option<Self> {
        let mut upper = Self::parse(frame)?;
        if upper.payload.end < upper.payload.start {
            upper.payload.end = frame.len().max(upper.payload.start);
        }
        Some(upper)
    }

    /// The payload ends where the length field says.
    fn parse(frame: &[u8]) -> Option<Self> {
        let ethernet = Frame::parse(frame)?;
        let network = frame.len() - ethernet.payload.len();
        let ip = ethernet.payload;
        let (source, destination, protocol, header_bytes, ip_bytes) = match ethernet.ethertype {
            ether::IPV4 if word(ip, 6)? & FRAGMENT == 0 => {
                let header_bytes = usize::from(ip.first()? & 15) * 4;
                let (from, to) = (address::<4>(ip, 12)?, address::<4>(ip, 16)?);
                (from, to, *ip.get(9)?, header_bytes, word(ip, 2)?)
            }
            ether::IPV6 => {
                let (from, to) = (address::<16>(ip, 8)?, address::<16>(ip, 24)?);
                (from, to, *ip.get(6)?, 40, 40 + word(ip, 4)?)
            }
            _ => return None,
        };
        let start = network + header_bytes;
        let upper = frame.get(start..)?;
        let (is_tcp, field, least, of_upper) = match protocol {
            TCP => (true, 16, 20, usize::from(upper.get(12)? >> 4) * 4),
            udp::PROTOCOL => (false, 6, udp::HEADER_BYTES, udp::HEADER_BYTES),
            _ => return None,
        };
        (header_bytes >= 20 && of_upper >= least).then_some(Self {
            source,
            destination,
            is_tcp,
            network,
            checksum: Place {
                start,
                field: start + field,
            },
            payload: start + of_upper..network + ip_bytes,
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
    pub fn ports(&self, frame: &[u8]) -> Option<[u16; 2]> {
        let &[a, b, c, d] = frame.get(self.checksum.start..)?.first_chunk()?;
        Some([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
    }
}

fn word(frame: &[u8], at: usize) -> Option<usize> {
    let word = frame.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*word).into())
}

fn address<const N: usize>(bytes: &[u8], at: usize) -> Option<IpAddr>
where
    IpAddr: From<[u8; N]>,
{
    let octets: &[u8; N] = bytes.get(at..)?.first_chunk()?;
    Some((*octets).into())
}

/// Of the field of flags and offset: whether there are more fragments, or earlier ones (RFC 791 section 3.1).
const FRAGMENT: usize = 0x3FFF;
/// IP protocol number.
const TCP: u8 = 6;
