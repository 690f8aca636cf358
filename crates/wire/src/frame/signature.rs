// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 18 bytes that make a frame ours (RFC 2544 section 10, RFC 2889 section 4): all the payload that a 64-byte IPv4
//! frame has.
//!
//! Big-endian: mark 2 | check 2 | run 2 | stream 1 | sequence 5 | time 6. The check covers the rest and the UDP ports,
//! which no other checksum of an RFC 2544 frame over IPv4 does. A device that translates ports is seen as one that
//! damages frames.

/// What one frame's signature says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Names the run, so that a frame of an earlier one is foreign.
    pub run: u16,
    /// Names the stream: the port that sent it.
    pub stream: u8,
    /// Of its stream; modulo 2⁴⁰ (20 hours at 14.88 million frames a second).
    pub sequence: u64,
    /// When it was sent, ns of any clock; modulo 2⁴⁸ (78 hours).
    pub sent_ns: u64,
}

/// What the beginning of a payload says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Ours, the check fits.
    Right(Signature),
    /// Marked as ours, but the check does not fit or the signature is cut.
    Damaged,
    /// Nothing of ours.
    Absent,
}

impl Signature {
    /// Bytes of a signature.
    pub const LEN: usize = 18;

    /// Writes it for a frame with these UDP ports (source, destination).
    #[inline]
    pub fn write(&self, ports: [u16; 2], bytes: &mut [u8; Self::LEN]) {
        let body = self.body();
        let time = self.sent_ns & TIME_MASK;
        let front = u32::from(MARK) << 16 | u32::from(check(body, time, ports));
        // Whole words: a checksum reads them again at once.
        bytes[..4].copy_from_slice(&front.to_be_bytes());
        bytes[4..12].copy_from_slice(&body.to_be_bytes());
        bytes[12..].copy_from_slice(&time.to_be_bytes()[2..]);
    }

    /// Reads the beginning of a UDP payload; `None` if it is not ours or damaged.
    #[must_use]
    pub fn read(payload: &[u8], ports: [u16; 2]) -> Option<Self> {
        match Self::mark(payload, ports) {
            Mark::Right(signature) => Some(signature),
            Mark::Damaged | Mark::Absent => None,
        }
    }

    /// Nanoseconds from sending to `received_ns` of the same clock, less than 78 hours.
    #[must_use]
    pub const fn delay_ns(&self, received_ns: u64) -> u64 {
        received_ns.wrapping_sub(self.sent_ns) & TIME_MASK
    }

    #[inline]
    pub(super) fn mark(payload: &[u8], ports: [u16; 2]) -> Mark {
        if !payload.starts_with(&MARK.to_be_bytes()) {
            return Mark::Absent;
        }
        let Some(bytes) = payload.first_chunk::<{ Self::LEN }>() else {
            return Mark::Damaged;
        };
        let [_, _, check_high, check_low, body @ .., a, b, c, d, e, f] = bytes;
        let body = u64::from_be_bytes(*body);
        let time = u64::from_be_bytes([0, 0, *a, *b, *c, *d, *e, *f]);
        if u16::from_be_bytes([*check_high, *check_low]) != check(body, time, ports) {
            return Mark::Damaged;
        }
        Mark::Right(Self {
            run: (body >> 48) as u16,
            stream: ((body >> 40) & 0xFF) as u8,
            sequence: body & SEQUENCE_MASK,
            sent_ns: time,
        })
    }

    /// Run, stream and sequence in one word.
    const fn body(&self) -> u64 {
        (self.run as u64) << 48 | (self.stream as u64) << 40 | self.sequence & SEQUENCE_MASK
    }
}

/// The residue of all that it covers, read as one number in front of 16 zero bits. A flipped bit adds or takes a power
/// of two, and below 2³²⁶⁸⁵ no two powers of two add up to a multiple of the modulus: every error of one or two bits
/// is noticed.
const fn check(body: u64, time: u64, ports: [u16; 2]) -> u16 {
    let ports = (ports[0] as u64) << 16 | ports[1] as u64;
    let residue = body % MODULUS;
    let residue = (residue << 48 | time) % MODULUS;
    let residue = (residue << 48 | ports << 16) % MODULUS;
    residue as u16
}

/// No letters, no digits, no small numbers: nothing that a common protocol begins with.
const MARK: u16 = 0xB79D;
const SEQUENCE_MASK: u64 = (1 << 40) - 1;
const TIME_MASK: u64 = (1 << 48) - 1;
/// The largest prime of 16 bits of which 2 is a primitive root.
const MODULUS: u64 = 65_371;

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: Signature = Signature {
        run: 0xFACE,
        stream: 3,
        sequence: 0x12_3456_789A,
        sent_ns: 0xABCD_EF01_2345,
    };
    const PORTS: [u16; 2] = [0xC020, 7];

    fn written(signature: &Signature) -> [u8; 18] {
        let mut bytes = [0; 18];
        signature.write(PORTS, &mut bytes);
        bytes
    }

    #[test]
    fn the_layout_is_big_endian() {
        let bytes = written(&SIGNATURE);
        assert_eq!(bytes[..2], [0xB7, 0x9D]);
        assert_eq!(
            bytes[4..],
            [
                0xFA, 0xCE, 3, 0x12, 0x34, 0x56, 0x78, 0x9A, 0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45
            ]
        );
        assert_eq!(Signature::read(&bytes, PORTS), Some(SIGNATURE));
    }

    #[test]
    fn sequence_and_time_wrap() {
        let large = Signature {
            sequence: u64::MAX,
            sent_ns: u64::MAX,
            ..SIGNATURE
        };
        let read = Signature::read(&written(&large), PORTS).unwrap();
        assert_eq!((read.sequence, read.sent_ns), (SEQUENCE_MASK, TIME_MASK));
        assert_eq!((read.run, read.stream), (large.run, large.stream));
        assert_eq!(read.delay_ns(41), 42);
        assert_eq!(large.delay_ns(1 << 48), 1);
    }

    #[test]
    fn every_one_or_two_flipped_bits_are_noticed() {
        let whole = [&written(&SIGNATURE)[..], &[0xC0, 0x20, 0, 7]].concat();
        let read = |bytes: &[u8]| {
            let ports = [18, 20].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            Signature::mark(&bytes[..18], ports)
        };
        assert_eq!(read(&whole), Mark::Right(SIGNATURE));
        for first in 0..whole.len() * 8 {
            for second in first..whole.len() * 8 {
                let mut bytes = whole.clone();
                bytes[first / 8] ^= 1 << (first % 8);
                if second != first {
                    bytes[second / 8] ^= 1 << (second % 8);
                }
                let expected = if first < 16 {
                    Mark::Absent
                } else {
                    Mark::Damaged
                };
                assert_eq!(read(&bytes), expected, "bits {first} and {second}");
            }
        }
    }

    #[test]
    fn a_cut_signature_is_damaged_once_its_mark_is_there() {
        let bytes = written(&SIGNATURE);
        for length in 0..18 {
            let expected = if length < 2 {
                Mark::Absent
            } else {
                Mark::Damaged
            };
            assert_eq!(Signature::mark(&bytes[..length], PORTS), expected);
        }
    }
}
