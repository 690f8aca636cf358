// SPDX-License-Identifier: MIT OR Apache-2.0
//! An interrupt after a boot: it has another number, and is found by its name in `/proc/interrupts`. In the name of a card's
//! interrupt, the interface's name or that of the virtio device may be another one then.

use std::path::Path;

use super::Refusal;
use super::surroundings::{Interface, Surroundings, below};
use crate::entry::Device;

/// The shell's command; `$name` is the interface, if it has one. It fails if there is no such interrupt.
pub(super) fn command(number: u32, value: &str, around: &Surroundings) -> Result<String, Refusal> {
    let all = || around.interrupts.values();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte);
    let name = match around.interrupts.get(&number) {
        Some(name) if all().filter(|other| *other == name).count() == 1 => name,
        Some(name) => {
            return Err(Refusal::new(format!(
                "interrupt {number} has another number after a boot, and its name, {name}, is not unique"
            )));
        }
        None => {
            return Err(Refusal::new(format!(
                "interrupt {number} has no name by which it is found after a boot"
            )));
        }
    };
    if !name.bytes().all(is_plain) {
        return Err(Refusal::new(format!(
            "the name of interrupt {number}, {name}, has letters that a shell would not take literally"
        )));
    }
    let (sets, pattern) = match owner(number, around) {
        Some((interface, card)) => pattern(name, interface, card),
        None => ("", name.clone()),
    };
    Ok(format!(
        "{sets}done=1; while read -r n l; do case \" $l\" in *\" {pattern}\") echo {value} > /proc/irq/${{n%:}}/smp_affinity_list; done=$?;; esac; done < /proc/interrupts; exit $done"
    ))
}

/// The device whose interrupt it is, by its place: an address is not known here.
pub(super) fn device(number: u32, around: &Surroundings) -> Option<Device> {
    let (name, card) = owner(number, around)?;
    card.id_path.as_ref()?;
    Some(Device {
        name: name.to_owned(),
        index: 0,
        permanent_address: None,
        bus: None,
    })
}

/// `/sys/devices/…/virtio1/net/eth0`.
pub(super) fn virtio(sysfs: &str) -> Option<String> {
    let device = sysfs.rsplit('/').nth(2)?;
    let number = device.strip_prefix("virtio")?;
    number.parse::<u32>().ok().map(|_| device.to_owned())
}

/// Those of its device, or of the one that a virtio device is in.
pub(super) fn numbers(sysfs: Option<&str>, root: &Path) -> Vec<u32> {
    let device = sysfs.and_then(|path| Some(path.rsplit_once("/net/")?.0));
    let Some(device) = device else {
        return Vec::new();
    };
    let parent = virtio(sysfs.unwrap_or_default()).and(device.rsplit_once('/'));
    let device = parent.map_or(device, |(parent, _)| parent);
    let names = linerate_linux::sysfs::names(&below(root, &format!("{device}/msi_irqs")));
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn owner(number: u32, around: &Surroundings) -> Option<(&str, &Interface)> {
    let mut all = around.interfaces.iter();
    let owner =
        all.find(|(_, card)| card.id_path.is_some() && card.interrupts.contains(&number))?;
    Some((owner.0.as_str(), owner.1))
}

/// What the shell does before, and the name with a variable for what is not constant in it.
fn pattern(name: &str, interface: &str, card: &Interface) -> (&'static str, String) {
    let virtio = card
        .virtio
        .as_deref()
        .and_then(|own| replaced(name, own, "${v##*/}"));
    let set = "v=$(readlink device); ";
    match virtio {
        Some(pattern) => (set, pattern),
        None => (
            "",
            replaced(name, interface, "${name}").unwrap_or_else(|| name.to_owned()),
        ),
    }
}

/// Where the word is in the name: not as a part of another word.
fn replaced(name: &str, word: &str, by: &str) -> Option<String> {
    let is_edge =
        |letter: Option<char>| letter.is_none_or(|letter| !letter.is_ascii_alphanumeric());
    let mut found = name.match_indices(word);
    let (at, _) = found.find(|(at, _)| {
        let (before, after) = (name.get(..*at), name.get(at + word.len()..));
        is_edge(before.and_then(|text| text.chars().next_back()))
            && is_edge(after.and_then(|text| text.chars().next()))
    })?;
    let (before, after) = (name.get(..at)?, name.get(at + word.len()..)?);
    Some(format!("{before}{by}{after}"))
}
