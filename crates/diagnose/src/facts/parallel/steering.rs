// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where packets are steered to: by the card's hash, by RPS, by the interrupts' masks.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::cpu::{Shares, busiest_cpu, vectors};
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for vantage in vantages
        .iter()
        .filter(|vantage| vantage.interface.is_some())
    {
        if vantage.test.is_none() {
            set_up(vantage, facts);
        }
        let (includes, source) = (rps_includes_irq_cpu(vantage), "rps_cpus, /proc/interrupts");
        vantage.add(facts, "rps_includes_irq_cpu", includes, source);
        let (chosen, others) = least(vantage).unwrap_or_default();
        let source = "rps_cpus, /proc/stat";
        vantage.add(facts, "rps_cpus_user", chosen, source);
        vantage.add(facts, "rps_other_cpus_user", others, source);
    }
}

fn set_up(vantage: &Vantage<'_>, facts: &mut Facts) {
    let fields = vantage.set_up("ethtool -n", "udp4");
    let ports = fields.map(|fields| fields.contains("L4") || fields == "sdfn");
    let source = "ethtool -n rx-flow-hash udp4";
    vantage.add(facts, "udp_hash_has_ports", ports, source);
    let threaded = vantage.set_up("/sys/class/net", "threaded");
    let threaded = threaded.map(|value| value != "0");
    vantage.add(facts, "napi_threaded", threaded, "/sys/class/net threaded");
    let source = "/proc/irq smp_affinity_list";
    vantage.add(facts, "irq_pinned", pinned(vantage), source);
}

fn pinned(vantage: &Vantage<'_>) -> Option<bool> {
    let settings = vantage.record.run.settings.iter().filter(|setting| {
        setting.host == vantage.host
            && setting.interface.as_deref() == vantage.interface
            && setting.source.starts_with("/proc/irq/")
    });
    let lists = settings.filter_map(|setting| setting.values.get("smp_affinity_list"));
    let lists: Vec<&String> = lists.collect();
    let one = |list: &&String| !list.contains([',', '-']);
    (!lists.is_empty()).then(|| lists.iter().all(one))
}

/// The share of programs in user mode on the processor that has least of them, of those of the mask and of the others.
fn least(vantage: &Vantage<'_>) -> Option<(Option<f64>, Option<f64>)> {
    let mask = vantage.set_up("/sys/class/net/queues", RPS)?;
    let shares = Shares::of(&vantage.as_host())?;
    let (mut chosen, mut others) = (None, None);
    for (name, user) in shares.each_user() {
        let number = name.strip_prefix("cpu")?.parse().ok()?;
        let least = match in_mask(mask, number)? {
            true => &mut chosen,
            false => &mut others,
        };
        *least = Some(least.map_or(user, |least: f64| least.min(user)));
    }
    Some((chosen, others))
}

/// Of the first queue: all are set alike where a person or a script sets them.
fn rps_includes_irq_cpu(vantage: &Vantage<'_>) -> Option<bool> {
    let mask = vantage.set_up("/sys/class/net/queues", RPS)?;
    let vectors = vectors(vantage)?;
    let (cpu, _) = busiest_cpu(&vectors)?;
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

const RPS: &str = "rx-0.rps_cpus";

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
