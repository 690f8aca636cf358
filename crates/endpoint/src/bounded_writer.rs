// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds the time of a whole message to a peer that does not read, or reads a little at a time: the socket's
//! time-out only bounds each write.

use linerate_linux::clock::monotonic_ns;
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;

/// Whether a read with a time-out has nothing yet, rather than failed.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// A connection to which each message is written within a minute. The socket needs a write time-out.
#[derive(Debug)]
pub(crate) struct BoundedWriter<'a>(pub(crate) &'a TcpStream);

impl Write for BoundedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_until(&mut self.0, bytes, monotonic_ns().saturating_add(WHOLE_NS))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn write_until(stream: &mut impl Write, mut bytes: &[u8], end_ns: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if !bytes.is_empty() && monotonic_ns() >= end_ns {
            return Err(ErrorKind::WouldBlock.into());
        }
    }
    Ok(())
}

/// The longest message, a MiB, through a queue that a test has filled.
const WHOLE_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    /// Each write takes a byte.
    struct Grudging(usize);

    impl Write for Grudging {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Ok(bytes.len().min(1))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_peer_that_reads_a_little_at_a_time_is_given_up() {
        let mut peer = Grudging(0);
        let given_up = write_until(&mut peer, b"more", 0).unwrap_err();
        assert_eq!((given_up.kind(), peer.0), (ErrorKind::WouldBlock, 1));
        write_until(&mut peer, b"more", u64::MAX).unwrap();
        assert_eq!(peer.0, 1 + 4);
    }

    #[test]
    fn a_message_that_is_taken_at_once_is_written_whatever_the_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        write_until(&mut &server, b"at once", 0).unwrap();
        BoundedWriter(&server).write_all(b", and again").unwrap();
        drop(server);
        let mut read = String::new();
        client.read_to_string(&mut read).unwrap();
        assert_eq!(read, "at once, and again");
    }
}
