// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel's log and a profile say of the bus.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, profiled, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let hosts = vantages(evidence);
    for vantage in hosts
        .iter()
        .filter(|vantage| vantage.test.is_none() && vantage.interface.is_none())
    {
        if let Some(lines) = logged(vantage, &["AER:", "PCIe Bus Error"]) {
            vantage.add(facts, "pcie_errors_logged", lines, "", "dmesg");
        }
        if let Some(lines) = logged(
            vantage,
            &["swiotlb buffer is full", "Out of SW-IOMMU space"],
        ) {
            vantage.add(facts, "swiotlb_full_logged", lines, "", "dmesg");
        }
        if let Some(share) = profiled(vantage, CACHE) {
            vantage.add(facts, "dma_sync_cpu_share", share, "ratio", "perf top");
        }
    }
}

/// Lines with one of these words; `None` if nobody read the log.
fn logged(vantage: &Vantage<'_>, words: &[&str]) -> Option<f64> {
    let mut logs = values(vantage, "dmesg").peekable();
    logs.peek()?;
    let says = logs.filter(|(_, line)| words.iter().any(|word| line.contains(word)));
    Some(says.count() as f64)
}

fn values<'r>(
    vantage: &Vantage<'r>,
    source: &'static str,
) -> impl Iterator<Item = (&'r String, &'r String)> {
    let host = vantage.host;
    let settings = vantage.record.run.settings.iter();
    settings
        .filter(move |setting| setting.host == host && setting.source == source)
        .flat_map(|setting| &setting.values)
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
