// SPDX-License-Identifier: MIT OR Apache-2.0
//! How processors, coalescing and kernel are set up.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, set_up_number, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence)
        .iter()
        .filter(|vantage| vantage.test.is_none())
    {
        match vantage.interface {
            Some(_) => of_interface(vantage, facts),
            None => of_host(vantage, facts),
        }
    }
}

fn of_interface(vantage: &Vantage<'_>, facts: &mut Facts) {
    coalescing(vantage, facts);
    let replacement = vantage.driver_name().and_then(replacement);
    if let Some(replacement) = replacement {
        vantage.add(
            facts,
            "legacy_driver_replacement",
            replacement,
            "",
            "ethtool -i driver",
        );
    }
    let node = vantage.set_up("/sys/class/net/device", "numa_node");
    if let Some(node) = node.and_then(|node| node.parse::<f64>().ok()) {
        vantage.add(
            facts,
            "device_numa_node",
            node,
            "",
            "/sys/class/net/device numa_node",
        );
    }
}

fn coalescing(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = "ethtool -c";
    let number = |key| set_up_number(vantage.record, vantage.host, source, vantage.interface, key);
    if let Some(adaptive) = vantage.set_up(source, "Adaptive RX") {
        vantage.add(facts, "adaptive_rx", adaptive, "", source);
    }
    if let Some(microseconds) = number("rx-usecs") {
        vantage.add(facts, "rx_usecs", microseconds as f64, "µs", source);
        vantage.add(
            facts,
            "coalesce_ms",
            microseconds as f64 / 1e3,
            "ms",
            source,
        );
    }
    // Who was asked for its driver was asked for its coalescing too.
    let asked = vantage.set_up("ethtool -i", "driver").is_some();
    let known = number("rx-usecs").is_some() || number("rx-frames").is_some();
    if asked || known {
        vantage.add(facts, "coalescing_known", known, "", source);
    }
}

fn of_host(vantage: &Vantage<'_>, facts: &mut Facts) {
    frequency(vantage, facts);
    if let Some(latency) = deepest_idle_us(vantage) {
        vantage.add(
            facts,
            "deepest_idle_us",
            latency,
            "µs",
            "cpuidle latency, disable",
        );
    }
    for (name, source, key) in WORDS {
        if let Some(word) = vantage.host_set_up(source, key) {
            vantage.add(facts, name, word, "", &format!("{source} {key}"));
        }
    }
    if let Some(options) = debug_options(vantage) {
        vantage.add(
            facts,
            "kernel_debug_options",
            options,
            "",
            "/proc/config.gz",
        );
    }
}

fn frequency(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
    let word = |key| vantage.host_set_up(&source(0), key);
    if let Some(governor) = word("scaling_governor") {
        vantage.add(facts, "governor", governor, "", "cpufreq scaling_governor");
        // The drivers that choose by themselves call that powersave.
        let chooses = word("scaling_driver").is_some_and(|driver| driver.contains("pstate"));
        let held = matches!(governor, "powersave" | "userspace") && !chooses;
        vantage.add(
            facts,
            "frequency_held_low",
            held,
            "",
            "cpufreq scaling_governor, scaling_driver",
        );
    }
    let ratio = |cpu: u32| {
        let number = |key| set_up_number(vantage.record, vantage.host, &source(cpu), None, key);
        let highest = number("cpuinfo_max_freq").filter(|highest| *highest > 0)?;
        Some(number("scaling_cur_freq")? as f64 / highest as f64)
    };
    let ratios: Vec<f64> = (0..CPUS_MAX).map_while(ratio).collect();
    if !ratios.is_empty() {
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        vantage.add(
            facts,
            "cpu_frequency_ratio",
            mean,
            "ratio",
            "cpufreq scaling_cur_freq",
        );
    }
}

fn deepest_idle_us(vantage: &Vantage<'_>) -> Option<f64> {
    let latency = |state: u32| {
        let source = format!("/sys/devices/system/cpu/cpu0/cpuidle/state{state}");
        let allowed = vantage
            .host_set_up(&source, "disable")
            .is_none_or(|disable| disable == "0");
        let latency = set_up_number(vantage.record, vantage.host, &source, None, "latency")?;
        Some(if allowed { latency } else { 0 })
    };
    (0..STATES_MAX)
        .map_while(latency)
        .max()
        .map(|latency| latency as f64)
}

/// Those that are on; empty if the configuration is known and none is.
fn debug_options(vantage: &Vantage<'_>) -> Option<String> {
    let source = "/proc/config.gz";
    let of_host = |setting: &&linerate_model::setting::Setting| {
        setting.host == vantage.host && setting.source == source
    };
    vantage.record.run.settings.iter().find(of_host)?;
    let on = |name: &&&str| vantage.host_set_up(source, name) == Some("y");
    let on: Vec<&str> = DEBUG.iter().filter(on).copied().collect();
    Some(on.join(" "))
}

/// Drivers that were written for an older chip of the family, and the one that uses this chip's features.
fn replacement(driver: &str) -> Option<&'static str> {
    let known = REPLACED.iter().find(|(old, _)| *old == driver)?;
    Some(known.1)
}

const WORDS: &[(&str, &str, &str)] = &[
    (
        "fair_group_sched",
        "/proc/config.gz",
        "CONFIG_FAIR_GROUP_SCHED",
    ),
    (
        "sched_autogroup",
        "sysctl",
        "kernel.sched_autogroup_enabled",
    ),
    ("bpf_stats", "sysctl", "kernel.bpf_stats_enabled"),
];
const DEBUG: &[&str] = &[
    "CONFIG_KASAN",
    "CONFIG_KCSAN",
    "CONFIG_KMEMLEAK",
    "CONFIG_LOCKDEP",
    "CONFIG_PROVE_LOCKING",
    "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "CONFIG_SLUB_DEBUG_ON",
    "CONFIG_PREEMPT_RT",
];
const REPLACED: &[(&str, &str)] = &[
    ("eepro100", "e100"),
    ("sk98lin", "sky2"),
    ("bcm4400", "b44"),
    ("de4x5", "tulip"),
];
const CPUS_MAX: u32 = 1024;
const STATES_MAX: u32 = 16;
