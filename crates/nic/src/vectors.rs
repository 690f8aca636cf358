// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is tried: every size up to 64 bytes, those around each boundary, and contents whose checksum folds to zero.

use linerate_model::order;
use std::net::IpAddr;

use linerate_wire::checksum::Checksum;

use crate::packet::UDP;

/// The sizes of payloads of at most `most` bytes: each of 0 … 64, and around powers of two, the usual segments, `most`.
pub(crate) fn sizes(most: usize) -> Vec<usize> {
    let boundaries = [
        128, 256, 512, 1024, 1448, 1460, 1472, 2048, 4096, 8192, most,
    ];
    let around = boundaries.iter().flat_map(|at| [at - 1, *at, at + 1]);
    let mut all: Vec<usize> = (0..=64)
        .chain(around)
        .filter(|size| *size <= most)
        .collect();
    order::by(&mut all, Ord::cmp);
    all.dedup();
    all
}

/// Bytes without a pattern that a checksum could miss; the same for the same size and seed.
pub(crate) fn payload(size: usize, seed: u64) -> Vec<u8> {
    let mut state = (size as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ seed;
    let mut next = || {
        // xorshift64 (Marsaglia, 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..size).map(|_| next()).collect()
}

/// A payload whose UDP checksum folds to zero, which must be sent as 0xffff; `None` below two bytes.
pub(crate) fn folding(size: usize, from: (IpAddr, u16), to: (IpAddr, u16)) -> Option<Vec<u8>> {
    let mut bytes = payload(size, 1);
    bytes.first_chunk_mut::<2>()?.fill(0);
    let length = (size + 8) as u32;
    let sum = Checksum::pseudo_header(from.0, to.0, UDP, length)?
        .with(&from.1.to_be_bytes())
        .with(&to.1.to_be_bytes())
        .with(&(length as u16).to_be_bytes())
        .with(&bytes);
    *bytes.first_chunk_mut()? = sum.finish().to_be_bytes();
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{self, Marks};
    use crate::packet::Packet;

    #[test]
    fn sizes_are_every_short_one_and_the_boundaries() {
        let all = sizes(1472);
        assert!(
            (0..=64)
                .chain([1023, 1471, 1472])
                .all(|size| all.contains(&size))
        );
        assert_eq!(all.last(), Some(&1472));
        assert_eq!(sizes(40).len(), 41);
    }

    #[test]
    fn contents_that_fold_to_zero_are_sent_as_ones() {
        for is_ipv6 in [false, true] {
            let path = craft::tests::path(is_ipv6);
            for size in sizes(1400) {
                let from = (path.source, path.source_port);
                let to = (path.destination, path.destination_port);
                let Some(payload) = folding(size, from, to) else {
                    assert!(size < 2);
                    continue;
                };
                let mut frame = craft::udp(&path, Marks::default(), &payload);
                let at = Packet::parse(&frame).unwrap().upper_at + 6;
                assert_eq!(frame[at..at + 2], [0xFF, 0xFF], "{size}");
                frame[at..at + 2].fill(0);
                let fault = Packet::parse(&frame).unwrap().upper_fault().unwrap();
                assert_eq!(
                    (fault.expected.as_str(), fault.seen.as_str()),
                    ("ffff", "0000")
                );
            }
        }
    }

    #[test]
    fn payloads_of_one_size_differ_by_seed_only() {
        assert_eq!(payload(9, 0), payload(9, 0));
        assert_ne!(payload(9, 0), payload(9, 1));
    }
}
