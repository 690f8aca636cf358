// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the `net.*` settings of the calling thread's network namespace; [`crate::proc::sysctl`] reads them.
//!
//! Outside the initial namespace, machine-wide settings are absent or read-only.

use std::fs;
use std::io;
use std::path::PathBuf;

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
    let text = fs::read_to_string(path(name)?)?;
    Ok(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

fn path(name: &str) -> io::Result<PathBuf> {
    let belongs_to_a_namespace = name.starts_with("net.") && !name.contains('/');
    if !belongs_to_a_namespace {
        let what = format!("{name} is not a network setting");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    // An interface's name may hold a dot, which sysctl(8) writes as a slash: not needed here.
    Ok(PathBuf::from(format!(
        "/proc/sys/{}",
        name.replace('.', "/")
    )))
}
