// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports the counters and settings of a device under test, on pipes (`linerate agent --stdio`, over ssh
//! or in the lab) or on a connection to `linerate serve`. It reads, and never changes the host.
//!
//! ```text
//! tester ── AGENT read {id, part} ──► agent      one request at a time
//!        ◄── AGENT samples … , done {id} ──
//! ```
//! The agent sends a hello first, and ends when its input ends.

mod interfaces;
mod serve;

pub use serve::serve;

use super::extension::{Message, Part};
use super::sampler::{self, Audience, Reader, UdpSockets};
use super::token::Access;
use linerate_linux::clock;
use linerate_model::sample::Phase;
use linerate_wire::iperf3::client::AGENT_BYTES;
use std::net::SocketAddr;

/// What can be read on this host, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Agent {
    audience: Audience,
    access: Option<Access>,
    /// Where the client reached it.
    reached: Option<SocketAddr>,
    interfaces: Vec<String>,
    reader: Reader,
    /// Earliest time of the next answer.
    next_ns: u64,
}

impl Agent {
    /// Opens all sources, for the user of this host.
    pub fn open() -> Self {
        Self::reading(Audience::User, None, None)
    }

    /// Opens the sources that a client of a server may read.
    pub(crate) fn served(access: Access, reached: Option<SocketAddr>) -> Self {
        Self::reading(access.audience(), Some(access), reached)
    }

    fn reading(audience: Audience, access: Option<Access>, reached: Option<SocketAddr>) -> Self {
        let interfaces = interfaces::of_audience(audience);
        let reader = Reader::open(interfaces.clone(), audience, UdpSockets::ServedFrom(0));
        Self {
            audience,
            access,
            reached,
            interfaces,
            reader,
            next_ns: 0,
        }
    }

    /// Version and host.
    fn hello(&self) -> Message {
        let this = sampler::this_host(&self.interfaces);
        let host = sampler::host_at(self.reached, self.audience, this);
        let access = self.access.as_ref();
        Message::Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: Box::new(host),
            beats: false,
            token: access.map(|access| access.status),
            proof: access.and_then(|access| access.proof.clone()),
        }
    }

    /// The answer to a request.
    fn answer(&mut self, request: Option<Message>) -> Vec<Message> {
        self.keep_pace();
        match request {
            Some(Message::Read { id, part }) => self.read(id, part),
            Some(Message::Setup { id }) => self.set_up(id),
            _ => vec![Message::Error {
                why: "unknown request".to_owned(),
            }],
        }
    }

    fn read(&mut self, id: u64, part: Part) -> Vec<Message> {
        let samples = match part {
            Part::Before => self.reader.read(Phase::Load),
            Part::Load => self.reader.read_load(Phase::Load),
            Part::After => self.reader.read_settled(Phase::Load),
        };
        let mut answer = Message::of_samples(samples);
        answer.push(Message::Done { id });
        answer
    }

    fn set_up(&mut self, id: u64) -> Vec<Message> {
        let settings = sampler::settings_of(&self.interfaces, self.audience);
        let each = settings.into_iter().map(|setting| Message::Settings {
            settings: vec![setting],
        });
        let fits = |message: &Message| message.json_bytes() <= AGENT_BYTES as usize;
        let mut answer: Vec<Message> = each.filter(fits).collect();
        answer.push(Message::Done { id });
        answer
    }

    /// Limits the rate of an unauthenticated peer's requests, those that are not understood included.
    fn keep_pace(&mut self) {
        if self.audience == Audience::Peer {
            clock::sleep_until_ns(self.next_ns, 0);
            self.next_ns = clock::monotonic_ns() + PACE_NS;
        }
    }
}

/// Between two answers to an unauthenticated peer.
const PACE_NS: u64 = 20_000_000;
