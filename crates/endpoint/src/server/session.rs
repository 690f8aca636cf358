// SPDX-License-Identifier: MIT OR Apache-2.0
//! One client's test, from its parameters to its goodbye.

mod attending;
mod conversation;
mod device;
mod finishing;
mod gathering;
mod welcoming;

use super::registry::Arrival;
use super::{Server, limits};
use crate::Direction;
use crate::control::Control;
use crate::crew::Crew;
use crate::extension::{Ask, Message};
use crate::heartbeat::Heartbeat;
use crate::memory::Memory;
use crate::probe::Responder;
use crate::sampler::{self, Sampler, UdpSockets};
use crate::shape::Shape;
use crate::token::{Standing, Welcome};
use conversation::await_params;
use linerate_linux::clock::monotonic_ns;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::server::{Limits, ServerSession};
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use welcoming::welcome;

/// One test at the server.
pub(super) struct Session<'a, 'b> {
    server: &'a Server<'b>,
    control: Control<ServerSession>,
    peer: SocketAddr,
    params: Box<Params>,
    ask: Option<Ask>,
    welcome: Welcome,
    shape: Shape,
    crew: Crew,
    sampler: Sampler,
    responders: Vec<Responder>,
    arrivals: Option<Receiver<Arrival>>,
    told: HashMap<u32, u64>,
    heart: Heartbeat,
    dscp_seen: HashMap<u32, u8>,
    final_is_sent: bool,
}

impl<'a, 'b> Session<'a, 'b> {
    /// Serves the test behind `cookie`; what happened, for the log.
    pub(super) fn run(
        server: &'a Server<'b>,
        stream: TcpStream,
        cookie: Cookie,
        peer: SocketAddr,
        serial: u64,
    ) -> Result<String, String> {
        let local = stream.local_addr().ok();
        let session = ServerSession::new(
            Limits::default(),
            linerate_wire::iperf3::Timeouts::default(),
            monotonic_ns(),
        );
        let mut control = Control::new(stream, session).map_err(|error| error.to_string())?;
        let met = await_params(&mut control, server)
            .and_then(|params| Self::meet(&mut control, server, &cookie, params));
        if !server.strangers.leave(serial) {
            return Err("refused: silent, and too many others came".to_owned());
        }
        let (params, ask, welcome) = met?;
        if welcome.standing == Standing::Refused {
            server.log.refusal(Some(peer), OTHER_TOKEN);
        }
        let device = ask.as_ref().is_some_and(|ask| ask.device);
        let seat = if device {
            server.stool()
        } else {
            server.seat()
        };
        let Some(_seat) = seat else {
            let why = if device { MANY_ASK } else { MANY_RUN };
            refuse(&mut control, device, why);
            return Err(format!("refused: {why}"));
        };
        if device {
            return device::serve(server, control.stream(), welcome);
        }
        let sockets = UdpSockets::ServedFrom(local.map_or(0, |local| local.port()));
        let sampler = Sampler::of(local, sockets, welcome.audience());
        let shape = Shape::of_params(&params, ask.as_ref()).within(Memory::of_host());
        let mut test = Self {
            server,
            control,
            peer,
            params,
            ask,
            welcome,
            shape,
            crew: Crew::default(),
            sampler,
            responders: Vec::new(),
            arrivals: None,
            told: HashMap::new(),
            heart: Heartbeat::default(),
            dscp_seen: HashMap::new(),
            final_is_sent: false,
        };
        test.conduct(cookie)
    }

    /// What the client asks for, and what it may be told.
    fn meet(
        control: &mut Control<ServerSession>,
        server: &Server<'_>,
        cookie: &Cookie,
        params: Box<Params>,
    ) -> Result<(Box<Params>, Option<Ask>, Welcome), String> {
        let ask = params
            .linerate
            .as_ref()
            .map(|ask| ask.read::<Ask>().unwrap_or_default());
        let nonce = ask.as_ref().and_then(|ask| ask.nonce.as_deref());
        let welcome = welcome(control, server, cookie, nonce)?;
        Ok((params, ask, welcome))
    }

    fn conduct(&mut self, cookie: Cookie) -> Result<String, String> {
        if let Err((code, reason)) = limits::check(
            &self.server.options,
            &self.params,
            self.ask.as_ref(),
            &self.shape,
        ) {
            return Err(self.give_up(code, reason));
        }
        let results_bytes = limits::results_bytes(self.ask.as_ref(), &self.shape);
        self.control.session.limit_results(results_bytes);
        if self.ask.is_some() {
            let hello = Message::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                host: Box::new(sampler::to(self.welcome.audience(), self.sampler.host())),
                beats: true,
                token: Some(self.welcome.standing),
                proof: self.welcome.proof.clone(),
            };
            self.control.session.agent(&hello);
        }
        let rests = self.ask.as_ref().is_some_and(|ask| ask.control_ns > 0);
        if self.shape.direction == Direction::Both {
            self.sampler.tell_both_ways();
        }
        if rests {
            self.sampler.rest();
            self.look_around();
        }
        let place = self.gather(cookie)?;
        if rests {
            self.sampler.rest();
        }
        self.start();
        self.attend()?;
        drop(place);
        self.finish()
    }

    fn look_around(&mut self) {
        let asked = self.ask.as_ref().is_some_and(|ask| ask.settings);
        self.sampler.look_around(asked);
    }

    fn is_idle(&self) -> bool {
        self.ask.as_ref().is_some_and(|ask| !ask.load)
    }
}

/// It may be gone already: it is told as a courtesy.
fn refuse(control: &mut Control<ServerSession>, device: bool, why: &str) {
    if device {
        let why = why.to_owned();
        control.session.agent(&Message::Error { why });
    } else {
        control.session.deny();
    }
    let _ = control.flush();
}

const MANY_RUN: &str = "as many tests as --max-tests allows are running";
const MANY_ASK: &str = "as many as may ask of this host as a device do so";
const OTHER_TOKEN: &str = "its token is not this server's: it is told what a stranger is";
const SECOND_NS: u64 = 1_000_000_000;
const STEP_NS: u64 = 50_000_000;
