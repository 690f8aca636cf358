// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 37-byte cookie that opens the control connection and every TCP data stream of a test.
//!
//! 36 printable characters and a NUL. A peer's cookie is opaque: it is compared up to its first NUL.

use std::fmt;

/// Ties the TCP streams of a test to its control connection.
#[derive(Clone, Copy)]
pub struct Cookie([u8; Self::LEN]);

impl Cookie {
    /// Bytes on the wire, the closing NUL included.
    pub const LEN: usize = 37;

    /// Makes an unguessable cookie of random bytes given by the caller.
    ///
    /// 23 bytes carry 180 bits into 36 characters of five bits each.
    #[must_use]
    pub fn from_random(random: &[u8; 23]) -> Self {
        let mut cookie = [0; Self::LEN];
        for (index, character) in cookie.iter_mut().take(Self::LEN - 1).enumerate() {
            *character = ALPHABET[five_bits(random, index * 5)];
        }
        Self(cookie)
    }

    /// Takes what a peer sent, unjudged.
    #[must_use]
    pub const fn from_wire(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes to send.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Whether the cookie could have come from an iperf3 of any version: printable text, then NULs.
    #[must_use]
    pub fn is_plausible(&self) -> bool {
        let text = self.text();
        !text.is_empty()
            && text.len() < Self::LEN
            && text
                .iter()
                .all(|byte| byte.is_ascii_graphic() || *byte == b' ')
    }

    fn text(&self) -> &[u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        &self.0[..end.unwrap_or(Self::LEN)]
    }
}

impl PartialEq for Cookie {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Cookie {}

impl std::hash::Hash for Cookie {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

impl fmt::Debug for Cookie {
    /// Shows the first characters only: who knows the whole can join the test.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.text().get(..4).unwrap_or_default();
        write!(f, "Cookie({}…)", shown.escape_ascii())
    }
}

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

fn five_bits(bytes: &[u8; 23], bit: usize) -> usize {
    let high = u16::from(bytes[bit / 8]) << 8;
    let low = bytes.get(bit / 8 + 1).map_or(0, |byte| u16::from(*byte));
    usize::from(((high | low) >> (11 - bit % 8)) & 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_36_printable_characters_and_a_nul() {
        let cookie = Cookie::from_random(&[0xA7; 23]);
        assert!(
            cookie.as_bytes()[..36]
                .iter()
                .all(|byte| ALPHABET.contains(byte))
        );
        assert_eq!(cookie.as_bytes()[36], 0);
        assert!(cookie.is_plausible());
    }

    #[test]
    fn every_random_bit_but_the_last_four_counts() {
        let zero = Cookie::from_random(&[0; 23]);
        for bit in 0..180 {
            let mut random = [0; 23];
            random[bit / 8] = 0x80 >> (bit % 8);
            assert_ne!(Cookie::from_random(&random), zero, "bit {bit}");
        }
    }

    #[test]
    fn compares_up_to_the_nul() {
        let mut one = [0; 37];
        one[..3].copy_from_slice(b"abc");
        let mut two = one;
        two[10] = b'x';
        assert_eq!(Cookie::from_wire(one), Cookie::from_wire(two));
    }

    #[test]
    fn garbage_is_not_plausible() {
        assert!(!Cookie::from_wire([0; 37]).is_plausible());
        assert!(!Cookie::from_wire([0x16; 37]).is_plausible());
        assert!(!Cookie::from_wire([b'a'; 37]).is_plausible());
    }

    #[test]
    fn debug_does_not_give_it_away() {
        assert_eq!(
            format!("{:?}", Cookie::from_random(&[0; 23])),
            "Cookie(aaaa…)"
        );
    }
}
