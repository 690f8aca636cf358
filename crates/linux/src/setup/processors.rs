// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the processors are let run, how deep they may sleep, and to which memory node they belong.

use std::path::{Path, PathBuf};

use super::{RawSetting, lines, setting};
use crate::sysfs;

/// `/sys/devices/system/cpu/cpuN/cpufreq`.
pub(super) fn frequency() -> Vec<RawSetting> {
    let of = |cpu: PathBuf| {
        let folder = cpu.join("cpufreq");
        let mut values = lines(&folder, &LIMITS);
        values.extend(lines(&folder, &["scaling_cur_freq"]));
        setting(folder.display().to_string(), values)
    };
    cpus().into_iter().map(of).collect()
}

/// The same without the frequency.
pub(super) fn frequency_limits() -> Vec<RawSetting> {
    let folders = cpus().into_iter().map(|cpu| cpu.join("cpufreq"));
    folders
        .map(|folder| setting(folder.display().to_string(), lines(&folder, &LIMITS)))
        .collect()
}

/// `scaling_cur_freq` of one processor.
pub(super) fn frequency_khz(cpu: usize) -> Option<u64> {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    sysfs::line(Path::new(&file))?.parse().ok()
}

const LIMITS: [&str; 5] = [
    "scaling_governor",
    "scaling_driver",
    "cpuinfo_max_freq",
    "scaling_max_freq",
    "scaling_min_freq",
];

/// `/sys/devices/system/cpu/cpuN/cpuidle/stateM`.
pub(super) fn idle_states() -> Vec<RawSetting> {
    let of = |cpu: PathBuf| {
        let folder = cpu.join("cpuidle");
        let states = sysfs::names(&folder);
        states.into_iter().map(move |state| {
            let state = folder.join(state);
            setting(
                state.display().to_string(),
                lines(&state, &["name", "latency", "disable"]),
            )
        })
    };
    cpus().into_iter().flat_map(of).collect()
}

/// `/sys/devices/system/node`: `node0` and its list of processors, as `lscpu` prints them.
pub(super) fn memory_nodes() -> RawSetting {
    let folder = Path::new("/sys/devices/system/node");
    let list = |name: String| {
        name.strip_prefix("node")?.parse::<u16>().ok()?;
        let list = sysfs::line(&folder.join(&name).join("cpulist"))?;
        Some((name, list))
    };
    let nodes = sysfs::names(folder).into_iter().filter_map(list);
    setting(folder.display().to_string(), nodes.collect())
}

fn cpus() -> Vec<PathBuf> {
    let folder = Path::new("/sys/devices/system/cpu");
    let is_cpu = |name: &String| {
        name.strip_prefix("cpu")
            .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    sysfs::names(folder)
        .into_iter()
        .filter(is_cpu)
        .map(|name| folder.join(name))
        .collect()
}
