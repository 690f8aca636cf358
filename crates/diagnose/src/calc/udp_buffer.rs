// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a datagram socket's buffer lasts while it is not read. Each datagram is charged with
//! the memory that the kernel gave it (`skb->truesize`), not with its payload.

/// Datagrams that fit into a buffer of `buffer_bytes`; 0 for a charge of 0.
#[must_use]
pub const fn datagrams(buffer_bytes: u64, truesize_bytes: u64) -> u64 {
    match buffer_bytes.checked_div(truesize_bytes) {
        Some(datagrams) => datagrams,
        None => 0,
    }
}

/// For how many seconds they last at `packets_per_second`.
#[must_use]
pub fn lasts_s(buffer_bytes: u64, truesize_bytes: u64, packets_per_second: f64) -> f64 {
    datagrams(buffer_bytes, truesize_bytes) as f64 / packets_per_second
}

/// What the kernel usually charges for a datagram of `payload_bytes`: the data rounded up to where the
/// allocator cuts, and its own bookkeeping (net/core/skbuff.c, SKB_TRUESIZE; drivers differ).
#[must_use]
pub const fn usual_truesize_bytes(payload_bytes: u32) -> u64 {
    match payload_bytes {
        0..=150 => 768,
        151..=600 => 1280,
        601..=1500 => 2304,
        _ => 4352,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_buffer_lasts_about_a_millisecond() {
        let table = [
            (768, 277, 3408.0),
            (1280, 166, 2042.0),
            (2304, 92, 1132.0),
            (4352, 48, 591.0),
        ];
        for (truesize, packets, microseconds) in table {
            assert_eq!(datagrams(212_992, truesize), packets);
            let lasts = lasts_s(212_992, truesize, 81_274.0) * 1e6;
            assert!((lasts - microseconds).abs() < 1.0, "{truesize}: {lasts}");
        }
        assert_eq!(datagrams(212_992, 0), 0);
    }
}
