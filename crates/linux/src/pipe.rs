// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reading end of a pipe to a child, which other processes may keep open after its end.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;

use crate::tcp::wait;

/// Waits up to 50 ms for bytes, or for the end of the pipe.
///
/// # Errors
/// Those of poll(2) but an interruption, which is nothing to read yet.
pub fn is_readable(pipe: impl AsFd) -> io::Result<bool> {
    wait(pipe, PollFlags::IN, GLANCE)
}

const GLANCE: Duration = Duration::from_millis(50);

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
