// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the server tells its user: one line a client, on stderr or in a file.

use crate::date::Date;
use crate::engine::plan::ServeOptions;
use crate::error::Failure;
use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where the lines go.
pub(in crate::engine) struct Log(Mutex<Option<Box<dyn Write + Send>>>);

impl Log {
    /// `--log-file`, else stderr, else (`--quiet`) nowhere.
    pub(in crate::engine) fn open(options: &ServeOptions) -> Result<Self, Failure> {
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
        Ok(Self(Mutex::new(sink)))
    }

    /// One event with the client that it concerns. A log that cannot be written stops no test.
    pub(in crate::engine) fn line(&self, client: Option<SocketAddr>, text: &str) {
        if let Some(sink) = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_mut()
        {
            let client = client.map_or_else(String::new, |client| format!("{client}: "));
            let _ = writeln!(sink, "{} {client}{text}", Date::now().second())
                .and_then(|()| sink.flush());
        }
    }
}

/// Something that any stranger can cause: a line at times, not one each.
#[derive(Debug)]
pub(in crate::engine) struct Seldom {
    what: &'static str,
    count: u64,
    told: Option<Instant>,
}

impl Seldom {
    /// `what` completes the line.
    pub(in crate::engine) fn new(what: &'static str) -> Self {
        Self {
            what,
            count: 0,
            told: None,
        }
    }

    /// It happened once more.
    pub(in crate::engine) fn note(&mut self, source: SocketAddr, log: &Log) {
        self.count += 1;
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            let others = match self.count - 1 {
                0 => String::new(),
                others => format!(", and {others} before"),
            };
            log.line(Some(source), &format!("{}{others}", self.what));
            self.count = 0;
            self.told = Some(Instant::now());
        }
    }
}

const TELL_EVERY: Duration = Duration::from_secs(10);
