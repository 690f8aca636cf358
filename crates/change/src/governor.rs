// SPDX-License-Identifier: MIT OR Apache-2.0
//! The governor of the processors' frequency: one for each policy, which is a group of processors (Documentation/admin-guide/pm/cpufreq.rst).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use linerate_linux::sysfs;

use crate::kernel::Kernel;
use crate::knob::{invalid, trimmed};

/// `performance`, or `policy0=schedutil policy4=performance` where they differ.
pub(crate) fn read(kernel: &dyn Kernel) -> io::Result<String> {
    let all = policies(kernel)?;
    let each = all
        .iter()
        .map(|policy| Ok((policy.as_str(), trimmed(&governor(kernel, policy))?)));
    let each: Vec<(&str, String)> = each.collect::<io::Result<_>>()?;
    let first = each
        .first()
        .map(|(_, value)| value.clone())
        .unwrap_or_default();
    if each.iter().all(|(_, value)| *value == first) {
        return Ok(first);
    }
    let shown: Vec<String> = each
        .iter()
        .map(|(policy, value)| format!("{policy}={value}"))
        .collect();
    Ok(shown.join(" "))
}

/// One for all, or each as [`read`] shows them. A policy that is gone (its processors are offline) is an error.
pub(crate) fn write(kernel: &dyn Kernel, value: &str) -> io::Result<()> {
    let all = policies(kernel)?;
    if !value.contains('=') {
        let mut each = all.iter();
        return each.try_for_each(|policy| fs::write(governor(kernel, policy), value));
    }
    value.split(' ').try_for_each(|one| {
        let (policy, value) = one.split_once('=').ok_or_else(|| invalid(one))?;
        match all.iter().any(|known| known == policy) {
            true => fs::write(governor(kernel, policy), value),
            false => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("no {policy}"),
            )),
        }
    })
}

fn policies(kernel: &dyn Kernel) -> io::Result<Vec<String>> {
    let mut names = sysfs::names(&kernel.file(CPUFREQ));
    names.retain(|name| name.starts_with("policy"));
    match names.is_empty() {
        true => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the kernel does not choose the frequency here",
        )),
        false => Ok(names),
    }
}

fn governor(kernel: &dyn Kernel, policy: &str) -> PathBuf {
    kernel
        .file(CPUFREQ)
        .join(Path::new(policy))
        .join("scaling_governor")
}

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
