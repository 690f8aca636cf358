// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the `net.*` settings of the calling thread's network namespace; [`crate::proc::sysctl`] reads them.
//!
//! Outside the initial namespace, machine-wide settings are absent or read-only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a setting.
///
/// # Errors
/// Those of writing its file: EINVAL for a value that it does not take.
pub fn write(name: &str, value: &str) -> io::Result<()> {
    fs::write(path(name)?, value)
}

/// A setting, its fields separated by single spaces.
///
/// # Errors
/// Those of reading its file: `NotFound` for one that this kernel lacks.
pub fn read(name: &str) -> io::Result<String> {
    of_file(&path(name)?)
}

/// What a file of a setting holds, in the same form.
///
/// # Errors
/// Those of reading it.
pub fn of_file(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    Ok(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether `name` is a setting that is read and written here: one of the network, or one of the few that a network's speed
/// depends on and that belong to the machine.
#[must_use]
pub fn is_known(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let is_name = name.chars().all(is_letter) && !name.contains("..") && !name.contains("//");
    is_name && (name.starts_with("net.") || OF_THE_MACHINE.contains(&name))
}

/// Settings outside `net.`: one for all namespaces.
pub const OF_THE_MACHINE: [&str; 3] = [
    "vm.min_free_kbytes",
    "kernel.bpf_stats_enabled",
    "kernel.sched_autogroup_enabled",
];

/// Its file.
///
/// # Errors
/// `InvalidInput` for a setting that is not known here.
pub fn path(name: &str) -> io::Result<PathBuf> {
    if !is_known(name) {
        let what = format!("{name} is not a network setting");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(PathBuf::from(format!("/proc/sys/{}", swapped(name))))
}

/// An interface's name as a part of a setting's, and back: sysctl(8) writes the dot of `eth0.7` as a slash.
#[must_use]
pub fn swapped(name: &str) -> String {
    let other = |letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    name.chars().map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_is_a_dot_in_the_name_of_an_interface() {
        let file = path("net.ipv4.conf.eth0/7.forwarding").unwrap();
        assert_eq!(file, Path::new("/proc/sys/net/ipv4/conf/eth0.7/forwarding"));
        for climbs in ["net.//.//.x", "net..x", "net/ipv4"] {
            assert!(path(climbs).is_err(), "{climbs}");
        }
    }
}
