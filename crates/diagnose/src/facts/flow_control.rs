// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pause frames and the MAC's FIFOs.

mod fifo;
mod pause;
mod registers;
mod silicon;

use super::known::names;
use super::vantage::vantages;
use super::{Facts, Known};
use crate::evidence::Evidence;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "rx_mac_drops" "frames" "frames dropped in the receiving MAC because its FIFO was full (or the driver's equivalent)" "ethtool -S {interface}"
    "rx_mac_drop_ratio" "ratio" "of the frames that reached the MAC, those dropped in its FIFO" "ip -s -s link show dev {interface}"
    "rx_mac_drops_between" "frames" "frames dropped in the FIFO between two readings of a text; 0 if it has only one" "ethtool -S {interface}"
    "rx_mac_lost" "packets" "of what the test lost, what the drops in the receiving MAC can account for, at most" ""
    "tx_underruns" "frames" "frames cut off because the sending MAC's FIFO ran empty" "ethtool -S {interface}"
    "tx_underrun_ratio" "ratio" "of the frames that were sent, those that the sending MAC cut off" "ip -s -s link show dev {interface}"
    "tx_pause_frames" "frames" "pause frames that this end sent" "ethtool -I -a {interface}"
    "rx_pause_frames" "frames" "pause frames that this end received" "ethtool -I -a {interface}"
    "rx_pause_frames_per_second" "1/s" "how often the partner stopped this end" ""
    "pause_tx" "" "whether this end sends pause frames: on, off" "ethtool -a {interface}"
    "nothing_arrived" "" "whether a test lost every packet; no if it is not known" "iperf3 --json"
    "pause_settable" "" "whether the driver has settings of flow control; yes if it is not known" "ethtool -a {interface}"
    "pause_known" "" "whether the state of flow control is known" "ethtool -a {interface}"
    "pause_rx" "" "whether this end obeys its partner's pause frames: on, off" "ethtool -a {interface}"
    "pause_offered" "" "the pause modes that this end offers, in ethtool's words" "ethtool {interface}"
    "pause_offered_by_partner" "" "the pause modes that the link partner offers, in ethtool's words" "ethtool {interface}"
    "pause_missing_because" "" "why flow control is not active: this-end, partner, no-match, no-negotiation" "ethtool {interface}"
    "pause_longest_ms" "ms" "longest pause of one pause frame on this link" ""
    "soc_family" "" "the family of the system on chip: imx6 (Quad, Dual, Solo), imx6-later, ls1088" "cat /proc/device-tree/compatible"
    "enet_mac" "" "whether the MAC is the ENET block of the i.MX family" "ethtool -i {interface}"
    "port_bits_per_second" "bit/s" "rate of the port in this test, both directions together" ""
    "sender_plateau_bits_per_second" "bit/s" "rate that this sender does not exceed, whatever rate is requested" ""
    "enet_padding_removed" "" "whether the ENET block removes padding (RCR bit PADEN)" "linerate regs {interface} RCR"
    "nothing_received" "" "whether nothing arrived although something was sent" ""
    "broken_frames_logged" "" "whether the kernel log reports frames without an end or of impossible length" "dmesg"
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    facts.add_to_run("nothing_arrived", false, "no test");
    for test in evidence.record.tests() {
        let nothing = test.loss_ratio.is_some_and(|ratio| ratio > ALL);
        facts.add_to_test(&test.id, "nothing_arrived", nothing, "the test's account");
    }
    let plateaus = silicon::Plateaus::of_record(evidence.record);
    for place in vantages(evidence) {
        fifo::collect(&place, facts);
        pause::collect(&place, facts);
        registers::collect(&place, facts);
        silicon::collect(&place, &plateaus, facts);
    }
}

/// As `loss_ratio` in the rules about packets of which none arrives.
const ALL: f64 = 0.99;

#[cfg(test)]
mod tests;
