// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's text files, unparsed; `linerate-wire` parses them.

use std::fs;
use std::io;
use std::path::PathBuf;

/// `/proc/net/NAME` of the calling thread's network namespace.
///
/// # Errors
/// Those of reading it: `NotFound` where the kernel has no such table.
pub fn net(name: &str) -> io::Result<String> {
    // /proc/net is the namespace of the *process*; a thread that moved has its own under thread-self (Linux 3.17).
    let own = fs::read(PathBuf::from("/proc/thread-self/net").join(name));
    let bytes = match own {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::read(PathBuf::from("/proc/net").join(name))?
        }
        other => other?,
    };
    Ok(text(bytes))
}

/// `/proc/NAME`, such as `stat`, `interrupts`, `softirqs`.
///
/// # Errors
/// Those of reading it.
pub fn read(name: &str) -> io::Result<String> {
    Ok(text(fs::read(PathBuf::from("/proc").join(name))?))
}

/// One sysctl by its dotted name (`net.core.rmem_max`), trimmed.
///
/// # Errors
/// `NotFound` where the kernel, or this network namespace, does not have it.
pub fn sysctl(name: &str) -> io::Result<String> {
    let text = read(&format!("sys/{}", name.replace('.', "/")))?;
    Ok(text.trim().to_owned())
}

/// Interface aliases and task names may be any bytes.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_a_test_are_there() {
        assert!(net("snmp").unwrap().contains("Udp: InDatagrams"));
        assert!(net("dev").unwrap().contains("lo:"));
        assert!(read("stat").unwrap().starts_with("cpu "));
        assert_eq!(
            net("no-such-table").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
