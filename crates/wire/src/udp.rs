// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP datagrams (RFC 768; over IPv6 RFC 8200 section 8.1).

use std::net::IpAddr;

use crate::checksum::Checksum;

/// A view of a datagram, or of the part that a first fragment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Of header and payload, as the sender wrote it, bytes.
    pub length: u16,
    /// The checksum; 0 = none.
    pub checksum: u16,
    /// What is carried, as far as it is here.
    pub payload: &'a [u8],
    segment: &'a [u8],
}

/// IP protocol number.
pub const PROTOCOL: u8 = 17;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 8;

impl<'a> Datagram<'a> {
    /// Reads the payload of an IP packet; `None` if it has no whole header.
    #[inline]
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let length = word(4);
        let segment = bytes.get(..length.into()).unwrap_or(bytes);
        Some(Self {
            source_port: word(0),
            destination_port: word(2),
            length,
            checksum: word(6),
            payload: segment.get(HEADER_BYTES..)?,
            segment,
        })
    }

    /// Whether all of the payload is here.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.segment.len() == self.length as usize
    }

    /// Whether the checksum is right; `None` if there is none (IPv4 only) or not all of the datagram is here.
    #[must_use]
    pub fn is_intact(&self, source: IpAddr, destination: IpAddr) -> Option<bool> {
        let without = self.checksum == 0 && source.is_ipv4();
        if without || !self.is_whole() {
            return None;
        }
        let sum = Checksum::pseudo_header(source, destination, PROTOCOL, self.length.into())?;
        Some(self.checksum != 0 && sum.with(self.segment).finish() == 0)
    }
}

/// The checksum to write over a datagram whose checksum field is 0: never 0 itself. `None` if the addresses are not
/// of one family.
#[must_use]
pub fn checksum(source: IpAddr, destination: IpAddr, segment: &[u8]) -> Option<u16> {
    let length = u32::try_from(segment.len()).ok()?;
    let sum = Checksum::pseudo_header(source, destination, PROTOCOL, length)?
        .with(segment)
        .finish();
    Some(never_zero(sum))
}

/// As a checksum is written: 0 would say that there is none.
pub(crate) const fn never_zero(sum: u16) -> u16 {
    if sum == 0 { 0xFFFF } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x14, 0x51, 0xC0, 0x00, 0, 0, 0, 0];
        bytes[5] = (HEADER_BYTES + payload.len()).to_le_bytes()[0];
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn a_written_checksum_is_intact_and_every_flipped_bit_is_not() {
        for (from, to) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
            let (from, to): (IpAddr, IpAddr) = (from.parse().unwrap(), to.parse().unwrap());
            let mut bytes = segment(b"odd");
            let sum = checksum(from, to, &bytes).unwrap();
            bytes[6..8].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(
                Datagram::parse(&bytes).unwrap().is_intact(from, to),
                Some(true)
            );
            for bit in (0..32).chain(48..88) {
                let mut corrupt = bytes.clone();
                corrupt[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(
                    Datagram::parse(&corrupt).unwrap().is_intact(from, to),
                    Some(false),
                    "bit {bit}"
                );
            }
        }
    }

    #[test]
    fn no_checksum_is_legal_over_ipv4_only() {
        let bytes = segment(b"abc");
        let datagram = Datagram::parse(&bytes).unwrap();
        let v4 = "10.0.0.1".parse().unwrap();
        let v6 = "fd00::1".parse().unwrap();
        assert_eq!(
            (datagram.is_intact(v4, v4), datagram.is_intact(v6, v6)),
            (None, Some(false))
        );
    }

    #[test]
    fn padding_is_cut_and_a_first_fragment_is_read_as_far_as_it_goes() {
        let padded = [segment(b"abc"), vec![0; 5]].concat();
        assert_eq!(Datagram::parse(&padded).unwrap().payload, b"abc");
        let datagram = Datagram::parse(&padded[..10]).unwrap();
        assert_eq!((datagram.payload, datagram.is_whole()), (&b"ab"[..], false));
        assert_eq!(Datagram::parse(&padded[..7]), None);
        assert_eq!(Datagram::parse(&[0; 8]), None);
    }
}
