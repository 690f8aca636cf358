// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drives a sans-IO session over its control connection: the same pump at both ends.

use linerate_linux::clock::{self, monotonic_ns};
use linerate_wire::iperf3::session::Session;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A session on its connection.
#[derive(Debug)]
pub struct Control<S> {
    stream: TcpStream,
    broken: Option<io::Error>,
    ended: bool,
    read_bytes: u64,
    /// The conversation; its actions are written by the next [`Control::next`] or [`Control::flush`].
    pub session: S,
}

impl<S: Session> Control<S> {
    /// Takes the connection. Writes to a peer that does not read fail after some seconds.
    pub fn new(stream: TcpStream, session: S) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self {
            stream,
            broken: None,
            ended: false,
            read_bytes: 0,
            session,
        })
    }

    /// The next event; `None` when `until_ns` (monotonic) passed first.
    pub fn next(&mut self, until_ns: u64) -> io::Result<Option<S::Event>> {
        loop {
            self.flush()?;
            if let Some(event) = self.session.poll_event() {
                return Ok(Some(event));
            }
            let now_ns = monotonic_ns();
            let alarm_ns = self.session.poll_timeout().unwrap_or(u64::MAX);
            if now_ns >= alarm_ns
                && let Some(event) = self.session.on_timeout(now_ns)
            {
                self.flush()?;
                return Ok(Some(event));
            }
            if now_ns >= until_ns {
                return Ok(None);
            }
            self.read(until_ns.min(alarm_ns).saturating_sub(now_ns));
        }
    }

    /// Writes what the session has to say.
    pub fn flush(&mut self) -> io::Result<()> {
        while let Some(bytes) = self.session.poll_output() {
            self.stream.write_all(&bytes)?;
        }
        Ok(())
    }

    /// The connection, for its addresses and `TCP_INFO`.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// What ended the connection, if the peer did not close it.
    pub fn broken(&self) -> Option<&io::Error> {
        self.broken.as_ref()
    }

    /// All that the peer has said so far.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    fn read(&mut self, wait_ns: u64) {
        if self.ended {
            // Nothing more comes, and a read would not wait.
            clock::sleep_until_ns(monotonic_ns().saturating_add(wait_ns), 0);
            return;
        }
        let wait = Duration::from_nanos(wait_ns).max(SHORTEST_WAIT);
        let mut bytes = [0; 16 * 1024];
        let result = self
            .stream
            .set_read_timeout(Some(wait))
            .and_then(|()| self.stream.read(&mut bytes));
        match result {
            Ok(0) => self.end(),
            Ok(count) => {
                self.read_bytes += count as u64;
                self.session.feed(&bytes[..count], monotonic_ns());
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => {
                self.broken = Some(error);
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.session.closed(monotonic_ns());
    }
}

/// The read's own time-out is `WouldBlock`; `TimedOut` is a peer that acknowledges nothing.
fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// A zero read time-out would mean "for ever"; the kernel's tick makes less than a millisecond useless.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
