// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pause frames and the MAC's FIFOs.

mod fifo;
mod pause;
mod registers;
mod silicon;

use super::vantage::vantages;
use super::{Facts, Known};
use crate::evidence::Evidence;

pub(super) const KNOWN: &[Known] = &[
    Known {
        name: "rx_mac_drops",
        unit: "frames",
        means: "frames that died in the receiving MAC because its FIFO was full (the driver's equivalent)",
        tells: "ethtool -S {interface}",
    },
    Known {
        name: "rx_mac_drop_ratio",
        unit: "ratio",
        means: "of the frames that came to the MAC, those that died in its FIFO",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "rx_mac_drops_between",
        unit: "frames",
        means: "frames that died in the FIFO between two readings of a text; 0 if it has but one",
        tells: "ethtool -S {interface}",
    },
    Known {
        name: "rx_mac_lost",
        unit: "packets",
        means: "of what the test lost, what the drops in the receiving MAC can account for, at most",
        tells: "",
    },
    Known {
        name: "tx_underruns",
        unit: "frames",
        means: "frames cut off because the sending MAC's FIFO ran empty",
        tells: "ethtool -S {interface}",
    },
    Known {
        name: "tx_underrun_ratio",
        unit: "ratio",
        means: "of the frames that were sent, those that the sending MAC cut off",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "tx_pause_frames",
        unit: "frames",
        means: "pause frames that this end sent: it stopped its partner",
        tells: "ethtool -I -a {interface}",
    },
    Known {
        name: "rx_pause_frames",
        unit: "frames",
        means: "pause frames that this end received: its partner stopped it",
        tells: "ethtool -I -a {interface}",
    },
    Known {
        name: "rx_pause_frames_per_second",
        unit: "1/s",
        means: "how often the partner stopped this end",
        tells: "",
    },
    Known {
        name: "pause_tx",
        unit: "",
        means: "whether this end may stop its partner: on, off",
        tells: "ethtool -a {interface}",
    },
    Known {
        name: "pause_known",
        unit: "",
        means: "whether anything tells if flow control is in force",
        tells: "ethtool -a {interface}",
    },
    Known {
        name: "pause_rx",
        unit: "",
        means: "whether this end obeys its partner's pause frames: on, off",
        tells: "ethtool -a {interface}",
    },
    Known {
        name: "pause_offered",
        unit: "",
        means: "the pause modes that this end offers, in ethtool's words",
        tells: "ethtool {interface}",
    },
    Known {
        name: "pause_offered_by_partner",
        unit: "",
        means: "the pause modes that the link partner offers, in ethtool's words",
        tells: "ethtool {interface}",
    },
    Known {
        name: "pause_missing_because",
        unit: "",
        means: "why flow control is not in force: this-end, partner, no-match, no-negotiation",
        tells: "ethtool {interface}",
    },
    Known {
        name: "pause_longest_ms",
        unit: "ms",
        means: "for how long one pause frame can stop this link",
        tells: "",
    },
    Known {
        name: "soc_family",
        unit: "",
        means: "the family of the system on chip: imx6, ls1088",
        tells: "cat /proc/device-tree/compatible",
    },
    Known {
        name: "port_bits_per_second",
        unit: "bit/s",
        means: "what the port carried in this test, both directions together",
        tells: "",
    },
    Known {
        name: "sender_plateau_bits_per_second",
        unit: "bit/s",
        means: "the rate at which this sender stays whatever more is asked of it",
        tells: "",
    },
    Known {
        name: "enet_padding_removed",
        unit: "",
        means: "whether the ENET block removes padding (RCR bit PADEN)",
        tells: "linerate regs {interface} RCR",
    },
    Known {
        name: "nothing_received",
        unit: "",
        means: "whether nothing at all arrived although something was sent",
        tells: "",
    },
    Known {
        name: "broken_frames_logged",
        unit: "",
        means: "whether the kernel's log complains of frames without an end or of impossible length",
        tells: "dmesg",
    },
];

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence) {
        fifo::collect(&place, facts);
        pause::collect(&place, facts);
        registers::collect(&place, facts);
        silicon::collect(&place, facts);
    }
}

#[cfg(test)]
mod tests;
