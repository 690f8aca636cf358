// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link and the PHY: speed, duplex, what both ends advertise, errors on the wire, energy saving, MTU.

mod agreement;
mod bond;
mod ceiling;
mod frames;
mod lab_wire;
mod light;
mod neighbour;
mod saving;
mod signal;
mod size;

use super::known::names;
use super::vantage::vantages;
use super::{Facts, Known};
use crate::evidence::Evidence;
pub(crate) use signal::quality as signal_quality;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "driver" "" "the driver of the interface" "ethtool -i {interface}"
    "link_bits_per_second" "bit/s" "speed of the link" "ethtool {interface}"
    "link_common_bits_per_second" "bit/s" "the fastest speed that both ends of the link offer" "ethtool {interface}"
    "duplex" "" "Full or Half" "ethtool {interface}"
    "autonegotiation" "" "whether the link's speed was negotiated: on, off" "ethtool {interface}"
    "offered_link_ratio" "ratio" "payload rate that was offered, of the link's speed" "ethtool {interface}"
    "mtu" "bytes" "largest packet that the interface takes" "ip link show dev {interface}"
    "packets_too_long" "packets" "packets dropped on the path because they were longer than a link allows" "nstat -az IpFragFails Ip6InTooBigErrors TcpExtTCPMTUPFail"
    "rx_length_errors" "frames" "frames with an impossible length: too long, or different from their header" "ip -s -s link show dev {interface}"
    "crc_errors" "frames" "received frames with a wrong check sequence" "ip -s -s link show dev {interface}"
    "crc_error_ratio" "ratio" "of the frames that arrived, those with a wrong check sequence" "ip -s -s link show dev {interface}"
    "align_errors" "frames" "frames that did not end on a whole byte" "ip -s -s link show dev {interface}"
    "collisions" "events" "collisions while sending; only half duplex has them" "ip -s -s link show dev {interface}"
    "late_collisions" "events" "collisions after the first 64 bytes: the other end does not listen before it sends" "ip -s -s link show dev {interface}"
    "carrier_changes" "events" "changes of carrier" "cat /sys/class/net/{interface}/carrier_changes"
    "link_downs_logged" "events" "lines of the kernel log that report the link down" "dmesg | grep -i 'link is down'"
    "fec_uncorrected" "blocks" "blocks that forward error correction could not correct" "ethtool -I --show-fec {interface}"
    "fec_since_boot" "" "whether that is all since boot, with what was lost while the link came up" "ethtool -I --show-fec {interface}"
    "fec_symbols_worst" "symbols" "the most wrong symbols in one block that forward error correction handled" "ethtool -I --show-fec {interface}"
    "fec_symbols_most" "symbols" "the most wrong symbols in one block that are counted: what the code can correct" "ethtool -I --show-fec {interface}"
    "phy_rx_errors" "frames" "frames that the PHY received with errors" "ethtool -S {interface} --groups phydev"
    "sqi" "" "signal quality index of the PHY, 0 the worst" "ethtool {interface}"
    "sqi_ratio" "ratio" "that index, of the best one" "ethtool {interface}"
    "cable_faults" "" "pairs of the cable with a fault, or none" "linerate inspect {interface} --cable-test"
    "module_rx_power_dbm" "dBm" "light that the module receives, of the darkest lane in use" "ethtool -m {interface}"
    "module_rx_margin_db" "dB" "how far that is above the module's low alarm limit; negative: below" "ethtool -m {interface}"
    "module_rx_headroom_db" "dB" "how far the brightest lane is below the module's high alarm limit; negative: above" "ethtool -m {interface}"
    "module_tx_power_dbm" "dBm" "light that the module sends, of the weakest laser that is on" "ethtool -m {interface}"
    "module_tx_margin_db" "dB" "how far that is above the module's low alarm limit; negative: below" "ethtool -m {interface}"
    "module_temperature_celsius" "degrees C" "temperature of the module" "ethtool -m {interface}"
    "module_temperature_headroom" "degrees C" "how far that is below the module's high alarm limit; negative: above" "ethtool -m {interface}"
    "eee_active" "" "whether EEE (802.3az) is active" "ethtool --show-eee {interface}"
    "idle_rtt_p99_us" "us" "99th percentile of the idle round-trip time" ""
    "idle_rtt_p50_us" "us" "median idle round-trip time" ""
    "neighbour_address" "" "an IPv4 address of the interface that the other end's neighbour table has" "ip neigh   # at the other end"
    "neighbour_answers_from" "" "the interface of this host whose hardware address answers for it" "ip neigh   # at the other end"
    "neighbour_is_other_interface" "" "whether that is not the interface that has the address" "ip neigh   # at the other end"
    "neighbour_is_foreign" "" "whether no interface of this host has the hardware address that answers" "ip neigh   # at the other end"
    "bond_hash" "" "transmit hash policy of the bond" "cat /proc/net/bonding/*"
    "bond_links" "" "links of the bond" "cat /proc/net/bonding/*"
    "bond_link_ratio" "ratio" "delivered rate, of the speed of one link of the bond" "iperf3 -c <peer> -P 4"
    "path_ceiling" "" "whether the same rate arrives however much more is sent, and no test carried more" "linerate sweep <peer>"
    "path_ceiling_unit" "" "what is limited: bits, packets, or bits or packets where only one size was measured" "linerate sweep <peer>"
    "path_ceiling_bits_per_second" "bit/s" "the rate that arrives however much more is sent, of frames from the Ethernet header on" "linerate sweep <peer>"
    "path_ceiling_packets_per_second" "1/s" "the packets a second that arrive however many more are sent" "linerate sweep <peer>"
    "lab_wire" "" "whether the lab's user-space wire carries the test, for which the lab switches segmentation and checksum offloads off" ""
    "lab_wire_drop_share" "ratio" "of the packets that the test lost, those that the lab's wire lost because it was overloaded, at most" ""
    "lab_wire_drops" "packets" "of the packets that the test lost, those that the lab's wire lost because it was overloaded: as it counted around the test, else the test's share of those of all tests of the direction" ""
    "loss_spacing_variation" "ratio" "spread of the distances between losses: near 1 random (or too few to tell), near 0 regular" ""
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence) {
        agreement::collect(&place, facts);
        bond::collect(&place, facts);
        frames::collect(&place, facts);
        light::collect(&place, facts);
        neighbour::collect(&place, facts);
        saving::collect(&place, facts);
        signal::collect(&place, facts);
        size::collect(&place, facts);
    }
    lab_wire::collect(evidence, facts);
    ceiling::collect(evidence.record, facts);
    saving::round_trips(evidence.record, facts);
}

#[cfg(test)]
mod tests;
