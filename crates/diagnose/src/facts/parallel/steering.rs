// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where packets are steered to: by the card's hash, by RPS, by the interrupts' masks.

use crate::evidence::Evidence;
use std::collections::BTreeMap;

use crate::facts::Facts;
use crate::facts::cpu::vectors;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence)
        .iter()
        .filter(|vantage| vantage.interface.is_some())
    {
        if vantage.test.is_none() {
            set_up(vantage, facts);
        }
        if let Some(includes) = rps_includes_irq_cpu(vantage) {
            vantage.add(
                facts,
                "rps_includes_irq_cpu",
                includes,
                "",
                "rps_cpus, /proc/interrupts",
            );
        }
    }
}

fn set_up(vantage: &Vantage<'_>, facts: &mut Facts) {
    if let Some(fields) = vantage.set_up("ethtool -n", "udp4") {
        let ports = fields.contains("L4") || fields == "sdfn";
        vantage.add(
            facts,
            "udp_hash_has_ports",
            ports,
            "",
            "ethtool -n rx-flow-hash udp4",
        );
    }
    if let Some(pinned) = pinned(vantage) {
        vantage.add(
            facts,
            "irq_pinned",
            pinned,
            "",
            "/proc/irq smp_affinity_list",
        );
    }
}

fn pinned(vantage: &Vantage<'_>) -> Option<bool> {
    let lists: Vec<&str> = vantage
        .record
        .run
        .settings
        .iter()
        .filter(|setting| {
            setting.host == vantage.host
                && setting.interface.as_deref() == vantage.interface
                && setting.source.starts_with("/proc/irq/")
        })
        .filter_map(|setting| setting.values.get("smp_affinity_list").map(String::as_str))
        .collect();
    let one = |list: &&str| !list.contains([',', '-']);
    (!lists.is_empty()).then(|| lists.iter().all(one))
}

/// Of the first queue: all are set alike where a person or a script sets them.
fn rps_includes_irq_cpu(vantage: &Vantage<'_>) -> Option<bool> {
    let mask = vantage.set_up("/sys/class/net/queues", "rx-0.rps_cpus")?;
    let vectors = vectors(vantage)?;
    let mut by_cpu: BTreeMap<&str, u64> = BTreeMap::new();
    for (cpu, count) in vectors.values().flatten() {
        *by_cpu.entry(cpu).or_default() += count;
    }
    let (cpu, _) = by_cpu.into_iter().max_by_key(|(_, count)| *count)?;
    in_mask(mask, cpu.strip_prefix("cpu")?.parse().ok()?)
}

/// Whether `0000ffff,00000003` has the bit of a processor.
fn in_mask(mask: &str, cpu: usize) -> Option<bool> {
    let digits: Vec<u32> = mask
        .trim()
        .chars()
        .filter(|digit| *digit != ',')
        .map(|digit| digit.to_digit(16))
        .collect::<Option<_>>()?;
    let digit = digits.iter().rev().nth(cpu / 4).copied().unwrap_or(0);
    Some(digit >> (cpu % 4) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::in_mask;

    #[test]
    fn masks() {
        assert_eq!(in_mask("00000000,00000003", 1), Some(true));
        assert_eq!(in_mask("3", 2), Some(false));
        assert_eq!(in_mask("00000001,00000000", 32), Some(true));
        assert_eq!(in_mask("0", 900), Some(false));
        assert_eq!(in_mask("g", 0), None);
    }
}
