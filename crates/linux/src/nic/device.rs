// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of an interface's device, if it can be read safely.
//!
//! `/sys` may show the interfaces of another network namespace: it is used only if the interface index agrees.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::link;

/// The memory of a device, in a file that can be mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceMemory {
    /// `…/resource0` of a PCI device, or `/dev/mem`.
    pub file: PathBuf,
    /// Offset in the file.
    pub offset: u64,
    /// Size.
    pub bytes: u64,
}

/// Returns the memory of the device of `interface`: its first PCI region, or the physical addresses of a platform
/// device.
///
/// # Errors
/// A description, if reading is unsafe or the address unknown: the interface is down or the device suspended (its
/// clock may be off, and reading could hang the machine), or the address is uncertain.
pub fn device_memory(interface: &str) -> io::Result<DeviceMemory> {
    let link = link(interface)?;
    if !link.up {
        return Err(unsafe_now(
            "the interface is down: the device's clock may be off",
        ));
    }
    let entry = Path::new("/sys/class/net").join(interface);
    let index = fs::read_to_string(entry.join("ifindex")).unwrap_or_default();
    if index.trim() != link.index.to_string() {
        return Err(unsafe_now("/sys shows another network namespace"));
    }
    let device =
        fs::canonicalize(entry.join("device")).map_err(|_| unsafe_now("it has no device"))?;
    let power = fs::read_to_string(device.join("power/runtime_status")).unwrap_or_default();
    if !AWAKE.contains(&power.trim()) {
        return Err(unsafe_now(
            "the device may be asleep (power/runtime_status)",
        ));
    }
    pci_region(&device).map_or_else(|| platform_region(&device), Ok)
}

fn pci_region(device: &Path) -> Option<DeviceMemory> {
    let file = device.join("resource0");
    let bytes = fs::metadata(&file).ok()?.len();
    Some(DeviceMemory {
        file,
        offset: 0,
        bytes,
    })
}

/// The device tree names a platform device after its address, `2188000.ethernet`, and
/// `/proc/iomem` has to say that a region of this name begins there.
fn platform_region(device: &Path) -> io::Result<DeviceMemory> {
    let name = device.file_name().unwrap_or_default().to_string_lossy();
    let iomem = fs::read_to_string("/proc/iomem")?;
    let (offset, bytes) = region(&iomem, &name)
        .ok_or_else(|| unsafe_now("/proc/iomem does not show the device's address"))?;
    Ok(DeviceMemory {
        file: PathBuf::from("/dev/mem"),
        offset,
        bytes,
    })
}

/// Begin and length of the region that belongs to the device `name`, whose address is in the name.
fn region(iomem: &str, name: &str) -> Option<(u64, u64)> {
    let expected = u64::from_str_radix(name.split_once('.')?.0, 16).ok()?;
    iomem.lines().find_map(|line| {
        let (range, owner) = line.trim().split_once(" : ")?;
        let (begin, end) = range.split_once('-')?;
        let begin = u64::from_str_radix(begin, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let is_it = owner.split_whitespace().any(|word| word == name) && begin == expected;
        is_it.then_some((begin, end.checked_sub(begin)?.checked_add(1)?))
    })
}

fn unsafe_now(why: &str) -> io::Error {
    io::Error::other(why)
}

/// `runtime_status` of a device that is awake or has no power management.
const AWAKE: [&str; 2] = ["active", "unsupported"];

#[cfg(test)]
mod tests {
    use super::region;

    const IOMEM: &str = "02180000-021bffff : bus\n  02188000-0218bfff : 2188000.ethernet ethernet@2188000\n\
                         10000000-4fffffff : System RAM\n";

    #[test]
    fn a_region_belongs_to_the_device_of_its_name() {
        assert_eq!(
            region(IOMEM, "2188000.ethernet"),
            Some((0x0218_8000, 0x4000))
        );
        for other in [
            "2189000.ethernet",
            "2188000.other",
            "ethernet",
            "",
            "0000:01:00.0",
        ] {
            assert_eq!(region(IOMEM, other), None, "{other}");
        }
        // Without root every address reads as 0.
        let hidden = "00000000-00000000 : 2188000.ethernet ethernet@2188000\n";
        assert_eq!(region(hidden, "2188000.ethernet"), None);
    }
}
