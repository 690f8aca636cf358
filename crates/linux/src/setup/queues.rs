// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which processors serve an interface: its interrupts, and the steering of its queues.

use std::path::Path;

use super::{RawSetting, lines, setting};
use crate::{proc, sysfs};
use linerate_wire::proc::interrupts;

/// `/sys/class/net/X/queues`: `rx-0.rps_cpus`, `tx-0.xps_cpus` …
pub(super) fn steering(name: &str) -> RawSetting {
    let folder = sysfs::interface(name).map(|interface| interface.join("queues"));
    let mut values = Vec::new();
    for folder in folder.iter() {
        for queue in sysfs::names(folder).into_iter().take(MOST_QUEUES) {
            let files = lines(
                &folder.join(&queue),
                &["rps_cpus", "rps_flow_cnt", "xps_cpus"],
            );
            values.extend(
                files
                    .into_iter()
                    .map(|(file, value)| (format!("{queue}.{file}"), value)),
            );
        }
    }
    setting("/sys/class/net/queues", values)
}

/// `/sys/class/net/X`: how NAPI polls (Documentation/networking/napi.rst).
pub(super) fn polling(name: &str) -> RawSetting {
    let names = ["threaded", "napi_defer_hard_irqs", "gro_flush_timeout"];
    let values = sysfs::interface(name).map(|folder| lines(&folder, &names));
    setting("/sys/class/net", values.unwrap_or_default())
}

/// `/proc/irq/N` of each interrupt of the interface's device.
pub(super) fn interrupts(name: &str) -> Vec<RawSetting> {
    let numbers = sysfs::interrupts(name);
    let table = proc::read("interrupts")
        .map(|text| interrupts::parse(&text))
        .unwrap_or_default();
    let one = |number: String| {
        let source = format!("/proc/irq/{number}");
        let mut values = lines(Path::new(&source), &AFFINITY);
        let line = table.lines.iter().find(|line| line.name == number)?;
        let handler = line.description.split_whitespace().last();
        values.extend(handler.map(|handler| ("name".to_owned(), handler.to_owned())));
        Some(setting(source, values))
    };
    numbers.into_iter().filter_map(one).collect()
}

/// The same without the handlers' names, whose table has a column per processor.
pub(super) fn affinity(name: &str) -> Vec<RawSetting> {
    let one = |number: String| {
        let source = format!("/proc/irq/{number}");
        let values = lines(Path::new(&source), &AFFINITY);
        setting(source, values)
    };
    sysfs::interrupts(name).into_iter().map(one).collect()
}

const AFFINITY: [&str; 2] = ["smp_affinity_list", "effective_affinity_list"];
/// Of a device with hundreds, the first say what the others do.
const MOST_QUEUES: usize = 256;
