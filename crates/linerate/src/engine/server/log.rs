// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the server tells its user: one line a client, on stderr or in a file.

use crate::date::Date;
use crate::engine::plan::ServeOptions;
use crate::error::Failure;
use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Where the lines go.
pub(super) struct Log(Mutex<Option<Box<dyn Write + Send>>>);

impl Log {
    /// `--log-file`, else stderr, else (`--quiet`) nowhere.
    pub(super) fn open(options: &ServeOptions) -> Result<Self, Failure> {
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
    pub(super) fn line(&self, client: Option<SocketAddr>, text: &str) {
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
