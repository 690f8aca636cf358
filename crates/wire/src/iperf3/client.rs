// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's end of the control connection, sans-IO.
//!
//! It is driven as every [`Session`], which sends the cookie and the parameters. In order:
//!
//! | event | answer |
//! | --- | --- |
//! | `Agent` (a linerate server only, at any time from here on) | `agent` at will |
//! | `CreateStreams` | connect the streams |
//! | `Start`, `Running` | send or receive; `end_test` when done, keep receiving |
//! | `ExchangeResults` | `send_results` |
//! | `PeerResults`, `Display` | `done` |
//!
//! `ServerTerminated`, `ServerError`, `Busy`, `Violation`, `Timeout` and `Closed` are last events: close the connection.

use serde::Serialize;

use super::control::{Expect, Message, Refusal, Timeouts, push_agent, push_block, unreadable};
use super::cookie::Cookie;
use super::error;
use super::link::Link;
use super::params::Params;
use super::results::Results;
use super::session::{Missing, Session, driven};
use super::state::State;
use crate::json::Raw;

/// One test as the client sees it.
#[derive(Debug)]
pub struct ClientSession {
    phase: Phase,
    params: Params,
    results_bytes: u32,
    link: Link,
    /// Whether a linerate server has said what it is.
    is_greeted: bool,
}

/// Where the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The cookie is sent; waiting for the server to ask for the parameters.
    Hello,
    /// The parameters are sent; waiting for `CREATE_STREAMS`.
    Accepting,
    /// The streams are being connected; waiting for `TEST_RUNNING`.
    Connecting,
    /// The test runs.
    Running,
    /// `TEST_END` is sent; waiting for `EXCHANGE_RESULTS`.
    Ending,
    /// The server waits for our results.
    Reporting,
    /// Our results are sent; waiting for the server's.
    AwaitingResults,
    /// Waiting for `DISPLAY_RESULTS`.
    AwaitingDisplay,
    /// Only `done` is left.
    Displaying,
    /// Over.
    Closed,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// Connect all data streams, one after the other.
    CreateStreams,
    /// The server has all streams.
    Start,
    /// The test's time starts now.
    Running,
    /// A message of a linerate server.
    Agent(Raw),
    /// The server has stopped and closed its streams: `send_results`.
    ExchangeResults,
    /// What the server counted.
    PeerResults(Box<Results>),
    /// All is exchanged: `done`.
    Display,
    /// Last event: the server was interrupted.
    ServerTerminated,
    /// Last event: the server gave up.
    ServerError {
        /// iperf3's number, if one arrived.
        code: Option<i32>,
        /// The server's errno, if one arrived (old servers send none).
        errno: Option<i32>,
        /// What the number means.
        text: &'static str,
    },
    /// Last event: another test is running there.
    Busy,
    /// Last event: this is not iperf3's protocol.
    Violation(Refusal),
    /// Last event: the server did not answer in time.
    Timeout {
        /// Where the client was.
        phase: Phase,
    },
    /// Last event: the server closed the connection (regular only after `done`).
    Closed {
        /// Where the client was.
        phase: Phase,
    },
}

impl ClientSession {
    /// Begins a test on a fresh connection. `params.linerate`, if present, opens the extension.
    #[must_use]
    pub fn new(cookie: &Cookie, params: Params, timeouts: Timeouts, now_ns: u64) -> Self {
        let mut session = Self {
            phase: Phase::Hello,
            params,
            results_bytes: RESULTS_BYTES,
            link: Link::new(cookie.as_bytes().to_vec(), timeouts, now_ns),
            is_greeted: false,
        };
        session.enter(Phase::Hello, now_ns);
        session
    }

    /// The most that the server's results may take, in bytes: more than the default where a report or an account
    /// was requested.
    pub fn limit_results(&mut self, bytes: u32) {
        self.results_bytes = bytes;
    }

    /// Where the client is.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The test's target is reached and the senders have stopped. Receivers go on until `ExchangeResults`.
    pub fn end_test(&mut self, now_ns: u64) {
        if self.phase == Phase::Running {
            self.link.out.push(State::TestEnd.byte());
            self.enter(Phase::Ending, now_ns);
        }
    }

    /// Answers `ExchangeResults`.
    pub fn send_results(&mut self, results: &Results, now_ns: u64) {
        if self.phase == Phase::Reporting {
            push_block(&mut self.link.out, &results.to_json());
            self.enter(Phase::AwaitingResults, now_ns);
        }
    }

    /// Sends a message to a linerate server; nothing is sent to another, or before the parameters were.
    pub fn agent(&mut self, message: &impl Serialize) {
        let open = !matches!(self.phase, Phase::Hello | Phase::Displaying | Phase::Closed);
        if open && self.params.linerate.is_some() {
            push_agent(&mut self.link.out, message);
        }
    }

    /// The user interrupted the test.
    pub fn terminate(&mut self) {
        if self.phase != Phase::Closed {
            self.link.out.push(State::ClientTerminate.byte());
            self.close();
        }
    }

    /// Answers `Display`: says goodbye.
    pub fn done(&mut self) {
        if self.phase == Phase::Displaying {
            self.link.out.push(State::IperfDone.byte());
            self.close();
        }
    }

    fn accept_state(&mut self, state: State) -> Option<ClientEvent> {
        let now_ns = self.link.now_ns();
        match (self.phase, state) {
            (Phase::Hello, State::ParamExchange) => {
                push_block(&mut self.link.out, &self.params.to_json());
                self.enter(Phase::Accepting, now_ns);
                None
            }
            (Phase::Accepting, State::CreateStreams) => {
                self.enter(Phase::Connecting, now_ns);
                Some(ClientEvent::CreateStreams)
            }
            (Phase::Connecting, State::TestStart) => Some(ClientEvent::Start),
            (Phase::Connecting, State::TestRunning) => {
                self.enter(Phase::Running, now_ns);
                Some(ClientEvent::Running)
            }
            (Phase::Ending, State::ExchangeResults) => {
                self.enter(Phase::Reporting, now_ns);
                Some(ClientEvent::ExchangeResults)
            }
            (Phase::AwaitingDisplay, State::DisplayResults) => {
                self.enter(Phase::Displaying, now_ns);
                Some(ClientEvent::Display)
            }
            (_, State::AccessDenied) => Some(self.last(ClientEvent::Busy)),
            (_, State::ServerTerminate) => Some(self.last(ClientEvent::ServerTerminated)),
            (_, state) => Some(self.unexpected(state)),
        }
    }

    fn unexpected(&mut self, state: State) -> ClientEvent {
        let phase = self.expect().map_or("closed", |expect| expect.phase);
        self.refuse(Refusal::UnexpectedMessage { state, phase })
    }

    fn accept_results(&mut self, json: &[u8]) -> ClientEvent {
        match Results::from_json(json) {
            Ok(results) => {
                self.enter(Phase::AwaitingDisplay, self.link.now_ns());
                ClientEvent::PeerResults(Box::new(results))
            }
            Err(error) => self.refuse(unreadable(RESULTS, &error)),
        }
    }

    /// What is known of an error that began and does not end.
    fn cut_short(&mut self) -> Option<ClientEvent> {
        if !self.link.inbox.holds_an_error() {
            return None;
        }
        let cut_short = self.link.inbox.error_cut_short();
        self.accept(cut_short)
    }

    fn enter(&mut self, phase: Phase, now_ns: u64) {
        self.phase = phase;
        let wait_ns = match phase {
            Phase::Hello | Phase::Accepting | Phase::AwaitingDisplay => {
                Some(self.link.timeouts.answer_ns)
            }
            Phase::Connecting => Some(self.link.timeouts.streams_ns),
            Phase::Ending | Phase::AwaitingResults => Some(self.link.timeouts.results_ns),
            Phase::Running | Phase::Reporting | Phase::Displaying | Phase::Closed => None,
        };
        self.link.await_step(wait_ns, now_ns);
    }

    fn last(&mut self, event: ClientEvent) -> ClientEvent {
        self.close();
        event
    }

    fn close(&mut self) {
        self.phase = Phase::Closed;
        self.link.close();
    }

    fn most_bytes(&self) -> u32 {
        self.results_bytes.max(AGENT_BYTES)
    }

    fn expect(&self) -> Option<Expect> {
        let (phase, block) = match self.phase {
            Phase::Hello => ("waiting for PARAM_EXCHANGE", None),
            Phase::Accepting => ("waiting for CREATE_STREAMS", None),
            Phase::Connecting => ("waiting for TEST_RUNNING", None),
            Phase::Running => ("running the test", None),
            Phase::Ending => ("waiting for EXCHANGE_RESULTS", None),
            Phase::AwaitingResults => (
                "waiting for the server's results",
                Some((RESULTS, self.results_bytes)),
            ),
            Phase::AwaitingDisplay => ("waiting for DISPLAY_RESULTS", None),
            Phase::Reporting | Phase::Displaying | Phase::Closed => return None,
        };
        let extended = self.params.linerate.is_some() && self.phase != Phase::Hello;
        Some(Expect {
            phase,
            block,
            interruptions: &[State::ServerTerminate],
            agent_bytes: extended.then_some(AGENT_BYTES),
            errors: true,
        })
    }

    fn accept(&mut self, message: Message) -> Option<ClientEvent> {
        match message {
            Message::State(state) => self.accept_state(state),
            Message::Agent(value) => {
                self.greet();
                Some(ClientEvent::Agent(value))
            }
            Message::Block(json) => Some(self.accept_results(&json)),
            Message::Error(code, errno) => {
                let text = error::describe(code.unwrap_or(0));
                Some(self.last(ClientEvent::ServerError { code, errno, text }))
            }
        }
    }

    /// A linerate server says what it is, then reads its counters, which takes seconds on a busy host, and then creates
    /// the streams. What it says later gains it no more time.
    fn greet(&mut self) {
        if self.phase == Phase::Accepting && !self.is_greeted {
            self.is_greeted = true;
            let longest_ns = self.link.timeouts.answer_ns.max(READING_NS);
            self.link.await_step(Some(longest_ns), self.link.now_ns());
        }
    }

    fn refuse(&mut self, reason: Refusal) -> ClientEvent {
        self.last(ClientEvent::Violation(reason))
    }

    fn give_up(&mut self, why: Missing) -> ClientEvent {
        let phase = self.phase;
        self.cut_short().unwrap_or_else(|| {
            self.last(match why {
                Missing::Timeout => ClientEvent::Timeout { phase },
                Missing::Closed => ClientEvent::Closed { phase },
            })
        })
    }
}

driven!(ClientSession, ClientEvent);

/// Name of the block in refusals.
/// Several times what a linerate server waits for its first reading (4 s).
const READING_NS: u64 = 15_000_000_000;
const RESULTS: &str = "results";
/// Stock iperf3 sends some 220 bytes a stream, of which it has 128 at most.
const RESULTS_BYTES: u32 = 64 << 10;

/// Longest `AGENT` message that a client accepts, bytes. Parsed, a document may take many times its length.
pub const AGENT_BYTES: u32 = 1 << 20;
