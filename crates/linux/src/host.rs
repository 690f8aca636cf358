// SPDX-License-Identifier: MIT OR Apache-2.0
//! The identity of this machine, for results.

use std::ffi::CStr;
use std::path::Path;

use linerate_model::output::{Host, Role};
use rustix::system::uname;

use crate::nic;
use crate::sysfs::line;

/// Describes this host and these interfaces of the calling thread's network namespace; what cannot be read is absent.
#[must_use]
pub fn describe<'a>(interfaces: impl IntoIterator<Item = &'a str>) -> Host {
    let names = uname();
    let text = |name: &CStr| Some(name.to_string_lossy().into_owned());
    Host {
        role: Role::Local,
        hostname: text(names.nodename()),
        boot_id: boot_id(),
        kernel: text(names.release()),
        arch: text(names.machine()),
        cpu_model: cpu_model(),
        cpus: u32::try_from(crate::cpu::count()).ok(),
        interfaces: interfaces
            .into_iter()
            .filter_map(|name| nic::describe(name).ok())
            .collect(),
        agent: true,
        withheld: None,
    }
}

/// The user whose rights this process has: 0 is root.
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The random number that this machine got when it was booted.
#[must_use]
pub fn boot_id() -> Option<String> {
    line(Path::new("/proc/sys/kernel/random/boot_id"))
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

/// Bytes of a page of memory.
#[must_use]
pub fn page_bytes() -> Option<u64> {
    nic::page_bytes()
}

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_in(&text).or_else(|| line(Path::new("/proc/device-tree/model")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_name_and_a_kernel() {
        let host = describe(["lo", "no-such-if"]);
        assert!(!host.hostname.unwrap().is_empty() && host.kernel.unwrap().contains('.'));
        assert_eq!(host.boot_id.unwrap().len(), 36);
        assert_eq!(host.interfaces.len(), 1);
        assert!(memory_bytes().unwrap() > 1 << 20);
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
