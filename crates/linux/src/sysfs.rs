// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/sys/class/net`, if it shows the calling thread's network namespace. It shows the namespace of the process that
//! mounted it: in a lab, and in some containers, other interfaces of the same names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use linerate_model::order;
use linerate_model::order::Gather as _;
use linerate_wire::proc::interrupts::{Line, parse};

use crate::{nic, proc};

/// The directory of an interface, if it is of this namespace.
#[must_use]
pub fn interface(name: &str) -> Option<PathBuf> {
    let folder = Path::new(NET).join(name);
    (folder.exists() && shows_this_namespace()).then_some(folder)
}

/// The device of an interface; `None` for a virtual one.
#[must_use]
pub fn device(name: &str) -> Option<PathBuf> {
    fs::canonicalize(interface(name)?.join("device")).ok()
}

/// The interrupts of an interface's device, or of its parent (a virtio device on PCI); those of a device that is on no
/// such bus by the handlers that it names.
#[must_use]
pub fn interrupts(name: &str) -> Vec<String> {
    let Some(device) = device(name) else {
        return Vec::new();
    };
    let places = device.ancestors().take(LEVELS);
    let numbers = places
        .map(interrupts_of)
        .find(|numbers| !numbers.is_empty());
    numbers.unwrap_or_else(|| handled_for(name, &device))
}

fn interrupts_of(place: &Path) -> Vec<String> {
    let messages = names(&place.join("msi_irqs"));
    // 0: the device has no interrupt.
    let own = line(&place.join("irq")).filter(|number| messages.is_empty() && number != "0");
    messages.into_iter().chain(own).collect()
}

/// Of a platform device, sysfs has no interrupts: their handlers are named by it, or by its interface.
fn handled_for(name: &str, device: &Path) -> Vec<String> {
    let table = proc::read("interrupts").map(|text| parse(&text));
    let lines = table.unwrap_or_default().lines;
    let device = device.file_name().map(|name| name.to_string_lossy());
    let is_own =
        |line: &Line| line.is_of(name) || device.as_ref().is_some_and(|device| line.is_of(device));
    let own = lines.into_iter().filter(is_own);
    own.map(|line| line.name).collect()
}

/// A file of one line, trimmed; none if it is absent, empty or refused.
#[must_use]
pub fn line(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    (!text.is_empty()).then(|| text.to_owned())
}

/// The names in a directory, sorted; empty if it does not exist.
#[must_use]
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    order::by(&mut names, Ord::cmp);
    names
}

/// Whether the interfaces there have the same names and numbers as those that the kernel lists here.
fn shows_this_namespace() -> bool {
    let Ok(links) = nic::list() else {
        return false;
    };
    let here: BTreeSet<_> = links
        .into_iter()
        .map(|link| (link.name, link.index.to_string()))
        .gather();
    let folder = Path::new(NET);
    let shown = names(folder).into_iter().filter_map(|name| {
        // `bonding_masters` is not an interface.
        let index = line(&folder.join(&name).join("ifindex"))?;
        Some((name, index))
    });
    here == shown.collect()
}

const NET: &str = "/sys/class/net";
/// From a device to the bus that gives it its interrupts.
const LEVELS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_virtual() {
        assert_eq!(device("lo"), None);
        assert_eq!(interrupts("lo"), Vec::<String>::new());
        assert_eq!(interface("no-such-if"), None);
    }

    #[test]
    fn a_line_is_trimmed_and_an_empty_one_is_none() {
        assert_eq!(
            line(Path::new("/proc/self/comm")).map(|text| text.contains('\n')),
            Some(false)
        );
        assert_eq!(line(Path::new("/proc/self/no-such-file")), None);
        assert!(names(Path::new("/proc/self")).contains(&"stat".to_owned()));
    }
}
