// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets with wrong checksums, who would have thrown them away, and stages that nobody counts.

use super::buffer::both;
use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};
use linerate_knowledge::{Group, Stage};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.is_host() {
        vantage.add_counted_to_host(facts, "checksum_errors", "packets", wrong(vantage));
    }
    if vantage.test.is_some() {
        return;
    }
    if let Some(offload) = vantage.set_up("ethtool -k", "rx-checksumming") {
        let word = offload.split_whitespace().next().unwrap_or(offload);
        vantage.add(facts, "rx_checksum_offload", word, "", "ethtool -k");
    }
    if let Some(blind) = blind(vantage) {
        vantage.add(facts, "rx_mac_blind", blind, "", "the driver's table");
    }
}

fn wrong(vantage: &Vantage<'_>) -> Option<Counted> {
    let udp = both(vantage, "InCsumErrors");
    let tcp = vantage.of_host(Source::Snmp, "TcpInCsumErrors");
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
fn blind(vantage: &Vantage<'_>) -> Option<bool> {
    let table = vantage.table()?;
    let never = |name: &&str| table.is_blind(Group::Link, name);
    let own = vantage.dropped(Stage::RxMac);
    Some(FIFO_COUNTERS.iter().all(never) && own.is_none())
}

const FIFO_COUNTERS: &[&str] = &["rx_fifo_errors", "rx_missed_errors", "rx_over_errors"];
