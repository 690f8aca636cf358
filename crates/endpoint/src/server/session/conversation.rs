// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control connection: handles messages of the client, detects its silence and its end.

use super::{STEP_NS, Session};
use crate::control::Control;
use crate::extension::Message;
use crate::heartbeat::{Heartbeat, SILENCE_LIMIT_NS};
use crate::plan::Direction;
use crate::server::Server;
use linerate_linux::clock::monotonic_ns;
use linerate_method::clock_offset::Drift;
use linerate_model::output::Protocol;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::server::{ServerEvent, ServerSession};
use std::io::{self, ErrorKind};

impl Session<'_, '_> {
    pub(super) fn note(&mut self, event: ServerEvent) -> Result<(), String> {
        match event {
            ServerEvent::Agent(message) => {
                if let Some(Message::Final { streams, drift }) = Message::read(&message) {
                    self.take_final(streams);
                    self.drift = drift.map_or(self.drift, |(at_ns, ppb)| Drift { at_ns, ppb });
                }
                Ok(())
            }
            ServerEvent::ClientTerminated => Err("the client was interrupted".to_owned()),
            ServerEvent::Refused { reason } => Err(format!("refused: {reason}")),
            ServerEvent::Timeout { phase } => Err(format!(
                "no message from the client while this end was {phase}"
            )),
            ServerEvent::Closed { phase } => {
                let why = self.control.broken().map(|error| format!(": {error}"));
                let why = why.unwrap_or_default();
                Err(format!(
                    "the client disconnected while this end was {phase}{why}"
                ))
            }
            ServerEvent::TestEnd
            | ServerEvent::Done
            | ServerEvent::Params(_)
            | ServerEvent::ClientResults(_) => Ok(()),
        }
    }

    /// The client's final counts; of streams that the test does not have none are kept.
    fn take_final(&mut self, streams: Vec<(u32, u64, u64)>) {
        let udp = self.config.protocol == Protocol::Udp;
        let known = streams
            .into_iter()
            .filter(|(id, ..)| self.config.has_stream(*id));
        self.sent_by_peer
            .extend(known.map(|(id, packets, bytes)| (id, if udp { packets } else { bytes })));
    }

    /// The next event, at most one step from now; the user's interruption is an event too.
    pub(super) fn pump(&mut self, until_ns: u64) -> Result<Option<ServerEvent>, String> {
        if self.server.interrupt.requested().is_some() {
            self.control.session.terminate();
            let _ = self.control.flush();
            return Err("the server was interrupted".to_owned());
        }
        self.beat();
        let event = self.control.next(until_ns.min(monotonic_ns() + STEP_NS));
        let event = event.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => format!("the client stopped reading ({STOPPED})"),
            _ => format!("the client disconnected: {error}"),
        })?;
        self.check_silence()?;
        Ok(event)
    }

    /// From the start signal on both ends send heartbeats, if the client announced them. A stock client
    /// sends none, but its data arrives, or is acknowledged.
    pub(super) fn start_heartbeat(&mut self) {
        let beats = self.beats();
        let silence_limit_ns = silence_limit_ns(beats, self.config.protocol, self.config.direction);
        self.heart = Heartbeat::begin(beats, silence_limit_ns, monotonic_ns());
    }

    fn beats(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.beats)
    }

    fn beat(&mut self) {
        if self.heart.is_due(monotonic_ns()) {
            self.control.session.agent(&Message::Beat);
        }
    }

    fn check_silence(&mut self) -> Result<(), String> {
        let (bytes, _) = self.streams.received();
        let probes: u64 = self
            .responders
            .iter()
            .map(|one| u64::from(one.asked()))
            .sum();
        let taken = if self.beats() {
            0
        } else {
            self.streams.taken()
        };
        let signs = self
            .control
            .read_bytes()
            .wrapping_add(bytes)
            .wrapping_add(taken)
            .wrapping_add(probes);
        match self.heart.look(signs, monotonic_ns()) {
            Some(silent_ns) => Err(format!(
                "no message from the client for {} s ({STOPPED})",
                silent_ns / 1_000_000_000
            )),
            None => Ok(()),
        }
    }
}

pub(super) fn await_params(
    control: &mut Control<ServerSession>,
    server: &Server<'_>,
) -> Result<Box<Params>, String> {
    loop {
        if server.is_stopping() {
            return Err("the server is shutting down".to_owned());
        }
        match control
            .next(monotonic_ns() + STEP_NS)
            .map_err(|error| gone(&error))?
        {
            Some(ServerEvent::Params(params)) => return Ok(params),
            Some(ServerEvent::Refused { reason }) => return Err(format!("refused: {reason}")),
            Some(ServerEvent::Timeout { .. }) => {
                return Err("refused: no parameters in time".to_owned());
            }
            Some(ServerEvent::Closed { .. }) => {
                return Err("the client disconnected before its parameters".to_owned());
            }
            Some(ServerEvent::ClientTerminated) => {
                return Err("the client was interrupted".to_owned());
            }
            Some(_) | None => {}
        }
    }
}

/// A control connection that cannot be written to, for the log.
fn gone(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "the client disconnected while a message was being sent".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Returns how long a client may be silent.
fn silence_limit_ns(beats: bool, protocol: Protocol, direction: Direction) -> Option<u64> {
    match (beats, protocol, direction) {
        (true, ..) => Some(SILENCE_LIMIT_NS),
        // A stock UDP receiver sends nothing: the time of the test ends it.
        (false, Protocol::Udp, Direction::Down) => None,
        (false, ..) => Some(STOCK_SILENCE_LIMIT_NS),
    }
}

/// A stock client may need minutes for a block of 128 KiB.
const STOCK_SILENCE_LIMIT_NS: u64 = 300_000_000_000;
const STOPPED: &str = "process stopped, or host down";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stock_udp_receiver_has_no_silence_limit() {
        use Direction::{Both, Down, Up};
        use Protocol::{Tcp, Udp};
        for (protocol, direction) in [(Tcp, Up), (Tcp, Down), (Tcp, Both), (Udp, Up), (Udp, Both)] {
            assert_eq!(
                silence_limit_ns(true, protocol, direction),
                Some(SILENCE_LIMIT_NS)
            );
            let stock = silence_limit_ns(false, protocol, direction);
            assert_eq!(stock, Some(STOCK_SILENCE_LIMIT_NS));
        }
        assert_eq!(silence_limit_ns(false, Udp, Down), None);
    }
}
