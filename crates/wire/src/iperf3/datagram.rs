// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of a UDP data datagram: sender's time, then a sequence number from 1, per stream.
//!
//! Times are on a wall-clock epoch: receivers up to 3.7 start from transit 0, and monotonic stamps give them
//! absurd jitter. All fields are big-endian.

/// Width of the sequence number, settled by the parameter `udp_counters_64bit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterWidth {
    /// The default; wraps after 2^32 packets.
    Bits32,
    /// Asked for whenever both ends are 3.1 or newer.
    Bits64,
}

/// The decoded header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Seconds of the sender's clock.
    pub seconds: u32,
    /// Microseconds of it.
    pub microseconds: u32,
    /// From 1.
    pub sequence: u64,
}

impl CounterWidth {
    /// Bytes of the header.
    #[must_use]
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::Bits32 => 12,
            Self::Bits64 => 16,
        }
    }
}

impl Header {
    /// The header of a datagram sent at `wall_ns` nanoseconds of the Unix epoch.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the wire holds 32 bits of the seconds"
    )]
    pub const fn at(wall_ns: u64, sequence: u64) -> Self {
        let microseconds = wall_ns / 1000;
        Self {
            seconds: (microseconds / 1_000_000) as u32,
            microseconds: (microseconds % 1_000_000) as u32,
            sequence,
        }
    }

    /// The sender's time, nanoseconds.
    #[must_use]
    pub fn time_ns(&self) -> u64 {
        u64::from(self.seconds) * 1_000_000_000 + u64::from(self.microseconds) * 1000
    }

    /// Writes the header at the front of a payload; `false`, and nothing written, if the payload is too short.
    #[expect(clippy::cast_possible_truncation, reason = "the 32-bit form wraps")]
    #[must_use]
    pub fn encode(&self, width: CounterWidth, payload: &mut [u8]) -> bool {
        let Some(header) = payload.get_mut(..width.header_bytes()) else {
            return false;
        };
        header[..4].copy_from_slice(&self.seconds.to_be_bytes());
        header[4..8].copy_from_slice(&self.microseconds.to_be_bytes());
        match width {
            CounterWidth::Bits32 => {
                header[8..].copy_from_slice(&(self.sequence as u32).to_be_bytes())
            }
            CounterWidth::Bits64 => header[8..].copy_from_slice(&self.sequence.to_be_bytes()),
        }
        true
    }

    /// Reads the header at the front of a payload; `None` if the payload is too short.
    #[must_use]
    pub fn decode(width: CounterWidth, payload: &[u8]) -> Option<Self> {
        let sequence = match width {
            CounterWidth::Bits32 => u64::from(u32_at(payload, 8)?),
            CounterWidth::Bits64 => {
                u64::from(u32_at(payload, 8)?) << 32 | u64::from(u32_at(payload, 12)?)
            }
        };
        Some(Self {
            seconds: u32_at(payload, 0)?,
            microseconds: u32_at(payload, 4)?,
            sequence,
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|word| u32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_their_layout() {
        let header = Header::at(1_700_000_000_123_456_789, 0x1_0000_0002);
        let mut payload = [0xEE; 20];
        assert!(header.encode(CounterWidth::Bits64, &mut payload));
        assert_eq!(
            payload[..8],
            [0x65, 0x53, 0xF1, 0x00, 0x00, 0x01, 0xE2, 0x40]
        );
        assert_eq!(
            payload[8..],
            [0, 0, 0, 1, 0, 0, 0, 2, 0xEE, 0xEE, 0xEE, 0xEE]
        );
        assert_eq!(Header::decode(CounterWidth::Bits64, &payload), Some(header));
        assert_eq!(header.time_ns(), 1_700_000_000_123_456_000);

        assert!(header.encode(CounterWidth::Bits32, &mut payload));
        assert_eq!(
            Header::decode(CounterWidth::Bits32, &payload).map(|read| read.sequence),
            Some(2)
        );
    }

    #[test]
    fn a_short_payload_is_refused() {
        for (width, short) in [(CounterWidth::Bits32, 11), (CounterWidth::Bits64, 15)] {
            assert_eq!(Header::decode(width, &[0; 16][..short]), None);
            assert!(!Header::at(0, 1).encode(width, &mut [0; 16][..short]));
        }
    }
}
