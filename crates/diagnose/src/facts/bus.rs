// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way between card and memory: PCIe, IOMMU, rings, bounce buffers, cache.

mod log;
mod pcie;
mod ring;
mod usb;

use super::known::names;
use super::{Facts, Known};
use crate::evidence::Evidence;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "iommu_mode" "" "how the card's addresses are translated: DMA, DMA-FQ, identity" "cat /sys/class/net/{interface}/device/iommu_group/type"
    "pcie_bits_per_second" "bit/s" "what the card's PCIe link carries, headers not yet taken off" "lspci -vv"
    "pcie_max_bits_per_second" "bit/s" "what it could carry" "lspci -vv"
    "nic_bits_per_second" "bit/s" "the network link, or else the fastest that the card has" "ethtool {interface}"
    "usb_bits_per_second" "bit/s" "the speed of the USB port that the adapter hangs on" "lsusb -t"
    "rx_ring_empty" "events" "moments in which the card found no free place in its ring; the FIFO may still have saved the frame" "ethtool -S {interface}"
    "pcie_errors_logged" "" "lines of PCIe errors in the kernel's log" "dmesg | grep -E 'AER|PCIe Bus Error'"
    "swiotlb_full_logged" "" "lines that say that bounce buffers ran out" "dmesg | grep swiotlb"
    "ring_rx" "" "places of the receive ring" "ethtool -g {interface}"
    "ring_rx_max" "" "places that it can have" "ethtool -g {interface}"
    "rx_ring_drops" "packets" "frames for which there was no place in the ring or no memory" "ethtool -S {interface}"
    "dma_sync_cpu_share" "ratio" "share of a processor's time spent keeping cache and memory alike" "perf top"
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    pcie::collect(evidence, facts);
    ring::collect(evidence, facts);
    usb::collect(evidence, facts);
    log::collect(evidence, facts);
}

#[cfg(test)]
mod tests;
