// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's log: one line per client, on stderr or in a file.

use crate::plan::ServeOptions;
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_model::printable::Printable;
use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where the lines go.
pub(crate) struct Log {
    sink: Mutex<Option<Box<dyn Write + Send>>>,
    lines: Mutex<Lines>,
}

/// How many lines were written in the current period.
#[derive(Debug, Default)]
struct Lines {
    since: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl Log {
    /// `--log-file`, else stderr, else (`--quiet`) nowhere.
    pub(crate) fn open(options: &ServeOptions) -> Result<Self, Failure> {
        let sink: Option<Box<dyn Write + Send>> = match &options.log_file {
            Some(path) => {
                let opened = File::options().create(true).append(true).open(path);
                Some(Box::new(opened.map_err(|error| {
                    Failure::usage(format!("write the log {}", path.display()), error)
                        .hint("a writable --log-file, or none for stderr")
                })?))
            }
            None if options.quiet => None,
            None => Some(Box::new(io::stderr())),
        };
        Ok(Self {
            sink: Mutex::new(sink),
            lines: Mutex::default(),
        })
    }

    /// Logs what any peer can cause. At most 100 per period are written, the others counted.
    pub(crate) fn limited(&self, client: Option<SocketAddr>, text: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.admit(Instant::now()) {
            None => {}
            Some(0) => self.line(client, text),
            Some(left_out) => {
                self.line(client, &format!("{text}, and {left_out} lines before"));
            }
        }
    }

    /// One event with the client that it concerns. A log that cannot be written stops no test.
    pub(crate) fn line(&self, client: Option<SocketAddr>, text: &str) {
        if let Some(sink) = self
            .sink
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_mut()
        {
            let client = client.map_or_else(String::new, |client| format!("{client}: "));
            let _ = writeln!(
                sink,
                "{} {client}{}",
                Date::at(linerate_linux::clock::wall_ns()).second(),
                Printable::of(text)
            )
            .and_then(|()| sink.flush());
        }
    }
}

impl Lines {
    /// Returns how many were left out before if one more may be written now.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        let over = |since| now.saturating_duration_since(since) >= PERIOD;
        if self.since.is_none_or(over) {
            self.since = Some(now);
            self.written = 0;
        }
        if self.written == MOST_LINES {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

/// An event that any peer can cause: one line per period.
#[derive(Debug)]
pub(crate) struct RateLimited {
    what: &'static str,
    count: u64,
    written: Option<Instant>,
}

impl RateLimited {
    /// `what` completes the line.
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            what,
            count: 0,
            written: None,
        }
    }

    /// Notes one more event.
    pub(crate) fn note(&mut self, source: SocketAddr, log: &Log) {
        self.count += 1;
        if self
            .written
            .is_none_or(|written| written.elapsed() >= PERIOD)
        {
            let others = match self.count - 1 {
                0 => String::new(),
                others => format!(", and {others} before"),
            };
            log.line(Some(source), &format!("{}{others}", self.what));
            self.count = 0;
            self.written = Some(Instant::now());
        }
    }
}

const PERIOD: Duration = Duration::from_secs(10);
/// Written within a period.
const MOST_LINES: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// A place to write that the test reads.
    #[derive(Clone, Default)]
    struct Page(std::sync::Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A flood fills no disk.
    #[test]
    fn events_that_any_peer_can_cause_are_written_once_per_period() {
        let page = Page::default();
        let log = Log {
            sink: Mutex::new(Some(Box::new(page.clone()))),
            lines: Mutex::default(),
        };
        let source = ([192, 0, 2, 1], 7).into();
        let mut limited = RateLimited::new("refused: a stray");
        (0..10_000).for_each(|_| limited.note(source, &log));
        limited.written = Instant::now().checked_sub(PERIOD);
        limited.note(source, &log);
        let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(
            lines[0].ends_with("192.0.2.1:7: refused: a stray"),
            "{text}"
        );
        assert!(
            lines[1].ends_with("refused: a stray, and 9999 before"),
            "{text}"
        );
    }

    #[test]
    fn a_flood_of_lines_is_counted_and_not_written() {
        let mut lines = Lines::default();
        let now = Instant::now();
        let written = |lines: &mut Lines, now| {
            (0..1000)
                .filter_map(|_| lines.admit(now))
                .collect::<Vec<_>>()
        };
        assert_eq!(written(&mut lines, now), [0; MOST_LINES as usize]);
        let later = written(&mut lines, now + PERIOD);
        assert_eq!(later.len(), MOST_LINES as usize);
        assert_eq!((later[0], later[1]), (900, 0));
    }
}
