// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets with wrong checksums, whether the MAC checks them, and stages without a counter.

use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_knowledge::{Group, Stage};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.is_host() {
        let wrong = vantage.sum_of_host([
            (Source::Snmp, "UdpInCsumErrors"),
            (Source::Snmp6, "Udp6InCsumErrors"),
            (Source::Snmp, "TcpInCsumErrors"),
        ]);
        vantage
            .as_host()
            .add_counted(facts, "checksum_errors", wrong);
    }
    if vantage.test.is_some() {
        return;
    }
    let offload = vantage.set_up("ethtool -k", "rx-checksumming");
    let word = offload.map(|offload| offload.split_whitespace().next().unwrap_or(offload));
    vantage.add(facts, "rx_checksum_offload", word, "ethtool -k");
    vantage.add(facts, "rx_mac_blind", blind(vantage), "the driver's table");
}

/// Whether the driver never fills the FIFO counters of the link and has no others.
fn blind(vantage: &Vantage<'_>) -> Option<bool> {
    let table = vantage.table()?;
    let never = |name: &&str| table.is_blind(Group::Link, name);
    let own = vantage.dropped(Stage::RxMac);
    Some(FIFO_COUNTERS.iter().all(never) && own.is_none())
}

const FIFO_COUNTERS: &[&str] = &["rx_fifo_errors", "rx_missed_errors", "rx_over_errors"];
