// SPDX-License-Identifier: MIT OR Apache-2.0
//! The four words at the front of every UDP datagram: sequence low, seconds, microseconds, sequence high.
//!
//! The first sequence is 1. A negative one ends the test: its magnitude continues the sequence (12 data datagrams are
//! followed by -13, -14 …), so a final datagram counts as a received one. Clients of 2.0.9 and older write no high
//! word; their client header stands in its place.

use super::client_header::{self, ClientHeader};
use super::{put, word};

/// The decoded words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// From 1; negative in the datagrams that end the test.
    pub sequence: i64,
    /// Seconds of the sender's wall clock.
    pub seconds: u32,
    /// Microseconds of it.
    pub microseconds: u32,
}

impl Header {
    /// Bytes of the four words.
    pub const LEN: usize = 16;

    /// The header of a datagram sent at `wall_ns` nanoseconds of the Unix epoch.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the wire holds 32 bits of the seconds"
    )]
    pub const fn at(wall_ns: u64, sequence: i64) -> Self {
        let microseconds = wall_ns / 1000;
        Self {
            sequence,
            seconds: (microseconds / 1_000_000) as u32,
            microseconds: (microseconds % 1_000_000) as u32,
        }
    }

    /// Whether this datagram ends the test and wants a report.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        self.sequence < 0
    }

    /// The sender's time, nanoseconds.
    #[must_use]
    pub fn time_ns(&self) -> u64 {
        u64::from(self.seconds) * 1_000_000_000 + u64::from(self.microseconds) * 1000
    }

    /// Writes the words at the front of a payload; `false`, and nothing written, if it is too short.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "split in two words"
    )]
    pub fn encode(&self, payload: &mut [u8]) -> bool {
        if payload.len() < Self::LEN {
            return false;
        }
        let words = [
            self.sequence as u32,
            self.seconds,
            self.microseconds,
            (self.sequence >> 32) as u32,
        ];
        words
            .iter()
            .enumerate()
            .for_each(|(index, value)| put(payload, index, *value));
        true
    }

    /// Reads the words of a datagram from a client whose first datagram had a 64-bit sequence or not
    /// ([`has_64_bit_sequence`]); `None` if it is too short.
    #[must_use]
    pub fn decode(payload: &[u8], has_64_bit_sequence: bool) -> Option<Self> {
        let low = word(payload, 0)?;
        let sequence = if has_64_bit_sequence {
            (i64::from(word(payload, 3)?.cast_signed()) << 32) | i64::from(low)
        } else {
            i64::from(low.cast_signed())
        };
        Some(Self {
            sequence,
            seconds: word(payload, 1)?,
            microseconds: word(payload, 2)?,
        })
    }
}

/// Whether a client's first datagram announces the 64-bit sequence.
#[must_use]
pub fn has_64_bit_sequence(first_datagram: &[u8]) -> bool {
    let header = first_datagram
        .get(Header::LEN..)
        .and_then(ClientHeader::decode);
    header.is_some_and(|header| header.flags & client_header::SEQUENCE_64_BIT != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_final_datagram_is_read() {
        let bytes = [
            0xFF, 0xFF, 0xFF, 0xA1, 0x6B, 1, 0x42, 0x4A, 0, 2, 0xAF, 0x8D, 255, 255, 255, 255,
        ];
        let header = Header::decode(&bytes, true).unwrap();
        assert_eq!((header.sequence, header.is_final()), (-95, true));
        assert_eq!(header.microseconds, 0x0002_AF8D);
        assert_eq!(Header::decode(&bytes, false), Some(header));
        let mut again = [0; 16];
        assert!(header.encode(&mut again));
        assert_eq!(again, bytes);
    }

    #[test]
    fn the_sequence_has_64_bits_only_if_announced() {
        let mut payload = [0; 76];
        assert!(Header::at(5_000_001_000, 0x1_0000_0007).encode(&mut payload));
        assert_eq!(
            Header::decode(&payload, true).map(|read| read.sequence),
            Some(0x1_0000_0007)
        );
        assert_eq!(
            Header::decode(&payload, false).map(|read| read.sequence),
            Some(7)
        );
        assert_eq!(
            Header::decode(&payload, true).map(|read| read.time_ns()),
            Some(5_000_001_000)
        );
        assert!(!has_64_bit_sequence(&payload));
        payload[16..20].copy_from_slice(&[0x48, 1, 0, 0x98]);
        assert!(has_64_bit_sequence(&payload));
    }

    #[test]
    fn a_short_datagram_is_no_header() {
        assert_eq!(Header::decode(&[0; 15], true), None);
        assert_eq!(Header::decode(&[0; 11], false), None);
        assert!(Header::decode(&[0; 12], false).is_some());
        assert!(!Header::at(0, 1).encode(&mut [0; 15]));
    }
}
