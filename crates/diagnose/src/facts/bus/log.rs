// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel's log and a profile say of the bus.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{profiled, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for host in vantages.iter().filter(|vantage| vantage.is_host_alone()) {
        let lines = |words: [&str; 2]| {
            let lines = host.logged(|line| words.iter().any(|word| line.contains(word)));
            lines.map(|lines| lines as f64)
        };
        let errors = lines(["AER:", "PCIe Bus Error"]);
        host.add(facts, "pcie_errors_logged", errors, "dmesg");
        let full = lines(["swiotlb buffer is full", "Out of SW-IOMMU space"]);
        host.add(facts, "swiotlb_full_logged", full, "dmesg");
        let share = profiled(host, CACHE);
        host.add(facts, "dma_sync_cpu_share", share, "perf top");
    }
}

/// What works on the cache for the sake of DMA.
const CACHE: &[&str] = &[
    "v7_dma_",
    "dcache_inval",
    "dcache_clean",
    "dma_sync_",
    "arch_sync_dma",
    "l2c310_",
    "l2x0_",
];
