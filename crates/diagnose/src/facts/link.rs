// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link and the PHY: speed, duplex, what both ends advertise, errors on the wire, energy saving, MTU.

mod agreement;
mod bond;
mod ceiling;
mod frames;
mod saving;
mod size;

use super::vantage::vantages;
use super::{Facts, Known};
use crate::evidence::Evidence;

pub(super) const KNOWN: &[Known] = &[
    Known {
        name: "driver",
        unit: "",
        means: "the driver of the interface",
        tells: "ethtool -i {interface}",
    },
    Known {
        name: "link_bits_per_second",
        unit: "bit/s",
        means: "speed of the link",
        tells: "ethtool {interface}",
    },
    Known {
        name: "link_common_bits_per_second",
        unit: "bit/s",
        means: "the fastest speed that both ends of the link offer",
        tells: "ethtool {interface}",
    },
    Known {
        name: "duplex",
        unit: "",
        means: "Full or Half",
        tells: "ethtool {interface}",
    },
    Known {
        name: "autonegotiation",
        unit: "",
        means: "whether the link's speed was negotiated: on, off",
        tells: "ethtool {interface}",
    },
    Known {
        name: "offered_link_ratio",
        unit: "ratio",
        means: "payload rate that was offered, of the link's speed",
        tells: "ethtool {interface}",
    },
    Known {
        name: "mtu",
        unit: "bytes",
        means: "largest packet that the interface takes",
        tells: "ip link show dev {interface}",
    },
    Known {
        name: "packets_too_long",
        unit: "packets",
        means: "packets refused on the way because they were longer than a link takes",
        tells: "nstat -az IpFragFails Ip6InTooBigErrors TcpExtTCPMTUPFail",
    },
    Known {
        name: "rx_length_errors",
        unit: "frames",
        means: "frames that came with an impossible length: too long, or not what their header says",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "crc_errors",
        unit: "frames",
        means: "frames whose check sequence was wrong when they arrived",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "crc_error_ratio",
        unit: "ratio",
        means: "of the frames that arrived, those with a wrong check sequence",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "align_errors",
        unit: "frames",
        means: "frames that did not end on a whole byte",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "collisions",
        unit: "events",
        means: "collisions while sending, as only half duplex has them",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "late_collisions",
        unit: "events",
        means: "collisions after the first 64 bytes: the other end does not listen before it sends",
        tells: "ip -s -s link show dev {interface}",
    },
    Known {
        name: "carrier_changes",
        unit: "events",
        means: "how often the link went away or came back",
        tells: "cat /sys/class/net/{interface}/carrier_changes",
    },
    Known {
        name: "link_downs_logged",
        unit: "events",
        means: "lines of the kernel's log that say that the link went down",
        tells: "dmesg | grep -i 'link is down'",
    },
    Known {
        name: "fec_uncorrected",
        unit: "blocks",
        means: "blocks that forward error correction could not mend",
        tells: "ethtool -I --show-fec {interface}",
    },
    Known {
        name: "eee_active",
        unit: "",
        means: "whether the link sleeps between frames (802.3az)",
        tells: "ethtool --show-eee {interface}",
    },
    Known {
        name: "idle_rtt_p99_us",
        unit: "us",
        means: "round trip without a load that one in a hundred exceeds",
        tells: "",
    },
    Known {
        name: "idle_rtt_p50_us",
        unit: "us",
        means: "round trip without a load, median",
        tells: "",
    },
    Known {
        name: "bond_hash",
        unit: "",
        means: "by which parts of a packet a bundle of links chooses one of them",
        tells: "cat /proc/net/bonding/*",
    },
    Known {
        name: "bond_links",
        unit: "",
        means: "links in the bundle",
        tells: "cat /proc/net/bonding/*",
    },
    Known {
        name: "bond_link_ratio",
        unit: "ratio",
        means: "what was delivered, of the speed of one link of the bundle",
        tells: "iperf3 -c <peer> -P 4",
    },
    Known {
        name: "path_ceiling",
        unit: "",
        means: "whether the same rate arrives however much more is sent",
        tells: "linerate sweep <peer>",
    },
    Known {
        name: "path_ceiling_bits_per_second",
        unit: "bit/s",
        means: "the rate that arrives however much more is sent",
        tells: "linerate sweep <peer>",
    },
    Known {
        name: "loss_spacing_variation",
        unit: "ratio",
        means: "how unevenly losses follow each other: near 1 by chance (or too few to tell), near 0 like clockwork",
        tells: "",
    },
];

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence) {
        agreement::collect(&place, facts);
        bond::collect(&place, facts);
        frames::collect(&place, facts);
        saving::collect(&place, facts);
        size::collect(&place, facts);
    }
    ceiling::collect(evidence.record, facts);
    saving::round_trips(evidence.record, facts);
}

#[cfg(test)]
mod tests;
