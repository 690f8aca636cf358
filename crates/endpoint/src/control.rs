// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drives a sans-IO session over its control connection: the same pump at both ends.

use super::bounded_writer::BoundedWriter;
use linerate_linux::clock::{self, monotonic_ns};
use linerate_wire::iperf3::session::Session;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A session on its connection.
#[derive(Debug)]
pub(crate) struct Control<S> {
    stream: TcpStream,
    broken: Option<io::Error>,
    ended: bool,
    read_bytes: u64,
    overdue: u32,
    /// Time in which this process did not run, nanoseconds.
    stalled_ns: u64,
    /// The conversation; its actions are written by the next [`Control::next`] or [`Control::flush`].
    pub(crate) session: S,
}

impl<S: Session> Control<S> {
    /// Takes the connection. Writes to a peer that does not read fail after some seconds.
    pub(crate) fn new(stream: TcpStream, session: S) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self {
            stream,
            broken: None,
            ended: false,
            read_bytes: 0,
            overdue: 0,
            stalled_ns: 0,
            session,
        })
    }

    /// The next event; `None` when `until_ns` (monotonic) passed first.
    pub(crate) fn next(&mut self, until_ns: u64) -> io::Result<Option<S::Event>> {
        loop {
            self.flush()?;
            let now_ns = monotonic_ns();
            let alarm_ns = self.alarm_ns();
            if self.still_hears(now_ns >= alarm_ns)
                && let Some(event) = self.session.poll_event()
            {
                return Ok(Some(event));
            }
            let alarm_ns = self.alarm_ns();
            if now_ns >= alarm_ns
                && let Some(event) = self.session.on_timeout(now_ns)
            {
                self.flush()?;
                return Ok(Some(event));
            }
            if now_ns >= until_ns {
                return Ok(None);
            }
            let wake_ns = until_ns.min(alarm_ns);
            self.read(wake_ns.saturating_sub(now_ns));
            self.note_stall(wake_ns, monotonic_ns());
        }
    }

    /// The session's deadline, later by the time in which this process did not run: the peer's answer may wait in the
    /// socket, and a peer on the same machine did not run either.
    fn alarm_ns(&self) -> u64 {
        let alarm_ns = self.session.poll_timeout().unwrap_or(u64::MAX);
        alarm_ns.saturating_add(self.stalled_ns)
    }

    fn note_stall(&mut self, wake_ns: u64, now_ns: u64) {
        let late_ns = now_ns.saturating_sub(wake_ns);
        if late_ns > LATE_NS {
            self.stalled_ns = self.stalled_ns.saturating_add(late_ns).min(STALLED_NS_MAX);
        }
    }

    /// Whether to handle events before the time-out: what arrived while this process did not run counts
    /// as in time, but a peer that sends without end is late all the same.
    fn still_hears(&mut self, overdue: bool) -> bool {
        self.overdue = if overdue { self.overdue + 1 } else { 0 };
        self.overdue <= MOST_OVERDUE
    }

    /// Writes the pending messages of the session.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while let Some(bytes) = self.session.poll_output() {
            BoundedWriter(&self.stream).write_all(&bytes)?;
        }
        Ok(())
    }

    /// The connection, for its addresses and `TCP_INFO`.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// What ended the connection, if the peer did not close it.
    pub(crate) fn broken(&self) -> Option<&io::Error> {
        self.broken.as_ref()
    }

    /// Bytes read so far.
    pub(crate) fn read_bytes(&self) -> u64 {
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

/// Events that are handled after the deadline of an answer.
const MOST_OVERDUE: u32 = 4096;
/// No busy scheduler alone keeps a thread waiting that long.
const LATE_NS: u64 = 200_000_000;
/// A machine that is suspended for hours does not make its sessions immortal.
const STALLED_NS_MAX: u64 = 60_000_000_000;
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// A zero read time-out would mean "for ever"; the kernel's tick makes less than a millisecond useless.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A conversation whose peer always has something to say, and is late.
    struct Talk {
        heard: u32,
        alarm_ns: u64,
    }

    impl Session for Talk {
        type Event = Option<u32>;

        fn feed(&mut self, _: &[u8], _: u64) {}

        fn closed(&mut self, _: u64) {}

        fn poll_output(&mut self) -> Option<Vec<u8>> {
            None
        }

        fn poll_event(&mut self) -> Option<Self::Event> {
            self.heard += 1;
            Some(Some(self.heard))
        }

        fn poll_timeout(&self) -> Option<u64> {
            Some(self.alarm_ns)
        }

        fn on_timeout(&mut self, _: u64) -> Option<Self::Event> {
            Some(None)
        }

        fn retained_bytes(&self) -> usize {
            0
        }
    }

    fn control(alarm_ns: u64) -> Control<Talk> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        Control::new(stream, Talk { heard: 0, alarm_ns }).unwrap()
    }

    /// Its answer may lie in the socket, or it did not run either.
    #[test]
    fn a_deadline_does_not_pass_while_this_process_is_stopped() {
        let mut control = control(5_000_000_000);
        control.note_stall(1_000_000_000, 1_100_000_000);
        assert_eq!(
            control.alarm_ns(),
            5_000_000_000,
            "a tenth of a second late"
        );
        control.note_stall(1_000_000_000, 8_000_000_000);
        assert_eq!(control.alarm_ns(), 12_000_000_000);
        control.note_stall(1_000_000_000, 3_600_000_000_000);
        assert_eq!(control.alarm_ns(), 5_000_000_000 + STALLED_NS_MAX);
    }

    #[test]
    fn a_peer_that_talks_without_end_is_late_all_the_same() {
        let mut late = control(1);
        for expected in 1..=MOST_OVERDUE {
            assert_eq!(late.next(u64::MAX).unwrap(), Some(Some(expected)));
        }
        assert_eq!(late.next(u64::MAX).unwrap(), Some(None));
        let mut in_time = control(u64::MAX);
        for expected in 1..=2 * MOST_OVERDUE {
            assert_eq!(in_time.next(u64::MAX).unwrap(), Some(Some(expected)));
        }
    }
}
