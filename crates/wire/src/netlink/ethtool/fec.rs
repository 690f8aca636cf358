// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics of forward error correction (`ethtool -I --show-fec X`; IEEE 802.3 30.5.1.1.17, 30.5.1.1.18).

use super::super::attribute::{attributes, find, unsigned, word};
use super::{WITH_STATISTICS, generic, header};

/// The payload that asks for the codes with their statistics (Linux 5.13).
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    generic::command(FEC_GET, &header(FEC_HEADER, index, WITH_STATISTICS))
}

/// What the driver counts: by the names of `ethtool`, the sum, then each lane (`corrected_blocks lane 0`); then the code
/// words by how many of their symbols were wrong (`symbol_errors 1-3`, Linux 6.18).
#[must_use]
pub fn counters(payload: &[u8]) -> Vec<(String, u64)> {
    let statistics = find(generic::attributes(payload), FEC_STATS).unwrap_or(&[]);
    let mut counters = Vec::new();
    for (kind, value) in attributes(statistics) {
        match kind {
            CORRECTED => add(&mut counters, "corrected_blocks", value),
            UNCORRECTABLE => add(&mut counters, "uncorrectable_blocks", value),
            CORRECTED_BITS => add(&mut counters, "corrected_bits", value),
            HISTOGRAM => counters.extend(bin(value)),
            _ => {}
        }
    }
    counters
}

/// An array of 64-bit numbers: the sum, then one number for each lane if the driver counts these.
fn add(counters: &mut Vec<(String, u64)>, name: &str, value: &[u8]) {
    let numbers = value.chunks_exact(8).filter_map(unsigned);
    counters.extend(
        numbers
            .take(1 + MOST_LANES)
            .zip(0_usize..)
            .map(|(count, at)| {
                let name = match at.checked_sub(1) {
                    None => name.to_owned(),
                    Some(lane) => format!("{name} lane {lane}"),
                };
                (name, count)
            }),
    );
}

fn bin(value: &[u8]) -> Option<(String, u64)> {
    let low = find(value, BIN_LOW).and_then(word)?;
    let high = find(value, BIN_HIGH).and_then(word)?;
    let count = find(value, BIN_VALUE).and_then(unsigned)?;
    Some((format!("symbol_errors {low}-{high}"), count))
}

/// include/uapi/linux/ethtool_netlink_generated.h
const FEC_GET: u8 = 29;
const FEC_HEADER: u16 = 1;
const FEC_STATS: u16 = 5;
const CORRECTED: u16 = 2;
const UNCORRECTABLE: u16 = 3;
const CORRECTED_BITS: u16 = 4;
const HISTOGRAM: u16 = 5;
const BIN_LOW: u16 = 2;
const BIN_HIGH: u16 = 3;
const BIN_VALUE: u16 = 4;
/// include/linux/ethtool.h ETHTOOL_MAX_LANES.
const MOST_LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::super::attribute::{NESTED, push};
    use super::*;

    #[test]
    fn sums_lanes_and_bins() {
        let mut bin = Vec::new();
        push(&mut bin, BIN_LOW, &1_u32.to_ne_bytes());
        push(&mut bin, BIN_HIGH, &3_u32.to_ne_bytes());
        push(&mut bin, BIN_VALUE, &17_u64.to_ne_bytes());
        let mut statistics = Vec::new();
        let corrected: Vec<u8> = [30_u64, 10, 20]
            .iter()
            .flat_map(|n| n.to_ne_bytes())
            .collect();
        push(&mut statistics, CORRECTED, &corrected);
        push(&mut statistics, UNCORRECTABLE, &5_u64.to_ne_bytes());
        push(&mut statistics, HISTOGRAM | NESTED, &bin);
        push(&mut statistics, 99, &[1]);
        let mut body = Vec::new();
        push(&mut body, FEC_STATS | NESTED, &statistics);
        let expected = [
            ("corrected_blocks", 30),
            ("corrected_blocks lane 0", 10),
            ("corrected_blocks lane 1", 20),
            ("uncorrectable_blocks", 5),
            ("symbol_errors 1-3", 17),
        ];
        let read = counters(&generic::command(FEC_GET, &body));
        let read: Vec<_> = read
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        assert_eq!(read, expected);
        assert_eq!(counters(&[]), []);
    }
}
