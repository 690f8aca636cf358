// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Internet checksum (RFC 1071) and the pseudo-headers of UDP and TCP (RFC 768, RFC 8200 section 8.1).

use std::net::IpAddr;

/// A sum in progress; parts but the last must be of even length.
///
/// Kept of longer words in the machine's own order: they add up to the same, its bytes in that order (RFC 1071
/// section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Begins with nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0)
    }

    /// Begins with the pseudo-header of an upper-layer packet of `length` bytes; `None` if the addresses are not of
    /// one family.
    #[must_use]
    pub fn pseudo_header(from: IpAddr, to: IpAddr, protocol: u8, length: u32) -> Option<Self> {
        let addresses = match (from, to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                Self::new().with(&from.octets()).with(&to.octets())
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                Self::new().with(&from.octets()).with(&to.octets())
            }
            _ => return None,
        };
        Some(addresses.with(&length.to_be_bytes()).with(&[0, protocol]))
    }

    /// Adds bytes; an odd last byte counts as the high half of a word.
    #[inline]
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks();
        let last = match *rest {
            [a, b, c] => [a, b, c, 0],
            [a, b] => [a, b, 0, 0],
            [a] => [a, 0, 0, 0],
            _ => [0; 4],
        };
        let word = |word: &[u8; 4]| u64::from(u32::from_ne_bytes(*word));
        Self(self.0 + words.iter().map(word).sum::<u64>() + word(&last))
    }

    /// The checksum to write. Over data that hold a right checksum it is 0.
    #[must_use]
    pub const fn finish(self) -> u16 {
        !u16::from_be(fold(self.0))
    }
}

/// Adds the carries until none is left.
const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xFFFF_FFFF) + (sum >> 32);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    ((sum & 0xFFFF) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_sums_to_ddf2() {
        let sum = Checksum::new().with(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]);
        assert_eq!(sum.finish(), !0xDDF2);
    }

    #[test]
    fn an_odd_byte_is_the_high_half() {
        assert_eq!(
            Checksum::new().with(&[1, 2, 3]),
            Checksum::new().with(&[1, 2, 3, 0])
        );
    }

    #[test]
    fn every_length_in_any_even_parts_is_the_sum_of_its_words() {
        let bytes: Vec<u8> = (0..70u32).map(|at| (at * 151 + 97) as u8).collect();
        for length in 0..bytes.len() {
            let whole = &bytes[..length];
            let mut expected = 0u32;
            for word in whole.chunks(2) {
                expected += u32::from(u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]));
            }
            let expected = !((expected & 0xFFFF) + (expected >> 16)) as u16;
            for part in (2..length + 2).step_by(2) {
                let sum = whole.chunks(part).fold(Checksum::new(), Checksum::with);
                assert_eq!(sum.finish(), expected, "{length} in parts of {part}");
            }
        }
    }

    #[test]
    fn large_data_fold_right() {
        let ones = Checksum::new().with(&vec![0xFF; 1 << 20]);
        assert_eq!(ones.finish(), 0);
    }

    #[test]
    fn mixed_families_have_no_pseudo_header() {
        let (v4, v6) = ("10.0.0.1".parse().unwrap(), "::1".parse().unwrap());
        assert_eq!(Checksum::pseudo_header(v4, v6, 17, 8), None);
    }
}
