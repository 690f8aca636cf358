// SPDX-License-Identifier: MIT OR Apache-2.0
//! One client's test, from its parameters to its goodbye.

mod authentication;
mod conversation;
mod device;
mod ending;
mod running;
mod stream_setup;

use super::metrics::Refusal;
use super::registry::Arrival;
use super::{Ended, Server, limits};
use crate::Direction;
use crate::control::Control;
use crate::extension::{Message, Request};
use crate::heartbeat::Heartbeat;
use crate::memory::Memory;
use crate::probe::Responder;
use crate::sampler::{self, Audience, Sampler, UdpSockets};
use crate::stream_config::StreamConfig;
use crate::streams::Streams;
use crate::token::{Access, TokenStatus};
use authentication::authenticate;
use conversation::await_params;
use linerate_linux::clock::monotonic_ns;
use linerate_method::clock_offset::Drift;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::server::{Limits, ServerSession};
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;

/// One test at the server.
pub(super) struct Session<'a, 'b> {
    server: &'a Server<'b>,
    control: Control<ServerSession>,
    peer: SocketAddr,
    params: Box<Params>,
    request: Option<Request>,
    access: Access,
    config: StreamConfig,
    streams: Streams,
    sampler: Sampler,
    responders: Vec<Responder>,
    arrivals: Option<Receiver<Arrival>>,
    sent_by_peer: HashMap<u32, u64>,
    drift: Drift,
    heart: Heartbeat,
    dscp_seen: HashMap<u32, u8>,
    final_is_sent: bool,
}

impl<'a, 'b> Session<'a, 'b> {
    /// Serves the test behind `cookie`; returns a summary for the log.
    pub(super) fn run(
        server: &'a Server<'b>,
        stream: TcpStream,
        cookie: Cookie,
        peer: SocketAddr,
        serial: u64,
    ) -> Result<String, Ended> {
        let local = stream.local_addr().ok();
        let session = ServerSession::new(
            Limits::default(),
            linerate_wire::iperf3::Timeouts::default(),
            monotonic_ns(),
        );
        let mut control = Control::new(stream, session).map_err(|error| error.to_string())?;
        let met = await_params(&mut control, server)
            .and_then(|params| Self::identify_client(&mut control, server, &cookie, params));
        if !server.pending.leave(serial) {
            return Err(Ended::evicted());
        }
        let (params, request, access) = met?;
        if access.status == TokenStatus::Refused {
            server.log.limited(Some(peer), OTHER_TOKEN);
        }
        let device = request.as_ref().is_some_and(|request| request.device);
        let slot = if device {
            server.control_slot()
        } else {
            server.test_slot()
        };
        let Some(_slot) = slot else {
            let why = if device { MANY_ASK } else { MANY_RUN };
            refuse(&mut control, device, why);
            return Err(Ended::refused(Refusal::Busy, why));
        };
        if device {
            return Ok(device::serve(server, control.stream(), access)?);
        }
        let config = StreamConfig::of_params(&params, request.as_ref()).within(Memory::of_host());
        limits::check(&server.options, &params, request.as_ref(), &config).map_err(
            |(code, reason)| Ended {
                reason: give_up(&mut control, code, &reason),
                why: Refusal::Limit,
            },
        )?;
        // Only now: as root it loads a program into the kernel.
        let sockets = UdpSockets::ServedFrom(local.map_or(0, |local| local.port()));
        let mut sampler = Sampler::of(local, peer, sockets, access.audience());
        let may_see = access.audience() == Audience::User;
        let known = request.as_ref().and_then(|request| request.state);
        sampler.watch_state(known.filter(|_| may_see));
        let mut test = Self {
            server,
            control,
            peer,
            params,
            request,
            access,
            config,
            streams: Streams::default(),
            sampler,
            responders: Vec::new(),
            arrivals: None,
            sent_by_peer: HashMap::new(),
            drift: Drift::default(),
            heart: Heartbeat::default(),
            dscp_seen: HashMap::new(),
            final_is_sent: false,
        };
        let kind = (test.config.protocol, test.config.direction);
        server.metrics.begin(kind);
        let outcome = test.run_test(cookie);
        server.metrics.end(kind, outcome.is_ok());
        Ok(outcome?)
    }

    /// Reads the client's request and determines its access.
    fn identify_client(
        control: &mut Control<ServerSession>,
        server: &Server<'_>,
        cookie: &Cookie,
        params: Box<Params>,
    ) -> Result<(Box<Params>, Option<Request>, Access), String> {
        let request = params
            .linerate
            .as_ref()
            .map(|request| request.read::<Request>().unwrap_or_default());
        let nonce = request
            .as_ref()
            .and_then(|request| request.nonce.as_deref());
        let access = authenticate(control, server, cookie, nonce)?;
        Ok((params, request, access))
    }

    fn run_test(&mut self, cookie: Cookie) -> Result<String, String> {
        let results_bytes = limits::results_bytes(self.request.as_ref(), &self.config);
        self.control.session.limit_results(results_bytes);
        if self.request.is_some() {
            let reached = self.control.stream().local_addr().ok();
            let hello = Message::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                host: Box::new(sampler::host_at(
                    reached,
                    self.access.audience(),
                    self.sampler.host(),
                )),
                beats: true,
                token: Some(self.access.status),
                proof: self.access.proof.clone(),
            };
            self.control.session.agent(&hello);
        }
        let rests = self
            .request
            .as_ref()
            .is_some_and(|request| request.control_ns > 0);
        if self.config.direction == Direction::Both {
            self.sampler.set_bidirectional();
        }
        if rests {
            // A client that went away is noticed at the next read.
            let _ = self.control.flush();
            self.sampler.read_idle();
            self.read_settings();
        }
        let place = self.accept_streams(cookie)?;
        if rests {
            self.sampler.read_idle();
        }
        self.start();
        self.run_until_end()?;
        drop(place);
        self.finish()
    }

    fn read_settings(&mut self) {
        let asked = self
            .request
            .as_ref()
            .is_some_and(|request| request.settings);
        self.sampler.read_settings(asked);
    }

    fn is_idle(&self) -> bool {
        self.request.as_ref().is_some_and(|request| !request.load)
    }
}

/// Ends the conversation with iperf3's error `code`; returns the line for the log.
fn give_up(control: &mut Control<ServerSession>, code: i32, reason: &str) -> String {
    control.session.error(code, 0);
    // The client may have disconnected.
    let _ = control.flush();
    format!("refused: {reason}")
}

/// The client may have disconnected: errors are ignored.
fn refuse(control: &mut Control<ServerSession>, device: bool, why: &str) {
    if device {
        let why = why.to_owned();
        control.session.agent(&Message::Error { why });
    } else {
        control.session.deny();
    }
    let _ = control.flush();
}

const MANY_RUN: &str = "--max-tests tests are running already";
const MANY_ASK: &str = "too many testers read this host's counters";
const OTHER_TOKEN: &str = "its token is wrong: it gets only what an unauthenticated client gets";
const SECOND_NS: u64 = 1_000_000_000;
const STEP_NS: u64 = 50_000_000;
