// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel: its version, command line, options, and the memory it has.

use linerate_model::order::Gather as _;
use std::io::Read;

use super::{RawSetting, setting};
use crate::proc;
use linerate_wire::gzip;

/// `/proc/version`, `/proc/cmdline`, `/proc/meminfo`, `/proc/config.gz`.
pub(super) fn read() -> Vec<RawSetting> {
    let line = |name: &str| {
        let text = proc::read(name).ok().map(|text| text.trim().to_owned());
        let value = text
            .filter(|text| !text.is_empty())
            .map(|text| (name.to_owned(), text));
        setting(format!("/proc/{name}"), value.into_iter().gather())
    };
    let memory = proc::read("meminfo")
        .map(|text| memory(&text))
        .unwrap_or_default();
    vec![
        line("version"),
        line("cmdline"),
        setting("/proc/meminfo", memory),
        setting("/proc/config.gz", options(&config().unwrap_or_default())),
    ]
}

/// `MemFree` → kB, as printed.
fn memory(text: &str) -> Vec<(String, String)> {
    let field = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let wanted = MEMORY.contains(&name);
        wanted.then(|| Some((name.to_owned(), rest.split_whitespace().next()?.to_owned())))?
    };
    text.lines().filter_map(field).collect()
}

fn config() -> Option<String> {
    let file = std::fs::File::open("/proc/config.gz").ok()?;
    let mut packed = Vec::new();
    file.take(MOST_CONFIG_BYTES).read_to_end(&mut packed).ok()?;
    let text = gzip::gunzip(&packed, MOST_CONFIG_BYTES as usize)?;
    String::from_utf8(text).ok()
}

/// The options that networks, processors and time depend on; those that are not set are absent.
fn options(text: &str) -> Vec<(String, String)> {
    let option = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let bare = name.strip_prefix("CONFIG_")?;
        let wanted = OPTIONS.iter().any(|wanted| match wanted.strip_suffix('*') {
            Some(prefix) => bare.starts_with(prefix),
            None => bare == *wanted,
        });
        wanted.then(|| (name.to_owned(), value.trim_matches('"').to_owned()))
    };
    text.lines().filter_map(option).collect()
}

const MOST_CONFIG_BYTES: u64 = 2 << 20;
const MEMORY: [&str; 10] = [
    "MemTotal",
    "MemFree",
    "MemAvailable",
    "Buffers",
    "Cached",
    "SwapTotal",
    "SwapFree",
    "LowTotal",
    "LowFree",
    "HugePages_Total",
];
const OPTIONS: [&str; 26] = [
    "PREEMPT*",
    "HZ*",
    "NO_HZ*",
    "HIGH_RES_TIMERS",
    "SMP",
    "NR_CPUS",
    "FAIR_GROUP_SCHED",
    "SCHED_AUTOGROUP",
    "CPU_FREQ_DEFAULT_GOV*",
    "CPU_IDLE*",
    "INTEL_IDLE",
    "RPS",
    "RFS_ACCEL",
    "XPS",
    "BQL",
    "NET_RX_BUSY_POLL",
    "NETFILTER",
    "NF_CONNTRACK",
    "IOMMU_DEFAULT*",
    "STRICT_DEVMEM",
    "SLUB_DEBUG_ON",
    "DEBUG_KMEMLEAK",
    "KASAN",
    "PROVE_LOCKING",
    "LOCKDEP",
    "FEC*",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_options_that_matter_and_only_those_set() {
        let text = "# CONFIG_XPS is not set\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_FEC=y\nCONFIG_HZ=250\nCONFIG_USB=y\nCONFIG_SMPBOOT=y\n";
        let names: Vec<_> = options(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["CONFIG_PREEMPT_VOLUNTARY", "CONFIG_FEC", "CONFIG_HZ"]
        );
    }

    #[test]
    fn memory_is_as_printed() {
        let text = "MemTotal:        1024 kB\nMemFree:          12 kB\nActive:  7 kB\n";
        let expected = [("MemTotal", "1024"), ("MemFree", "12")];
        assert_eq!(
            memory(text),
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn this_kernel_s_own_options_unpack() {
        match std::fs::metadata("/proc/config.gz") {
            Ok(_) => assert!(config().unwrap().contains("CONFIG_NET=y")),
            Err(_) => println!("skipped: this kernel has no /proc/config.gz"),
        }
    }
}
