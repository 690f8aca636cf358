// SPDX-License-Identifier: MIT OR Apache-2.0
//! How processors, coalescing and kernel are set up.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for vantage in vantages.iter().filter(|vantage| vantage.test.is_none()) {
        match vantage.interface {
            Some(_) => of_interface(vantage, facts),
            None => of_host(vantage, facts),
        }
    }
}

fn of_interface(vantage: &Vantage<'_>, facts: &mut Facts) {
    coalescing(vantage, facts);
    let replacement = vantage.driver_name().and_then(replacement);
    let source = "ethtool -i driver";
    vantage.add(facts, "legacy_driver_replacement", replacement, source);
    let node = vantage.set_up("/sys/class/net/device", "numa_node");
    let node = node.and_then(|node| node.parse::<f64>().ok());
    let source = "/sys/class/net/device numa_node";
    vantage.add(facts, "device_numa_node", node, source);
}

fn coalescing(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = "ethtool -c";
    let adaptive = vantage.set_up(source, "Adaptive RX");
    vantage.add(facts, "adaptive_rx", adaptive, source);
    let microseconds = vantage.number(source, "rx-usecs").map(|us| us as f64);
    vantage.add(facts, "rx_usecs", microseconds, source);
    let milliseconds = microseconds.map(|us| us / 1e3);
    vantage.add(facts, "coalesce_ms", milliseconds, source);
    // Who was asked for its driver was asked for its coalescing too.
    let asked = vantage.set_up("ethtool -i", "driver").is_some();
    let known = microseconds.is_some() || vantage.number(source, "rx-frames").is_some();
    if asked || known {
        vantage.add(facts, "coalescing_known", known, source);
    }
}

fn of_host(vantage: &Vantage<'_>, facts: &mut Facts) {
    frequency(vantage, facts);
    let latency = deepest_idle_us(vantage);
    vantage.add(
        facts,
        "deepest_idle_us",
        latency,
        "cpuidle latency, disable",
    );
    for (name, source, key) in WORDS {
        let word = vantage.host_set_up(source, key);
        vantage.add(facts, name, word, &format!("{source} {key}"));
    }
    let options = debug_options(vantage);
    vantage.add(facts, "kernel_debug_options", options, CONFIG);
}

fn frequency(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
    let word = |key| vantage.host_set_up(&source(0), key);
    if let Some(governor) = word("scaling_governor") {
        vantage.add(facts, "governor", governor, "cpufreq scaling_governor");
        // Drivers that choose the frequency on their own call that powersave.
        let chooses = word("scaling_driver").is_some_and(|driver| driver.contains("pstate"));
        let held = matches!(governor, "powersave" | "userspace") && !chooses;
        let source = "cpufreq scaling_governor, scaling_driver";
        vantage.add(facts, "frequency_held_low", held, source);
    }
    let ratio = |cpu: u32| {
        let number = |key| vantage.host_number(&source(cpu), key);
        let highest = number("cpuinfo_max_freq").filter(|highest| *highest > 0)?;
        Some(number("scaling_cur_freq")? as f64 / highest as f64)
    };
    let ratios: Vec<f64> = (0..CPUS_MAX).map_while(ratio).collect();
    if !ratios.is_empty() {
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let source = "cpufreq scaling_cur_freq";
        vantage.add(facts, "cpu_frequency_ratio", mean, source);
    }
}

fn deepest_idle_us(vantage: &Vantage<'_>) -> Option<f64> {
    let latency = |state: u32| {
        let source = format!("/sys/devices/system/cpu/cpu0/cpuidle/state{state}");
        let disable = vantage.host_set_up(&source, "disable");
        let latency = vantage.host_number(&source, "latency")?;
        let allowed = disable.is_none_or(|disable| disable == "0");
        Some(if allowed { latency } else { 0 })
    };
    let deepest = (0..STATES_MAX).map_while(latency).max();
    deepest.map(|latency| latency as f64)
}

/// Those that are on; empty if the configuration is known and none is.
fn debug_options(vantage: &Vantage<'_>) -> Option<String> {
    let mut settings = vantage.record.run.settings.iter();
    settings.find(|one| one.host == vantage.host && one.source == CONFIG)?;
    let on = |name: &&&str| vantage.host_set_up(CONFIG, name) == Some("y");
    let on: Vec<&str> = DEBUG.iter().filter(on).copied().collect();
    Some(on.join(" "))
}

/// Drivers that were written for an older chip of the family, and the one that uses this chip's features.
fn replacement(driver: &str) -> Option<&'static str> {
    let known = REPLACED.iter().find(|(old, _)| *old == driver)?;
    Some(known.1)
}

const CONFIG: &str = "/proc/config.gz";
const WORDS: &[(&str, &str, &str)] = &[
    ("fair_group_sched", CONFIG, "CONFIG_FAIR_GROUP_SCHED"),
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
const REPLACED: &[(&str, &str)] = &[("eepro100", "e100"), ("bcm4400", "b44"), ("de4x5", "tulip")];
const CPUS_MAX: u32 = 1024;
const STATES_MAX: u32 = 16;
