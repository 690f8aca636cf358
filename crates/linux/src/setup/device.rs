// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device of an interface: its bus, NUMA node and IOMMU.

use super::{RawSetting, lines, setting};
use crate::sysfs;

/// `/sys/class/net/X/device`, or what it sits on: the PCI link, the NUMA node, the IOMMU's mode.
pub(super) fn of(name: &str) -> RawSetting {
    let source = "/sys/class/net/device";
    let Some(device) = sysfs::device(name) else {
        return setting(source, Vec::new());
    };
    let mut places = device.ancestors().take(LEVELS);
    let bus = places
        .find(|place| place.join("numa_node").exists())
        .unwrap_or(&device);
    let mut values = lines(bus, &FILES);
    let group = sysfs::line(&bus.join("iommu_group/type"));
    values.extend(group.map(|group| ("iommu_group_type".to_owned(), group)));
    setting(source, values)
}

/// From a virtio device to its PCI function.
const LEVELS: usize = 2;
const FILES: [&str; 7] = [
    "numa_node",
    "current_link_speed",
    "max_link_speed",
    "current_link_width",
    "max_link_width",
    "vendor",
    "device",
];
