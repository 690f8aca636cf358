// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue statistics of the `netdev` family (Documentation/netlink/specs/netdev.yaml, Linux 6.10).

use super::attribute::{attributes, push, unsigned};
use super::generic;

/// The family's name.
pub const FAMILY: &str = "netdev";

/// The payload that asks for the sums over all queues of the interface of number `index`; its
/// answer is a dump.
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    let mut wanted = Vec::new();
    push(&mut wanted, INDEX, &index.to_ne_bytes());
    generic::command(QSTATS_GET, &wanted)
}

/// What the driver counts, by the names of the specification.
#[must_use]
pub fn counters(payload: &[u8]) -> Vec<(&'static str, u64)> {
    let counter = |(kind, value): (u16, &[u8])| {
        let name = NAMES.get(usize::from(kind.checked_sub(FIRST)?))?;
        Some((*name, unsigned(value)?))
    };
    attributes(generic::attributes(payload))
        .filter_map(counter)
        .collect()
}

const QSTATS_GET: u8 = 12;
const INDEX: u16 = 1;
/// The number of the first statistic.
const FIRST: u16 = 8;
const NAMES: [&str; 27] = [
    "rx-packets",
    "rx-bytes",
    "tx-packets",
    "tx-bytes",
    "rx-alloc-fail",
    "rx-hw-drops",
    "rx-hw-drop-overruns",
    "rx-csum-complete",
    "rx-csum-unnecessary",
    "rx-csum-none",
    "rx-csum-bad",
    "rx-hw-gro-packets",
    "rx-hw-gro-bytes",
    "rx-hw-gro-wire-packets",
    "rx-hw-gro-wire-bytes",
    "rx-hw-drop-ratelimits",
    "tx-hw-drops",
    "tx-hw-drop-errors",
    "tx-csum-none",
    "tx-needs-csum",
    "tx-hw-gso-packets",
    "tx-hw-gso-bytes",
    "tx-hw-gso-wire-packets",
    "tx-hw-gso-wire-bytes",
    "tx-hw-drop-ratelimits",
    "tx-stop",
    "tx-wake",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_known_by_number_and_of_any_width() {
        let mut body = Vec::new();
        push(&mut body, INDEX, &3_u32.to_ne_bytes());
        push(&mut body, 8, &5_u32.to_ne_bytes());
        push(&mut body, 14, &(1_u64 << 40).to_ne_bytes());
        push(&mut body, 34, &9_u32.to_ne_bytes());
        push(&mut body, 35, &9_u32.to_ne_bytes());
        let expected = [
            ("rx-packets", 5),
            ("rx-hw-drop-overruns", 1 << 40),
            ("tx-wake", 9),
        ];
        assert_eq!(counters(&generic::command(12, &body)), expected);
    }
}
