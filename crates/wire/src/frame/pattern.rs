// SPDX-License-Identifier: MIT OR Apache-2.0
//! The payload after the signature: incrementing octets, 00 01 02 … from the payload's beginning (RFC 2544 appendix C).
//!
//! Looked at in every frame that arrives, so in whole vectors: no byte-wise loop and no `memcmp`, which in static
//! binaries is one.

use super::signature::Signature;

/// Writes a whole payload.
pub(super) fn fill(payload: &mut [u8]) {
    payload
        .iter_mut()
        .zip((0..=u8::MAX).cycle())
        .for_each(|(octet, value)| *octet = value);
}

/// Whether what follows a signature is as it was written.
pub(super) fn is_intact(tail: &[u8]) -> bool {
    let (cycles, rest) = tail.as_chunks::<CYCLE_BYTES>();
    cycles.iter().all(|cycle| same(cycle, &CYCLE)) && is_beginning(rest)
}

/// Whether it is the beginning of a cycle.
fn is_beginning(rest: &[u8]) -> bool {
    let (blocks, last) = rest.as_chunks::<BLOCK_BYTES>();
    let (expected_blocks, _) = CYCLE.as_chunks::<BLOCK_BYTES>();
    let blocks_same = blocks
        .iter()
        .zip(expected_blocks)
        .all(|(block, expected)| same(block, expected));
    let expected_last = CYCLE[blocks.len() * BLOCK_BYTES..].iter();
    blocks_same && last.iter().zip(expected_last).all(|(a, b)| a == b)
}

fn same<const N: usize>(a: &[u8; N], b: &[u8; N]) -> bool {
    a.iter()
        .zip(b)
        .fold(0, |differing, (a, b)| differing | (a ^ b))
        == 0
}

/// The ones' complement sum of what follows a signature, `length` bytes of it (RFC 1071).
pub(super) fn sum(length: usize) -> u16 {
    let words = length / 2;
    let (cycles, rest) = ((words / CYCLE_WORDS) as u64, words % CYCLE_WORDS);
    let mut sum = cycles * words_sum(0, CYCLE_WORDS) + words_sum(FIRST_WORD, rest);
    if length % 2 == 1 {
        sum += u64::from(CYCLE[(length - 1) % CYCLE_BYTES]) << 8;
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// The sum of `count` words, at most a cycle, from word `first` of the cycle that begins with 00 on.
const fn words_sum(first: usize, count: usize) -> u64 {
    let (first, count) = (first as u64, count as u64);
    let end = first + count;
    // Word i is 2i·256 + 2i + 1; what goes beyond the cycle begins again at 0.
    let beyond = end.saturating_sub(CYCLE_WORDS as u64);
    let all = 257 * (end * end.saturating_sub(1) - first * first.saturating_sub(1)) + count;
    all - beyond * 514 * CYCLE_WORDS as u64
}

const CYCLE_BYTES: usize = 256;
const CYCLE_WORDS: usize = CYCLE_BYTES / 2;
const BLOCK_BYTES: usize = 16;
const FIRST_WORD: usize = Signature::LEN / 2;

/// A cycle as it follows a signature.
static CYCLE: [u8; CYCLE_BYTES] = {
    let mut cycle = [0; CYCLE_BYTES];
    let mut at = 0;
    while at < CYCLE_BYTES {
        cycle[at] = ((at + Signature::LEN) % CYCLE_BYTES) as u8;
        at += 1;
    }
    cycle
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::Checksum;

    #[test]
    fn what_was_filled_is_intact_at_every_length_and_adds_up() {
        let mut payload = [0; 1500];
        fill(&mut payload);
        assert_eq!((payload[0], payload[255], payload[256]), (0, 255, 0));
        for length in 0..=payload.len() - 18 {
            let tail = &payload[18..18 + length];
            assert!(is_intact(tail), "{length}");
            let expected = !Checksum::new().with(tail).finish();
            assert_eq!(sum(length), expected, "{length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut payload = [0; 700];
        fill(&mut payload);
        for length in [1, 15, 16, 17, 255, 256, 257, 600] {
            let tail = &mut payload[18..18 + length];
            for bit in 0..length * 8 {
                tail[bit / 8] ^= 1 << (bit % 8);
                assert!(!is_intact(tail), "{length}: bit {bit}");
                tail[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
