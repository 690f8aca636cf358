// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTM_GETLINK` of one interface, for its counters (include/uapi/linux/if_link.h).

use super::attribute::{attributes, unsigned};

/// The kind of the request.
pub const GET: u16 = 18;

/// The payload that asks for the interface of number `index`, without its virtual functions.
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[4..8].copy_from_slice(&index.to_ne_bytes());
    bytes
}

/// `rtnl_link_stats64` as far as this kernel's reaches, and how often the carrier came and went.
#[must_use]
pub fn counters(payload: &[u8]) -> Vec<(&'static str, u64)> {
    let mut counters = Vec::new();
    for (kind, value) in attributes(payload.get(HEADER_BYTES..).unwrap_or(&[])) {
        match kind {
            STATS64 => counters.extend(stats(value)),
            CARRIER_CHANGES => {
                counters.extend(unsigned(value).map(|count| ("carrier_changes", count)))
            }
            CARRIER_UP_COUNT => {
                counters.extend(unsigned(value).map(|count| ("carrier_up_count", count)))
            }
            CARRIER_DOWN_COUNT => {
                counters.extend(unsigned(value).map(|count| ("carrier_down_count", count)))
            }
            _ => {}
        }
    }
    counters
}

fn stats(value: &[u8]) -> impl Iterator<Item = (&'static str, u64)> {
    let counts = value.chunks_exact(8).filter_map(unsigned);
    STATS.iter().copied().zip(counts)
}

/// The names of `struct rtnl_link_stats64`, in its order.
pub const STATS: [&str; 25] = [
    "rx_packets",
    "tx_packets",
    "rx_bytes",
    "tx_bytes",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "multicast",
    "collisions",
    "rx_length_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "rx_fifo_errors",
    "rx_missed_errors",
    "tx_aborted_errors",
    "tx_carrier_errors",
    "tx_fifo_errors",
    "tx_heartbeat_errors",
    "tx_window_errors",
    "rx_compressed",
    "tx_compressed",
    "rx_nohandler",
    "rx_otherhost_dropped",
];

/// `struct ifinfomsg`: family, type, index, flags, change.
const HEADER_BYTES: usize = 16;
const STATS64: u16 = 23;
const CARRIER_CHANGES: u16 = 35;
const CARRIER_UP_COUNT: u16 = 47;
const CARRIER_DOWN_COUNT: u16 = 48;

#[cfg(test)]
mod tests {
    use super::super::attribute::push;
    use super::*;

    #[test]
    fn an_older_kernel_has_fewer_counters() {
        let answer = |words: u64| {
            let mut payload = request(3);
            let value: Vec<u8> = (1..=words).flat_map(u64::to_ne_bytes).collect();
            push(&mut payload, STATS64, &value);
            push(&mut payload, CARRIER_CHANGES, &4_u32.to_ne_bytes());
            counters(&payload)
        };
        let old = answer(23);
        assert_eq!(old[0], ("rx_packets", 1));
        assert_eq!(old[22..], [("tx_compressed", 23), ("carrier_changes", 4)]);
        assert_eq!(answer(25)[24], ("rx_otherhost_dropped", 25));
        assert_eq!(answer(30).len(), 26, "a newer one's are not guessed");
        assert_eq!(counters(&[0; 7]), []);
    }
}
