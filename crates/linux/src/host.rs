// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who this machine is: what every result names its host by.

use rustix::system::uname;

/// Facts that do not change while the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The node name.
    pub hostname: String,
    /// `/proc/sys/kernel/random/boot_id`; equal on two "hosts" of one machine (the lab).
    pub boot_id: Option<String>,
    /// `uname -r`.
    pub kernel: String,
    /// `uname -m`.
    pub arch: String,
    /// The processor's name, or on ARM the board's, from `/proc/cpuinfo` or the device tree.
    pub cpu_model: Option<String>,
    /// Processors this process may run on.
    pub cpus: usize,
    /// `MemTotal`, in bytes.
    pub memory_bytes: Option<u64>,
}

/// Reads the facts; what cannot be read is absent.
#[must_use]
pub fn facts() -> HostFacts {
    let names = uname();
    HostFacts {
        hostname: names.nodename().to_string_lossy().into_owned(),
        boot_id: line("/proc/sys/kernel/random/boot_id"),
        kernel: names.release().to_string_lossy().into_owned(),
        arch: names.machine().to_string_lossy().into_owned(),
        cpu_model: cpu_model(),
        cpus: crate::cpu::count(),
        memory_bytes: memory_bytes(),
    }
}

/// `MemTotal` in bytes: what buffer defaults are scaled by.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    value
        .split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_in(&text).or_else(|| line("/proc/device-tree/model"))
}

/// x86 "model name", MIPS "cpu model", PowerPC "cpu", old ARM "Hardware": in this order.
fn model_in(cpuinfo: &str) -> Option<String> {
    ["model name", "cpu model", "uarch", "cpu", "Hardware"]
        .iter()
        .find_map(|key| {
            let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            fields
                .filter(|(name, _)| name.trim() == *key)
                .map(|(_, value)| value.trim().to_owned())
                .next()
        })
}

fn line(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim_matches(|character: char| character == '\0' || character.is_whitespace());
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_name_and_a_kernel() {
        let facts = facts();
        assert!(!facts.hostname.is_empty() && facts.kernel.contains('.'));
        assert!(facts.memory_bytes.unwrap() > 1 << 20);
        assert_eq!(facts.boot_id.unwrap().len(), 36);
    }

    #[test]
    fn processors_are_named_in_each_architecture_s_words() {
        let x86 = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Xeon\n";
        assert_eq!(model_in(x86).as_deref(), Some("Xeon"));
        assert_eq!(
            model_in("system type\t: MT7621\ncpu model\t\t: MIPS 1004Kc\n").as_deref(),
            Some("MIPS 1004Kc")
        );
        assert_eq!(model_in("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
    }
}
