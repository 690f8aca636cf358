// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of `/proc` that are read every second: opened once, read into a kept buffer.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// An open file. One under `/proc/net` stays with the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Kept {
    file: File,
    buffer: Vec<u8>,
}

impl Kept {
    /// `/proc/net/NAME` of the calling thread's network namespace.
    ///
    /// # Errors
    /// Those of opening it: `NotFound` where the kernel has no such table.
    pub fn net(name: &str) -> io::Result<Self> {
        // As in `proc::net`: a thread that moved has its own.
        let own = File::open(format!("/proc/thread-self/net/{name}"));
        let file = match own {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                File::open(format!("/proc/net/{name}"))
            }
            other => other,
        };
        Ok(Self::new(file?))
    }

    /// `/proc/NAME`.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn open(name: &str) -> io::Result<Self> {
        Ok(Self::new(File::open(format!("/proc/{name}"))?))
    }

    fn new(file: File) -> Self {
        Self {
            file,
            buffer: vec![0; FIRST_BYTES],
        }
    }

    /// Reads the file's present content.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn read(&mut self) -> io::Result<Cow<'_, str>> {
        let mut length = 0;
        loop {
            match self.file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => return Ok(String::from_utf8_lossy(&self.buffer[..length])),
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
        }
    }
}

/// The kernel's usual chunk; the buffer doubles for longer files.
const FIRST_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_kept_file_says_what_is_now() {
        let mut kept = Kept::net("snmp").unwrap();
        let sent = |text: &str| {
            let lines: Vec<&str> = text
                .lines()
                .filter(|line| line.starts_with("Udp:"))
                .collect();
            let name = lines[0]
                .split(' ')
                .position(|name| name == "OutDatagrams")
                .unwrap();
            lines[1]
                .split(' ')
                .nth(name)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        };
        let before = sent(&kept.read().unwrap());
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        assert!(sent(&kept.read().unwrap()) > before);
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole() {
        let mut kept = Kept::open("self/smaps").unwrap();
        let text = kept.read().unwrap();
        assert!(text.len() > FIRST_BYTES && text.ends_with('\n'));
        let whole = std::fs::read_to_string("/proc/self/smaps").unwrap();
        assert_eq!(text.lines().next(), whole.lines().next());
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(
            Kept::net("no-such-table").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
