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
    "iommu_mode" "" "IOMMU domain of the card: DMA, DMA-FQ, identity" "cat /sys/class/net/{interface}/device/iommu_group/type"
    "pcie_bits_per_second" "bit/s" "rate of the card's PCIe link, headers included" "lspci -vv"
    "pcie_max_bits_per_second" "bit/s" "highest rate that the PCIe link supports" "lspci -vv"
    "nic_bits_per_second" "bit/s" "speed of the network link, or else the card's highest" "ethtool {interface}"
    "usb_bits_per_second" "bit/s" "speed of the adapter's USB port" "lsusb -t"
    "rx_ring_empty" "events" "how often the card found no free descriptor in its ring; the FIFO may still have held the frame" "ethtool -S {interface}"
    "pcie_errors_logged" "" "lines of PCIe errors in the kernel log" "dmesg | grep -E 'AER|PCIe Bus Error'"
    "swiotlb_full_logged" "" "lines of the kernel log about exhausted bounce buffers" "dmesg | grep swiotlb"
    "ring_rx" "" "descriptors of the receive ring" "ethtool -g {interface}"
    "ring_rx_max" "" "maximum number of its descriptors" "ethtool -g {interface}"
    "rx_ring_drops" "packets" "frames dropped for lack of a descriptor or of memory" "ethtool -S {interface}"
    "dma_sync_cpu_share" "ratio" "share of a processor's time spent on cache maintenance for DMA" "perf top"
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    pcie::collect(evidence, facts);
    ring::collect(evidence, facts);
    usb::collect(evidence, facts);
    log::collect(evidence, facts);
}

#[cfg(test)]
mod tests;
