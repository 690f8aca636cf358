// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plays the part of the engine: answers each event as the contract of the sessions says.

use linerate_wire::iperf3::Timeouts;
use linerate_wire::iperf3::client::{ClientEvent, ClientSession};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::results::{Results, StreamResult};
use linerate_wire::iperf3::server::{Limits, ServerEvent, ServerSession};
use linerate_wire::iperf3::session::Session;
use linerate_wire::iperf3::stream_id;
use linerate_wire::json::Raw;
use serde_json::{Value, json};

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::of(value).unwrap()
}

fn is_final(message: &Raw) -> bool {
    message.read::<Value>().unwrap()["type"] == "final"
}

pub(crate) fn cookie() -> Cookie {
    Cookie::from_random(&[0x5A; 23])
}

pub(crate) fn results(streams: u32) -> Results {
    let stream = |index| StreamResult {
        id: stream_id::from_index(index),
        bytes: 1000,
        ..StreamResult::default()
    };
    Results {
        sender_has_retransmits: 1,
        streams: (0..streams).map(stream).collect(),
        ..Results::default()
    }
}

/// A client that answers every event at once and writes down what it saw.
pub(crate) struct Client {
    pub(crate) session: ClientSession,
    pub(crate) events: Vec<ClientEvent>,
    /// Whether the client ends the test as soon as it runs.
    pub(crate) ends_test: bool,
    streams: u32,
    extended: bool,
}

impl Client {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            session: ClientSession::new(&cookie(), params.clone(), Timeouts::default(), 0),
            events: Vec::new(),
            ends_test: true,
            streams: u32::try_from(params.streams_total()).unwrap(),
            extended: params.linerate.is_some(),
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.session.feed(bytes, 0);
        self.react();
    }

    pub(crate) fn closed(&mut self) {
        self.session.closed(0);
        self.react();
    }

    fn react(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match &event {
                ClientEvent::Running if self.ends_test => {
                    self.session.end_test(0);
                    if self.extended {
                        self.session.agent(&json!({"type": "final", "sent": [10]}));
                    }
                }
                ClientEvent::ExchangeResults => {
                    self.session.send_results(&results(self.streams), 0);
                }
                ClientEvent::Display => self.session.done(),
                _ => {}
            }
            self.events.push(event);
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.events.iter().map(name).collect()
    }
}

/// A server that answers every event at once and writes down what it saw.
pub(crate) struct Server {
    pub(crate) session: ServerSession,
    pub(crate) events: Vec<ServerEvent>,
    streams: u32,
    extended: bool,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self {
            session: ServerSession::new(Limits::default(), Timeouts::default(), 0),
            events: Vec::new(),
            streams: 0,
            extended: false,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.session.feed(bytes, 0);
        self.react();
    }

    pub(crate) fn closed(&mut self) {
        self.session.closed(0);
        self.react();
    }

    fn react(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match &event {
                ServerEvent::Params(params) => {
                    self.streams = u32::try_from(params.streams_total()).unwrap();
                    self.extended = params.linerate.is_some();
                    self.session.agent(&json!({"type": "hello"}));
                    self.session.create_streams(0);
                    self.session.start(None, 0);
                }
                ServerEvent::TestEnd if !self.extended => self.session.exchange_results(0),
                ServerEvent::Agent(message) if is_final(message) => {
                    self.session.agent(&json!({"type": "final", "sent": [0]}));
                    self.session.exchange_results(0);
                }
                ServerEvent::ClientResults(_) => {
                    self.session.send_results(&results(self.streams), 0);
                }
                _ => {}
            }
            self.events.push(event);
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.events.iter().map(name).collect()
    }
}

/// The bytes of both directions of a whole conversation; the cookie is left out.
pub(crate) struct Heard {
    pub(crate) from_client: Vec<u8>,
    pub(crate) from_server: Vec<u8>,
}

/// Runs both ends against each other until neither has more to say.
pub(crate) fn converse(client: &mut Client, server: &mut Server) -> Heard {
    let mut heard = Heard {
        from_client: Vec::new(),
        from_server: Vec::new(),
    };
    let hello = client.session.poll_output().unwrap();
    assert_eq!(hello, cookie().as_bytes());
    loop {
        let to_client = server.session.poll_output();
        let to_server = client.session.poll_output();
        if to_client.is_none() && to_server.is_none() {
            return heard;
        }
        if let Some(bytes) = to_client {
            heard.from_server.extend(&bytes);
            client.feed(&bytes);
        }
        if let Some(bytes) = to_server {
            heard.from_client.extend(&bytes);
            server.feed(&bytes);
        }
    }
}

fn name(event: &impl std::fmt::Debug) -> String {
    let text = format!("{event:?}");
    let end = text.find(|c: char| !c.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}
