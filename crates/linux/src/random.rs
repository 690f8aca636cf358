// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unguessable bytes for cookies and seeds.

use std::fs::File;
use std::io::{self, Read};

use rustix::rand::{GetRandomFlags, getrandom};

/// Fills `bytes` from the kernel's generator (`getrandom(2)`, before Linux 3.17 `/dev/urandom`).
///
/// # Errors
/// Those of opening `/dev/urandom` where the system call is missing.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return File::open("/dev/urandom")?.read_exact(&mut bytes[filled..]),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_fillings_differ_to_the_last_byte_eventually() {
        let (mut first, mut second) = ([0; 300], [0; 300]);
        fill(&mut first).unwrap();
        fill(&mut second).unwrap();
        assert_ne!(first, second);
        assert_ne!(first[256..], [0; 44]);
    }
}
