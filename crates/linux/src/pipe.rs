// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reading end of a pipe to a child, which other processes may keep open after its end.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Waits up to 50 ms for bytes, or for the end of the pipe.
///
/// # Errors
/// Those of poll(2) but an interruption, which is nothing to read yet.
pub fn is_readable(pipe: impl AsFd) -> io::Result<bool> {
    let mut wanted = [PollFd::new(&pipe, PollFlags::IN)];
    match poll(&mut wanted, Some(&GLANCE)) {
        Err(rustix::io::Errno::INTR) => Ok(false),
        ready => Ok(ready? > 0),
    }
}

const GLANCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn bytes_and_an_end_are_something_to_read() {
        let (reader, mut writer) = io::pipe().unwrap();
        assert!(!is_readable(&reader).unwrap());
        writer.write_all(b"x").unwrap();
        assert!(is_readable(&reader).unwrap());
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        assert!(is_readable(&reader).unwrap());
    }
}
