// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection without a test: a tester reads the counters of this host as its device under test.

use crate::agent::{self, Agent};
use crate::bounded_writer::BoundedWriter;
use crate::server::Server;
use crate::token::Access;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Answers until the tester disconnects, is silent for too long, or the server stops; returns a summary
/// for the log.
pub(super) fn serve(
    server: &Server<'_>,
    stream: &TcpStream,
    access: Access,
) -> Result<String, String> {
    stream
        .set_read_timeout(Some(POLL))
        .map_err(|error| error.to_string())?;
    let mut agent = Agent::served(access, stream.local_addr().ok());
    let mut known = 0;
    let mut since = Instant::now();
    let goes_on = |answered: u64| {
        if std::mem::replace(&mut known, answered) != answered {
            since = Instant::now();
        }
        !server.is_stopping() && since.elapsed() < SILENCE
    };
    let answered = agent::serve(
        &mut agent,
        &mut &*stream,
        &mut BoundedWriter(stream),
        goes_on,
    )?;
    Ok(format!("read as a device under test: {answered} answers"))
}

const POLL: Duration = Duration::from_millis(100);
/// A trial lasts minutes at most.
const SILENCE: Duration = Duration::from_secs(1800);
