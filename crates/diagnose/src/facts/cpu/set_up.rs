// SPDX-License-Identifier: MIT OR Apache-2.0
//! How processors, coalescing and kernel are set up.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, set_up_number, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence)
        .iter()
        .filter(|place| place.test.is_none())
    {
        match place.interface {
            Some(_) => of_interface(place, facts),
            None => of_host(place, facts),
        }
    }
}

fn of_interface(place: &Vantage<'_>, facts: &mut Facts) {
    coalescing(place, facts);
    let replacement = place.driver_name().and_then(replacement);
    if let Some(replacement) = replacement {
        place.add(
            facts,
            "legacy_driver_replacement",
            replacement,
            "",
            "ethtool -i driver",
        );
    }
    let node = place.set_up("/sys/class/net/device", "numa_node");
    if let Some(node) = node.and_then(|node| node.parse::<f64>().ok()) {
        place.add(
            facts,
            "device_numa_node",
            node,
            "",
            "/sys/class/net/device numa_node",
        );
    }
}

fn coalescing(place: &Vantage<'_>, facts: &mut Facts) {
    let source = "ethtool -c";
    let number = |key| set_up_number(place.record, place.host, source, place.interface, key);
    if let Some(adaptive) = place.set_up(source, "Adaptive RX") {
        place.add(facts, "adaptive_rx", adaptive, "", source);
    }
    if let Some(microseconds) = number("rx-usecs") {
        place.add(facts, "rx_usecs", microseconds as f64, "µs", source);
        place.add(
            facts,
            "coalesce_ms",
            microseconds as f64 / 1e3,
            "ms",
            source,
        );
    }
    // Who was asked for its driver was asked for its coalescing too.
    let asked = place.set_up("ethtool -i", "driver").is_some();
    let known = number("rx-usecs").is_some() || number("rx-frames").is_some();
    if asked || known {
        place.add(facts, "coalescing_known", known, "", source);
    }
}

fn of_host(place: &Vantage<'_>, facts: &mut Facts) {
    frequency(place, facts);
    if let Some(latency) = deepest_idle_us(place) {
        place.add(
            facts,
            "deepest_idle_us",
            latency,
            "µs",
            "cpuidle latency, disable",
        );
    }
    for (name, source, key) in WORDS {
        if let Some(word) = place.host_set_up(source, key) {
            place.add(facts, name, word, "", &format!("{source} {key}"));
        }
    }
    if let Some(options) = debug_options(place) {
        place.add(
            facts,
            "kernel_debug_options",
            options,
            "",
            "/proc/config.gz",
        );
    }
}

fn frequency(place: &Vantage<'_>, facts: &mut Facts) {
    let source = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
    let word = |key| place.host_set_up(&source(0), key);
    if let Some(governor) = word("scaling_governor") {
        place.add(facts, "governor", governor, "", "cpufreq scaling_governor");
        // The drivers that choose by themselves call that powersave.
        let chooses = word("scaling_driver").is_some_and(|driver| driver.contains("pstate"));
        let held = matches!(governor, "powersave" | "userspace") && !chooses;
        place.add(
            facts,
            "frequency_held_low",
            held,
            "",
            "cpufreq scaling_governor, scaling_driver",
        );
    }
    let ratio = |cpu: u32| {
        let number = |key| set_up_number(place.record, place.host, &source(cpu), None, key);
        let highest = number("cpuinfo_max_freq").filter(|highest| *highest > 0)?;
        Some(number("scaling_cur_freq")? as f64 / highest as f64)
    };
    let ratios: Vec<f64> = (0..CPUS_MAX).map_while(ratio).collect();
    if !ratios.is_empty() {
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        place.add(
            facts,
            "cpu_frequency_ratio",
            mean,
            "ratio",
            "cpufreq scaling_cur_freq",
        );
    }
}

fn deepest_idle_us(place: &Vantage<'_>) -> Option<f64> {
    let latency = |state: u32| {
        let source = format!("/sys/devices/system/cpu/cpu0/cpuidle/state{state}");
        let allowed = place
            .host_set_up(&source, "disable")
            .is_none_or(|disable| disable == "0");
        let latency = set_up_number(place.record, place.host, &source, None, "latency")?;
        Some(if allowed { latency } else { 0 })
    };
    (0..STATES_MAX)
        .map_while(latency)
        .max()
        .map(|latency| latency as f64)
}

/// Those that are on; empty if the configuration is known and none is.
fn debug_options(place: &Vantage<'_>) -> Option<String> {
    let source = "/proc/config.gz";
    let of_host = |setting: &&linerate_model::setting::Setting| {
        setting.host == place.host && setting.source == source
    };
    place.record.run.settings.iter().find(of_host)?;
    let on = |name: &&&str| place.host_set_up(source, name) == Some("y");
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
