// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a pasted text says in words: how many sentences name a circumstance that no counter in it shows.

use super::known::names;
use super::{Facts, Known, fact};
use linerate_model::record::Record;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "told_hub" "" "sentences that tell of a hub in half duplex" "ethtool {interface}"
    "told_low_rate_loss" "" "sentences that tell of losses at a low rate" "linerate udp <peer> -b 50M -t 60"
    "told_graphics" "" "sentences that tell of a graphics unit that works or does not" "ethtool -S {interface}"
    "told_capture" "" "sentences that tell of a program that captures packets" "cat /proc/net/packet"
    "told_no_link" "" "sentences that tell of partners with which no link comes up" "dmesg | grep -i link"
    "told_no_pause_sent" "" "sentences that tell of pause frames that are not sent" "ethtool -I -a {interface}"
    "told_status_fifo" "" "sentences that tell of erratum ERR005783" ""
    "told_mac_ceiling" "" "sentences that tell of erratum ERR004512" ""
    "told_short_checksum" "" "sentences that tell of checksums that are wrong for short packets" "nstat -az UdpInCsumErrors"
    "told_zero_checksum" "" "sentences that tell of UDP checksums of zero" "nstat -az Udp6InCsumErrors"
    "told_iommu" "" "sentences that tell of how the IOMMU translates" "cat /sys/class/net/{interface}/device/iommu_group/type"
    "told_group_scheduling" "" "sentences that tell of scheduling by groups" "zgrep GROUP_SCHED /proc/config.gz"
    "told_fast_route" "" "sentences that tell of a short cut for forwarding" "nft list flowtables"
    "told_interrupt_each" "" "sentences that tell of an interrupt for each packet" "cat /proc/interrupts"
    "told_one_way_only" "" "sentences that tell of settings that only one way of configuring applies" ""
    "told_few_percent" "" "sentences that tell of a difference of a few percent" "linerate ab"
    "told_both_ways_alike" "" "sentences that tell of both directions together carrying no more than one" "linerate check <peer>"
    "told_newer_driver" "" "sentences that tell of a driver that makes better use of the same chip" "ethtool -i {interface}"
    "told_coalescing" "" "sentences that tell of one interrupt for several packets" "ethtool -c {interface}"
    "told_pcie_card" "" "sentences that tell of what a PCIe card reaches" "lspci -vv"
    "told_joined_frames" "" "sentences that tell of over-long frames behind FIFO errors" "ethtool -S {interface}"
    "told_copy_threshold" "" "sentences that tell of the size up to which packets are copied" "ethtool --get-tunable {interface} rx-copybreak"
    "told_board_wiring" "" "sentences that tell of how a board wires the PHY to the MAC" "dmesg | grep -i phy"
    "told_little_memory" "" "sentences that tell of memory that is not free" "cat /proc/meminfo"
};

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let told = record
        .run
        .settings
        .iter()
        .filter(|setting| setting.source == "told");
    for (symptom, count) in told.flat_map(|setting| &setting.values) {
        let name = format!("told_{symptom}");
        let known = KNOWN.iter().find(|known| known.name == name);
        if let (Some(known), Ok(count)) = (known, count.parse::<u32>()) {
            facts.add(fact(
                known.name,
                f64::from(count),
                "",
                "the text's own words",
            ));
        }
    }
}
