// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unguessable bytes for cookies and seeds.

use std::fs::File;
use std::io::{self, Read};

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// Fills `bytes` from the kernel's generator (`getrandom(2)`), without waiting: where the generator is not ready yet, or the
/// system call is missing (before Linux 3.17), with what `/dev/urandom` has. Before Linux 5.6 a small board may be up for
/// minutes until the generator is ready.
///
/// # Errors
/// Those of reading `/dev/urandom` where it is needed.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    fill_with(bytes, GetRandomFlags::NONBLOCK)
}

/// The same, but waits until the generator is ready: for what keeps a secret.
///
/// # Errors
/// As [`fill`].
pub fn fill_when_ready(bytes: &mut [u8]) -> io::Result<()> {
    fill_with(bytes, GetRandomFlags::empty())
}

fn fill_with(bytes: &mut [u8], flags: GetRandomFlags) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], flags) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
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
        for fill in [fill, fill_when_ready] {
            let (mut first, mut second) = ([0; 300], [0; 300]);
            fill(&mut first).unwrap();
            fill(&mut second).unwrap();
            assert_ne!(first, second);
            assert_ne!(first[256..], [0; 44]);
        }
    }
}
