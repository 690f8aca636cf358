// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stamp of a data datagram between two linerates: u64 wall clock (ns), u64 sequence from 1, u32 check.
//!
//! The highest bit of the sequence marks a datagram of the warm-up. Those have a numbering of their own, so that the
//! measured ones begin with 1 and both ends agree which is which, whatever their clocks say.
//!
//! The check is left out of payloads that have no room for it. It distinguishes a corrupted stamp from a lost one; it is
//! no protection against a forger.

/// The decoded stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Sender's wall clock when the datagram was handed to the kernel, ns of the Unix epoch.
    pub wall_ns: u64,
    /// From 1, per stream; the warm-up counts for itself.
    pub sequence: u64,
    /// Sent in the warm-up.
    pub warm_up: bool,
}

/// Why a payload gave no stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StampError {
    /// Shorter than a stamp.
    #[error("payload shorter than a stamp")]
    TooShort,
    /// The check does not fit the stamp.
    #[error("stamp corrupted")]
    Corrupt,
}

impl Stamp {
    /// Smallest payload.
    pub const LEN: usize = 16;
    /// Smallest payload with a check.
    pub const CHECKED_LEN: usize = 20;

    /// Writes the stamp at the front of a payload, with the check if there is room; `false` if there is none for
    /// the stamp itself.
    #[must_use]
    #[inline]
    pub fn encode(&self, payload: &mut [u8]) -> bool {
        let Some(front) = payload.first_chunk_mut::<{ Self::LEN }>() else {
            return false;
        };
        front[..8].copy_from_slice(&self.wall_ns.to_be_bytes());
        front[8..].copy_from_slice(&self.numbered().to_be_bytes());
        if let Some(check) = payload.get_mut(Self::LEN..Self::CHECKED_LEN) {
            check.copy_from_slice(&self.check().to_be_bytes());
        }
        true
    }

    /// Reads the stamp at the front of a payload.
    ///
    /// # Errors
    /// If the payload is too short or, from 20 bytes on, the check does not fit.
    #[inline]
    pub fn decode(payload: &[u8]) -> Result<Self, StampError> {
        let (wall, rest) = payload.split_first_chunk().ok_or(StampError::TooShort)?;
        let (numbered, rest) = rest.split_first_chunk().ok_or(StampError::TooShort)?;
        let numbered = u64::from_be_bytes(*numbered);
        let stamp = Self {
            wall_ns: u64::from_be_bytes(*wall),
            sequence: numbered & !WARM_UP,
            warm_up: numbered & WARM_UP != 0,
        };
        match rest.first_chunk() {
            Some(check) if u32::from_be_bytes(*check) != stamp.check() => Err(StampError::Corrupt),
            _ => Ok(stamp),
        }
    }

    /// How many payloads from the begin of `joined`, each of `size` bytes, carry the sequences that follow this one, with
    /// the same time. One of another size, damaged, or out of order ends them.
    #[must_use]
    pub fn followers(&self, joined: &[u8], size: usize) -> usize {
        let mut next = *self;
        let follows = |payload: &&[u8]| {
            next.sequence = next.sequence.wrapping_add(1);
            Self::decode(payload) == Ok(next)
        };
        let payloads = joined.chunks_exact(size.max(1));
        payloads.take_while(follows).count()
    }

    const fn numbered(&self) -> u64 {
        if self.warm_up {
            self.sequence | WARM_UP
        } else {
            self.sequence
        }
    }

    /// Two multiplications by odd constants, folded: every input bit reaches every output bit.
    const fn check(&self) -> u32 {
        let mixed = (self.wall_ns ^ 0x6C69_6E65_7261_7465).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 32) ^ self.numbered()).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        ((mixed ^ (mixed >> 32)) & 0xFFFF_FFFF) as u32
    }
}

const WARM_UP: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp {
        wall_ns: 1_700_000_000_123_456_789,
        sequence: 42,
        warm_up: false,
    };

    #[test]
    fn any_payload_from_16_bytes_carries_it() {
        for length in 16..40 {
            let mut payload = vec![0x55; length];
            assert!(STAMP.encode(&mut payload));
            assert_eq!(Stamp::decode(&payload), Ok(STAMP), "{length}");
            let warm = Stamp {
                warm_up: true,
                ..STAMP
            };
            assert!(warm.encode(&mut payload));
            assert_eq!(Stamp::decode(&payload), Ok(warm), "{length}");
        }
        assert!(!STAMP.encode(&mut [0; 15]));
        assert_eq!(Stamp::decode(&[0; 15]), Err(StampError::TooShort));
    }

    #[test]
    fn followers_end_at_a_gap_at_damage_and_at_another_length() {
        let numbered = |sequence| Stamp { sequence, ..STAMP };
        let joined = |stamps: &[Stamp]| {
            let mut bytes = vec![0; 24 * stamps.len()];
            for (stamp, payload) in stamps.iter().zip(bytes.chunks_mut(24)) {
                assert!(stamp.encode(payload));
            }
            bytes
        };
        let mut bytes = joined(&[43, 44, 45, 46].map(numbered));
        assert_eq!(STAMP.followers(&bytes, 24), 4);
        assert_eq!(STAMP.followers(&bytes[..90], 24), 3, "the last is shorter");
        assert_eq!(STAMP.followers(&bytes, 0), 0);
        bytes[24 * 2 + 3] ^= 1;
        assert_eq!(STAMP.followers(&bytes, 24), 2);
        assert_eq!(STAMP.followers(&joined(&[43, 45].map(numbered)), 24), 1);
        let warm_up = true;
        let warm = Stamp {
            warm_up,
            ..numbered(43)
        };
        assert_eq!(STAMP.followers(&joined(&[warm]), 24), 0);
        let later = Stamp {
            wall_ns: 1,
            ..numbered(43)
        };
        assert_eq!(STAMP.followers(&joined(&[later]), 24), 0);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut payload = [0; 20];
        assert!(STAMP.encode(&mut payload));
        for bit in 0..160 {
            let mut corrupt = payload;
            corrupt[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                Stamp::decode(&corrupt),
                Err(StampError::Corrupt),
                "bit {bit}"
            );
        }
    }
}
