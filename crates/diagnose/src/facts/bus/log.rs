// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel's log and a profile say of the bus.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, profiled, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let hosts = vantages(evidence);
    for place in hosts
        .iter()
        .filter(|place| place.test.is_none() && place.interface.is_none())
    {
        if let Some(lines) = logged(place, &["AER:", "PCIe Bus Error"]) {
            place.add(facts, "pcie_errors_logged", lines, "", "dmesg");
        }
        if let Some(lines) = logged(place, &["swiotlb buffer is full", "Out of SW-IOMMU space"]) {
            place.add(facts, "swiotlb_full_logged", lines, "", "dmesg");
        }
        if let Some(share) = profiled(place, CACHE) {
            place.add(facts, "dma_sync_cpu_share", share, "ratio", "perf top");
        }
    }
}

/// Lines with one of these words; `None` if nobody read the log.
fn logged(place: &Vantage<'_>, words: &[&str]) -> Option<f64> {
    let mut logs = values(place, "dmesg").peekable();
    logs.peek()?;
    let says = logs.filter(|(_, line)| words.iter().any(|word| line.contains(word)));
    Some(says.count() as f64)
}

fn values<'r>(
    place: &Vantage<'r>,
    source: &'static str,
) -> impl Iterator<Item = (&'r String, &'r String)> {
    let host = place.host;
    let settings = place.record.run.settings.iter();
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
