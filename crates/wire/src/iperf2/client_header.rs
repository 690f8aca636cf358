// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's description of its test: at the front of a TCP connection, or after the words of a UDP datagram.
//!
//! Six words, and nine more if the flag [`EXTENDED`] is set. Clients of 2.0.5 may send flags 0 and nothing of use.

use super::{put, word};

/// The client's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientHeader {
    /// Flags of this module; bits 1 to 8 hold the header's length if [`LENGTH_PRESENT`] is set.
    pub flags: u32,
    /// Parallel streams.
    pub threads: u32,
    /// Server's port.
    pub port: u32,
    /// Bytes of a write or datagram; 0 = default.
    pub buffer_bytes: u32,
    /// TCP: window, bytes; UDP of old clients: rate, bit/s.
    pub window_or_rate: u32,
    /// Negative: hundredths of a second; else bytes.
    pub amount: i32,
    /// The second part.
    pub extension: Option<Extension>,
}

/// The words after the first six.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// As [`REVERSE`] and others.
    pub test_flags: u32,
    /// The client's version: major and minor.
    pub version_upper: u32,
    /// The client's version: patch and state.
    pub version_lower: u32,
    /// TOS byte in the lowest bits.
    pub tos: u32,
    /// Target rate, bit/s (UDP) or byte/s.
    pub rate: u64,
}

/// Flag: a first-generation header follows.
pub const VERSION_1: u32 = 0x8000_0000;
/// Flag: the second part follows.
pub const EXTENDED: u32 = 0x4000_0000;
/// Flag: UDP sequence numbers have a high word.
pub const SEQUENCE_64_BIT: u32 = 0x0800_0000;
/// Flag: short messages to and fro (`--bounceback`), in a header of another form.
pub const BOUNCE_BACK: u32 = 0x0080_0000;
/// Flag: bits 1 to 8 hold the length of the header, UDP words included, bytes.
pub const LENGTH_PRESENT: u32 = 0x0001_0000;
/// Test flag: the server sends.
pub const REVERSE: u32 = 0x0400_0000;
/// Test flag: both send.
pub const FULL_DUPLEX: u32 = 0x0800_0000;

impl ClientHeader {
    /// Bytes of the six words.
    pub const LEN: usize = 24;
    /// Bytes of the whole header with its extension.
    pub const EXTENDED_LEN: usize = 60;

    /// Reads a header; `None` if it is too short for the parts that it announces.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let flags = word(bytes, 0)?;
        let mut header = Self {
            flags,
            threads: word(bytes, 1)?,
            port: word(bytes, 2)?,
            buffer_bytes: word(bytes, 3)?,
            window_or_rate: word(bytes, 4)?,
            amount: word(bytes, 5)?.cast_signed(),
            extension: None,
        };
        if flags & EXTENDED != 0 {
            header.extension = Some(Extension::decode(bytes)?);
        }
        Some(header)
    }

    /// Writes the header, with its extension if it has one.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![
            0;
            if self.extension.is_some() {
                Self::EXTENDED_LEN
            } else {
                Self::LEN
            }
        ];
        let words = [
            self.flags,
            self.threads,
            self.port,
            self.buffer_bytes,
            self.window_or_rate,
        ];
        words
            .iter()
            .enumerate()
            .for_each(|(index, value)| put(&mut bytes, index, *value));
        put(&mut bytes, 5, self.amount.cast_unsigned());
        if let Some(extension) = &self.extension {
            extension.encode(&mut bytes);
        }
        bytes
    }

    /// The header of our own UDP client, as 2.1.8 writes it: for `duration_ms`, at `rate` bit/s.
    #[must_use]
    pub fn udp(port: u16, payload_bytes: u32, rate: u64, duration_ms: u32) -> Self {
        let length = 16 + Self::EXTENDED_LEN.to_le_bytes()[0];
        Self {
            flags: EXTENDED | SEQUENCE_64_BIT | LENGTH_PRESENT | (u32::from(length) << 1),
            threads: 1,
            port: port.into(),
            buffer_bytes: payload_bytes,
            amount: hundredths(duration_ms),
            extension: Some(Extension {
                rate,
                ..Extension::version_2_1_8()
            }),
            ..Self::default()
        }
    }

    /// The header of our own TCP client.
    #[must_use]
    pub fn tcp(port: u16, duration_ms: u32) -> Self {
        let length = Self::EXTENDED_LEN.to_le_bytes()[0];
        Self {
            flags: EXTENDED | LENGTH_PRESENT | (u32::from(length) << 1),
            threads: 1,
            port: port.into(),
            amount: hundredths(duration_ms),
            extension: Some(Extension::version_2_1_8()),
            ..Self::default()
        }
    }

    /// How long the client will send, milliseconds, if it goes by time.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        (self.amount < 0).then(|| u64::from(self.amount.unsigned_abs()) * 10)
    }
}

impl Extension {
    /// The words that 2.1.8 writes, for peers that judge a client by its version.
    const fn version_2_1_8() -> Self {
        Self {
            test_flags: 0,
            version_upper: 0x0002_0001,
            version_lower: 0x0008_0003,
            tos: 0,
            rate: 0,
        }
    }

    fn decode(header: &[u8]) -> Option<Self> {
        word(header, 14)?;
        Some(Self {
            test_flags: word(header, 8)?,
            version_upper: word(header, 9)?,
            version_lower: word(header, 10)?,
            tos: word(header, 11)?,
            rate: (u64::from(word(header, 13)?) << 32) | u64::from(word(header, 12)?),
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "split in two words")]
    fn encode(&self, header: &mut [u8]) {
        let rate = [self.rate as u32, (self.rate >> 32) as u32];
        let words = [
            self.test_flags,
            self.version_upper,
            self.version_lower,
            self.tos,
            rate[0],
            rate[1],
        ];
        words
            .iter()
            .enumerate()
            .for_each(|(index, value)| put(header, 8 + index, *value));
    }
}

fn hundredths(duration_ms: u32) -> i32 {
    -i32::try_from(duration_ms.div_ceil(10)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `iperf -c … -u -b 1M -t 1 -l 1470 -p 15001` of 2.1.8, after the four words.
    const UDP: &str = "480100980000000100003a99000005be00000000ffffff9c0000000000000000000000000002\
        00010008000300000000001000000000000000000000";
    /// `iperf -c … -t 1 -R -p 15003` of 2.1.8.
    const REVERSE_TCP: &str = "440100780000000100003a9b0000000000000000ffffff9c0000000000000000040000000002\
        00010008000300000000000000000000000000000000";

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    #[test]
    fn a_captured_udp_header_is_read_and_written() {
        let header = ClientHeader::decode(&bytes(UDP)).unwrap();
        assert_eq!(
            (header.port, header.buffer_bytes, header.duration_ms()),
            (15001, 1470, Some(1000))
        );
        assert_eq!(header.extension.unwrap().rate, 1 << 20);
        assert_eq!(header.encode(), bytes(UDP));
        assert_eq!(
            ClientHeader::udp(15001, 1470, 1 << 20, 1000).encode(),
            bytes(UDP)
        );
    }

    #[test]
    fn a_captured_reverse_client_differs_from_a_plain_one() {
        let header = ClientHeader::decode(&bytes(REVERSE_TCP)).unwrap();
        assert!(header.extension.unwrap().test_flags & REVERSE != 0);
        let plain = ClientHeader::tcp(15003, 1000);
        assert_eq!(plain.extension.unwrap().test_flags & REVERSE, 0);
        assert_eq!(ClientHeader::decode(&plain.encode()), Some(plain));
    }

    #[test]
    fn captured_tests_in_both_directions_are_known() {
        // `--full-duplex` and `--bounceback` of 2.1.8, their first bytes.
        let duplex = REVERSE_TCP.replacen("4401", "4001", 1).replacen(
            "0400000000020001",
            "0800000000020001",
            1,
        );
        let header = ClientHeader::decode(&bytes(&duplex)).unwrap();
        assert_eq!(header.extension.unwrap().test_flags, FULL_DUPLEX);
        let bounce = "00800000000000640000000180005a5a000000006b017021";
        let header = ClientHeader::decode(&bytes(bounce)).unwrap();
        assert!(header.flags & BOUNCE_BACK != 0 && header.extension.is_none());
    }

    #[test]
    fn an_old_header_has_six_words_and_a_cut_one_none() {
        let old = ClientHeader {
            threads: 1,
            amount: 14700,
            ..ClientHeader::default()
        };
        assert_eq!(ClientHeader::decode(&old.encode()), Some(old));
        assert_eq!(old.duration_ms(), None);
        assert_eq!(ClientHeader::decode(&old.encode()[..23]), None);
        assert_eq!(ClientHeader::decode(&bytes(UDP)[..59]), None);
    }
}
