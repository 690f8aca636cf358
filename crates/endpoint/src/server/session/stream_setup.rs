// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accepts the client's streams and starts a worker for each.

use super::{Session, give_up};
use crate::probe::Responder;
use crate::server::registry::{Arrival, Registration, Waiting};
use crate::stream_config::StreamConfig;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::tcp::{arrived_tos, has_congestion};
use linerate_linux::udp::{Opened, Options};
use linerate_model::order;
use linerate_model::output::Protocol;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::error;
use linerate_wire::linerate::hello::Kind;
use std::collections::HashSet;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

impl Session<'_, '_> {
    /// Accepts the client's streams and starts a worker for each.
    pub(super) fn accept_streams(
        &mut self,
        cookie: Cookie,
    ) -> Result<Option<Registration>, String> {
        let (deliver, arrivals) = channel();
        let stock_udp = self.config.protocol == Protocol::Udp && self.request.is_none();
        let server_sends = !self.config.client_sends(self.config.streams_total() - 1);
        let waiting = Waiting {
            address: self.peer.ip(),
            stock_udp,
            udp_options: self.udp_options(server_sends),
            deliver,
            room: Arc::new(AtomicU32::new(
                2 * self.config.streams_total() + SPARE_ARRIVALS,
            )),
        };
        let deadline = Instant::now() + TURN;
        let is_over = || self.server.interrupt.requested().is_some();
        let registry = &self.server.registry;
        let Some(place) = registry.enter(cookie, waiting, deadline, is_over) else {
            return Err(give_up(
                &mut self.control,
                error::STREAM_CONNECT,
                "another test of this address is setting up its streams",
            ));
        };
        self.control.session.create_streams(monotonic_ns());
        self.arrivals = Some(arrivals);
        let wanted = if self.is_idle() {
            0
        } else {
            self.config.streams_total() as usize
        };
        match self.config.protocol {
            Protocol::Tcp => self.accept_tcp(wanted)?,
            Protocol::Udp => self.accept_udp(wanted)?,
        }
        // The next stock UDP test of this address may set up its streams now.
        Ok((!stock_udp).then_some(place))
    }

    /// Sockets serve both directions in a bidirectional test: which one is known by the index only
    /// after the hello, so both buffers are requested.
    fn udp_options(&self, server_sends: bool) -> Options {
        let receiving = self.config.udp_options(false);
        let sending = self.config.udp_options(true);
        Options {
            send_buffer_bytes: if server_sends {
                sending.send_buffer_bytes
            } else {
                None
            },
            recv_err: server_sends,
            ..receiving
        }
    }

    fn accept_tcp(&mut self, wanted: usize) -> Result<(), String> {
        let mut streams = Vec::new();
        while streams.len() < wanted {
            match self.next_arrival()? {
                Arrival::Tcp { serial, stream } => streams.push((serial, stream)),
                Arrival::Udp {
                    kind: Kind::Probe,
                    opened,
                    ..
                } => self.respond(opened),
                Arrival::Udp { .. } => {}
            }
        }
        order::by_key(&mut streams, |(serial, _)| *serial);
        for (index, (_, stream)) in (0..).zip(streams) {
            self.spawn_tcp(index, stream).map_err(|error| {
                give_up(&mut self.control, error::STREAM_CONNECT, &error.to_string())
            })?;
        }
        Ok(())
    }

    fn spawn_tcp(&mut self, index: u32, stream: TcpStream) -> io::Result<()> {
        let sends = !self.config.client_sends(index);
        let options = self.config.tcp_options();
        require_available(options.congestion.as_deref())?;
        linerate_linux::tcp::adjust(&stream, &options)?;
        self.note_dscp(sends, index, &stream);
        self.sampler.follow(&stream, sends);
        let port = stream.peer_addr().ok().map(|address| address.port());
        let work = self.config.tcp_work(sends, index, stream)?;
        self.streams
            .add(StreamConfig::id(index), port, work, self.config.worker)
    }

    /// Notes the DSCP with which the stream arrived, for a client that requested one.
    fn note_dscp(&mut self, sends: bool, index: u32, stream: &TcpStream) {
        let tos = (!sends && self.config.see_tos).then(|| arrived_tos(stream).ok().flatten());
        if let Some(tos) = tos.flatten() {
            self.dscp_seen.insert(StreamConfig::id(index), tos >> 2);
        }
    }

    fn accept_udp(&mut self, wanted: usize) -> Result<(), String> {
        let mut present = HashSet::new();
        while present.len() < wanted {
            match self.next_arrival()? {
                Arrival::Udp {
                    kind: Kind::Probe,
                    opened,
                    ..
                } => self.respond(opened),
                Arrival::Udp { index, opened, .. } => {
                    let index = index.map_or(present.len() as u32, u32::from);
                    if index < self.config.streams_total() && present.insert(index) {
                        self.spawn_udp(index, opened).map_err(|error| {
                            give_up(&mut self.control, error::STREAM_CONNECT, &error.to_string())
                        })?;
                    }
                }
                Arrival::Tcp { .. } => {}
            }
        }
        Ok(())
    }

    fn spawn_udp(&mut self, index: u32, opened: Opened) -> io::Result<()> {
        let sends = !self.config.client_sends(index);
        self.sampler.follow(&opened.socket, sends);
        let port = opened.socket.peer_addr().ok().map(|address| address.port());
        let work = self.config.udp_work(sends, index, opened)?;
        self.streams
            .add(StreamConfig::id(index), port, work, self.config.worker)
    }

    /// The next stream, while the control connection is watched too.
    fn next_arrival(&mut self) -> Result<Arrival, String> {
        loop {
            if let Some(arrival) = self
                .arrivals
                .as_ref()
                .and_then(|arrivals| arrivals.recv_timeout(STEP).ok())
            {
                return Ok(arrival);
            }
            if let Some(event) = self.pump(monotonic_ns() + GLANCE_NS)? {
                self.note(event)?;
            }
        }
    }

    fn respond(&mut self, opened: Opened) {
        if self.responders.len() < MOST_PROBES
            && let Ok(responder) = Responder::start(opened.socket)
        {
            self.responders.push(responder);
        }
    }

    /// Takes what arrives while the test runs: probes are answered, other streams closed.
    pub(super) fn take_late_arrivals(&mut self) {
        let waiting = self
            .arrivals
            .iter()
            .flat_map(|arrivals| arrivals.try_iter());
        let late: Vec<_> = waiting.take(MOST_LATE).collect();
        for arrival in late {
            if let Arrival::Udp {
                kind: Kind::Probe,
                opened,
                ..
            } = arrival
            {
                self.respond(opened);
            }
        }
    }
}

/// Only what is loaded: for root, the kernel would load a module on request.
fn require_available(congestion: Option<&str>) -> io::Result<()> {
    match congestion {
        Some(name) if !name.is_empty() && !has_congestion(name) => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the client requests a congestion control that is not available",
        )),
        _ => Ok(()),
    }
}

const STEP: Duration = Duration::from_millis(20);
/// A look at the control connection while streams are awaited.
const GLANCE_NS: u64 = 1_000_000;
/// The wait for another stock UDP test of the address to get its streams.
const TURN: Duration = Duration::from_secs(20);
/// Arrivals that are looked at in one step of a running test.
const MOST_LATE: usize = 1024;
/// Connections of a test beyond twice its streams: probes, of which each phase opens some.
const SPARE_ARRIVALS: u32 = 64;
/// Latency probes of one test.
const MOST_PROBES: usize = 4;

#[cfg(test)]
mod tests {
    use super::require_available;

    #[test]
    fn only_a_congestion_control_at_hand_is_used() {
        assert!(require_available(None).is_ok() && require_available(Some("")).is_ok());
        assert!(require_available(Some("reno")).is_ok());
        assert!(
            require_available(Some("no-such")).is_err()
                && require_available(Some("re no")).is_err()
        );
    }
}
