// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's end of one control connection, sans-IO.
//!
//! The caller has read the 37-byte cookie and found that it belongs to no test. Then it is driven as every [`Session`].
//! In order:
//!
//! | event | answer |
//! | --- | --- |
//! | `Params` | `deny`, `error`, or (`agent` if the client is linerate) `create_streams`; `start` when all are there |
//! | `Agent` (a linerate client only) | `agent` at will |
//! | `TestEnd` | stop, drain, close the data sockets, then `exchange_results` |
//! | `ClientResults` | `send_results` |
//!
//! `ClientTerminated`, `Done`, `Refused`, `Timeout` and `Closed` are last events: close the connection.

use std::fmt;

use serde::Serialize;

use super::control::{Expect, Message, Refusal, Timeouts, push_agent, push_block, unreadable};
use super::link::Link;
use super::params::Params;
use super::results::Results;
use super::session::{Missing, Session, driven};
use super::state::State;
use crate::json::Raw;

/// One test as the server sees it.
#[derive(Debug)]
pub struct ServerSession {
    phase: Phase,
    extended: bool,
    limits: Limits,
    link: Link,
}

/// How much a client may send, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Parameters.
    pub params_bytes: u32,
    /// Results; see [`ServerSession::limit_results`].
    pub results_bytes: u32,
    /// One `AGENT` message of a linerate client.
    pub agent_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            params_bytes: 8192,
            results_bytes: 1 << 20,
            agent_bytes: 64 << 10,
        }
    }
}

/// Where the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the parameters.
    AwaitingParams,
    /// The caller decides.
    Deciding,
    /// The client connects its streams.
    Connecting,
    /// The test runs.
    Running,
    /// `TEST_END` is here; the caller drains.
    Ending,
    /// Waiting for the client's results.
    AwaitingResults,
    /// The caller makes its results.
    Reporting,
    /// Waiting for the client's goodbye.
    AwaitingDone,
    /// Over.
    Closed,
}

/// After "while this end was".
impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl Phase {
    const fn words(self) -> &'static str {
        match self {
            Self::AwaitingParams => "waiting for the parameters",
            Self::Deciding => "checking the parameters",
            Self::Connecting => "waiting for the streams",
            Self::Running => "running the test",
            Self::Ending => "ending the test",
            Self::AwaitingResults => "waiting for the client's results",
            Self::Reporting => "preparing the results",
            Self::AwaitingDone => "waiting for IPERF_DONE",
            Self::Closed => "closed",
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    /// What the client asks for.
    Params(Box<Params>),
    /// A message of a linerate client.
    Agent(Raw),
    /// The client has stopped sending.
    TestEnd,
    /// What the client counted.
    ClientResults(Box<Results>),
    /// Last event: the client was interrupted, or gave up with an early goodbye.
    ClientTerminated,
    /// Last event: the client said goodbye.
    Done,
    /// Last event: the client broke the protocol.
    Refused {
        /// How.
        reason: Refusal,
    },
    /// Last event: the client did not do its part in time.
    Timeout {
        /// Where the server was.
        phase: Phase,
    },
    /// Last event: the client closed the connection without goodbye.
    Closed {
        /// Where the server was.
        phase: Phase,
    },
}

impl ServerSession {
    /// Begins after the cookie: asks for the parameters.
    #[must_use]
    pub fn new(limits: Limits, timeouts: Timeouts, now_ns: u64) -> Self {
        let mut session = Self {
            phase: Phase::AwaitingParams,
            extended: false,
            limits,
            link: Link::new(vec![State::ParamExchange.byte()], timeouts, now_ns),
        };
        session.enter(Phase::AwaitingParams, now_ns);
        session
    }

    /// Where the server is.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Limits the client's results, once its parameters show what it needs.
    pub fn limit_results(&mut self, bytes: u32) {
        self.limits.results_bytes = bytes;
    }

    /// Accepts the parameters: the client may connect its streams.
    pub fn create_streams(&mut self, now_ns: u64) {
        if self.phase == Phase::Deciding {
            self.link.out.push(State::CreateStreams.byte());
            self.enter(Phase::Connecting, now_ns);
        }
    }

    /// All streams are there: the test runs, for at most `watchdog_ns` if given.
    pub fn start(&mut self, watchdog_ns: Option<u64>, now_ns: u64) {
        if self.phase == Phase::Connecting {
            self.link
                .out
                .extend([State::TestStart.byte(), State::TestRunning.byte()]);
            self.enter(Phase::Running, now_ns);
            self.link.await_step(watchdog_ns, now_ns);
        }
    }

    /// Answers `TestEnd`, after the data sockets were closed (a 3.1.7 reverse client hangs otherwise).
    pub fn exchange_results(&mut self, now_ns: u64) {
        if self.phase == Phase::Ending {
            self.link.out.push(State::ExchangeResults.byte());
            self.enter(Phase::AwaitingResults, now_ns);
        }
    }

    /// Answers `ClientResults`.
    pub fn send_results(&mut self, results: &Results, now_ns: u64) {
        if self.phase == Phase::Reporting {
            push_block(&mut self.link.out, &results.to_json());
            self.link.out.push(State::DisplayResults.byte());
            self.enter(Phase::AwaitingDone, now_ns);
        }
    }

    /// Sends a message to a linerate client; nothing is sent to another, or after the results.
    pub fn agent(&mut self, message: &impl Serialize) {
        let open = !matches!(
            self.phase,
            Phase::AwaitingParams | Phase::AwaitingDone | Phase::Closed
        );
        if open && self.extended {
            push_agent(&mut self.link.out, message);
        }
    }

    /// Refuses: busy.
    pub fn deny(&mut self) {
        self.end_with(&[State::AccessDenied.byte()]);
    }

    /// Refuses or gives up with one of iperf3's error numbers and an errno, 0 if none.
    pub fn error(&mut self, code: i32, errno: i32) {
        let mut bytes = vec![State::ServerError.byte()];
        bytes.extend(code.to_be_bytes());
        bytes.extend(errno.to_be_bytes());
        self.end_with(&bytes);
    }

    /// The user interrupted the server.
    pub fn terminate(&mut self) {
        self.end_with(&[State::ServerTerminate.byte()]);
    }

    fn end_with(&mut self, bytes: &[u8]) {
        if self.phase != Phase::Closed {
            self.link.out.extend_from_slice(bytes);
            self.close();
        }
    }

    fn accept_state(&mut self, state: State) -> ServerEvent {
        match (self.phase, state) {
            (Phase::Running, State::TestEnd) => {
                self.enter(Phase::Ending, self.link.now_ns());
                ServerEvent::TestEnd
            }
            (Phase::AwaitingDone, State::IperfDone) => self.last(ServerEvent::Done),
            (_, State::ClientTerminate | State::IperfDone) => {
                self.last(ServerEvent::ClientTerminated)
            }
            (_, state) => self.unexpected(state),
        }
    }

    fn unexpected(&mut self, state: State) -> ServerEvent {
        let phase = self.expect().map_or("closed", |expect| expect.phase);
        self.refuse(Refusal::UnexpectedMessage { state, phase })
    }

    fn accept_params(&mut self, json: &[u8]) -> ServerEvent {
        match Params::from_json(json) {
            Ok(params) => {
                self.extended = params.linerate.is_some();
                self.enter(Phase::Deciding, self.link.now_ns());
                ServerEvent::Params(Box::new(params))
            }
            Err(error) => self.refuse(unreadable(PARAMS, &error)),
        }
    }

    fn accept_results(&mut self, json: &[u8]) -> ServerEvent {
        match Results::from_json(json) {
            Ok(results) => {
                self.enter(Phase::Reporting, self.link.now_ns());
                ServerEvent::ClientResults(Box::new(results))
            }
            Err(error) => self.refuse(unreadable(RESULTS, &error)),
        }
    }

    fn enter(&mut self, phase: Phase, now_ns: u64) {
        self.phase = phase;
        let wait_ns = match phase {
            Phase::AwaitingParams | Phase::AwaitingDone => Some(self.link.timeouts.answer_ns),
            Phase::Connecting => Some(self.link.timeouts.streams_ns),
            Phase::AwaitingResults => Some(self.link.timeouts.results_ns),
            Phase::Deciding | Phase::Running | Phase::Ending | Phase::Reporting | Phase::Closed => {
                None
            }
        };
        self.link.await_step(wait_ns, now_ns);
    }

    fn last(&mut self, event: ServerEvent) -> ServerEvent {
        self.close();
        event
    }

    fn close(&mut self) {
        self.phase = Phase::Closed;
        self.link.close();
    }

    fn most_bytes(&self) -> u32 {
        let Limits {
            params_bytes,
            results_bytes,
            agent_bytes,
        } = self.limits;
        params_bytes.max(results_bytes).max(agent_bytes)
    }

    fn expect(&self) -> Option<Expect> {
        let block = match self.phase {
            Phase::AwaitingParams => Some((PARAMS, self.limits.params_bytes)),
            Phase::AwaitingResults => Some((RESULTS, self.limits.results_bytes)),
            Phase::Closed => return None,
            _ => None,
        };
        let agent_bytes = self.extended.then_some(self.limits.agent_bytes);
        Some(Expect {
            phase: self.phase.words(),
            block,
            interruptions: &[State::ClientTerminate, State::IperfDone],
            agent_bytes,
            errors: false,
        })
    }

    fn accept(&mut self, message: Message) -> Option<ServerEvent> {
        Some(match message {
            Message::State(state) => self.accept_state(state),
            Message::Agent(message) => ServerEvent::Agent(message),
            Message::Block(json) if self.phase == Phase::AwaitingParams => {
                self.accept_params(&json)
            }
            Message::Block(json) => self.accept_results(&json),
            Message::Error(..) => self.unexpected(State::ServerError),
        })
    }

    fn refuse(&mut self, reason: Refusal) -> ServerEvent {
        self.last(ServerEvent::Refused { reason })
    }

    fn give_up(&mut self, why: Missing) -> ServerEvent {
        let phase = self.phase;
        self.last(match why {
            Missing::Timeout => ServerEvent::Timeout { phase },
            Missing::Closed => ServerEvent::Closed { phase },
        })
    }
}

driven!(ServerSession, ServerEvent);

const PARAMS: &str = "parameters";
const RESULTS: &str = "results";
