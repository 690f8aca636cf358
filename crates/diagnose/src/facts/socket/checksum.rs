// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets with wrong checksums, who would have thrown them away, and stages that nobody counts.

use super::buffer::both;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};
use linerate_knowledge::{Group, Stage};

pub(super) fn collect(place: &Vantage<'_>, facts: &mut Facts) {
    if place.is_host() {
        place.add_counted_to_host(facts, "checksum_errors", "packets", wrong(place));
    }
    if place.test.is_some() {
        return;
    }
    if let Some(offload) = place.set_up("ethtool -k", "rx-checksumming") {
        let word = offload.split_whitespace().next().unwrap_or(offload);
        place.add(facts, "rx_checksum_offload", word, "", "ethtool -k");
    }
    if let Some(blind) = blind(place) {
        place.add(facts, "rx_mac_blind", blind, "", "the driver's table");
    }
}

fn wrong(place: &Vantage<'_>) -> Option<Counted> {
    let udp = both(place, "InCsumErrors");
    let tcp = place.of_host("/proc/net/snmp", "TcpInCsumErrors");
    match (udp, tcp) {
        (Some(udp), Some(tcp)) => Some(Counted {
            value: udp.value + tcp.value,
            source: format!("{}, {}", udp.source, tcp.source),
            ..udp
        }),
        (udp, tcp) => udp.or(tcp),
    }
}

/// A driver whose link counters of the FIFO never move, and that shows no counter of its own.
fn blind(place: &Vantage<'_>) -> Option<bool> {
    let table = place.table()?;
    let never = |name: &&str| table.is_blind(Group::Link, name);
    let own = place.dropped(Stage::RxMac);
    Some(FIFO_COUNTERS.iter().all(never) && own.is_none())
}

const FIFO_COUNTERS: &[&str] = &["rx_fifo_errors", "rx_missed_errors", "rx_over_errors"];
