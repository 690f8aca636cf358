// SPDX-License-Identifier: MIT OR Apache-2.0
//! What machine this is, beyond what `uname` says: boards name their chip, and errata go by it.

use std::path::Path;

use super::{RawSetting, lines, setting};

/// `compatible` of the device tree, `soc_id` of the system on a chip, or a PC's names.
pub(super) fn read() -> RawSetting {
    let mut values = Vec::new();
    if let Ok(bytes) = std::fs::read("/proc/device-tree/compatible") {
        // NUL ends each name.
        let text = String::from_utf8_lossy(&bytes);
        let names: Vec<&str> = text.split('\0').filter(|name| !name.is_empty()).collect();
        values.push(("compatible".to_owned(), names.join(" ")));
    }
    values.extend(lines(
        Path::new("/sys/devices/soc0"),
        &["soc_id", "family", "revision"],
    ));
    values.extend(lines(
        Path::new("/sys/class/dmi/id"),
        &["sys_vendor", "product_name"],
    ));
    setting("machine", values)
}
