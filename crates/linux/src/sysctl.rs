// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `net.*` settings of the calling thread's network namespace.
//!
//! `/proc/sys/net` shows the reader's namespace; outside the initial namespace, machine-wide settings are absent or
//! read-only.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Reads a setting such as `net.ipv4.tcp_rmem`; whitespace at the ends removed.
///
/// # Errors
/// Those of reading its file: ENOENT where this kernel has no such setting.
pub fn read(name: &str) -> io::Result<String> {
    Ok(fs::read_to_string(path(name)?)?.trim().to_owned())
}

/// Writes a setting.
///
/// # Errors
/// Those of writing its file: EINVAL for a value that it does not take.
pub fn write(name: &str, value: &str) -> io::Result<()> {
    fs::write(path(name)?, value)
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
