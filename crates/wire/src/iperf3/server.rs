// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's end of one control connection, sans-IO.
//!
//! The caller has read the 37-byte cookie and found that it belongs to no test. Give the session what was read
//! ([`feed`](ServerSession::feed), [`closed`](ServerSession::closed)); then take events until there is none, acting on
//! each before the next is taken; then write what [`poll_output`](ServerSession::poll_output) gives. In order:
//!
//! | event | answer |
//! | --- | --- |
//! | `Params` | `deny`, `error`, or (`agent` if the client is linerate) `create_streams`; `start` when all are there |
//! | `Agent` (a linerate client only) | `agent` at will |
//! | `TestEnd` | stop, drain, close the data sockets, then `exchange_results` |
//! | `ClientResults` | `send_results` |
//!
//! `ClientTerminated`, `Done`, `Refused`, `Timeout` and `Closed` are last events: close the connection.

use serde_json::Value;

use super::control::{
    Expect, Inbox, Message, Refusal, Timeouts, push_agent, push_block, unreadable,
};
use super::params::Params;
use super::results::Results;
use super::state::State;

/// One test as the server sees it.
#[derive(Debug)]
pub struct ServerSession {
    phase: Phase,
    extended: bool,
    limits: Limits,
    timeouts: Timeouts,
    inbox: Inbox,
    out: Vec<u8>,
    now_ns: u64,
    deadline_ns: Option<u64>,
    message_deadline_ns: Option<u64>,
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

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    /// What the client asks for.
    Params(Box<Params>),
    /// A message of a linerate client.
    Agent(Value),
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
    /// Begins behind the cookie: asks for the parameters.
    #[must_use]
    pub fn new(limits: Limits, timeouts: Timeouts, now_ns: u64) -> Self {
        let mut session = Self {
            phase: Phase::AwaitingParams,
            extended: false,
            limits,
            timeouts,
            inbox: Inbox::default(),
            out: vec![State::ParamExchange.byte()],
            now_ns,
            deadline_ns: None,
            message_deadline_ns: None,
        };
        session.enter(Phase::AwaitingParams, now_ns);
        session
    }

    /// Where the server is.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Takes bytes that were read.
    pub fn feed(&mut self, bytes: &[u8], now_ns: u64) {
        self.now_ns = now_ns;
        if self.phase != Phase::Closed {
            self.inbox.feed(bytes);
        }
    }

    /// The client closed its direction.
    pub fn closed(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.inbox.end();
    }

    /// Everything to write now, in one piece.
    pub fn poll_output(&mut self) -> Option<Vec<u8>> {
        (!self.out.is_empty()).then(|| std::mem::take(&mut self.out))
    }

    /// The next event. Act on it before taking the next.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        let expect = self.expect()?;
        match self.inbox.next(&expect) {
            Ok(Some(message)) => {
                self.message_deadline_ns = None;
                Some(self.accept(message))
            }
            Ok(None) => self.incomplete(),
            Err(reason) => Some(self.last(ServerEvent::Refused { reason })),
        }
    }

    /// When to call [`on_timeout`](Self::on_timeout), on the clock of `now_ns`.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        [self.deadline_ns, self.message_deadline_ns]
            .into_iter()
            .flatten()
            .min()
    }

    /// Tells that time has passed; the last event if it was too much.
    pub fn on_timeout(&mut self, now_ns: u64) -> Option<ServerEvent> {
        self.now_ns = now_ns;
        if self
            .poll_timeout()
            .is_none_or(|deadline_ns| now_ns < deadline_ns)
        {
            return None;
        }
        let phase = self.phase;
        Some(self.last(ServerEvent::Timeout { phase }))
    }

    /// What the results of the client may take, once its parameters tell what it needs.
    pub fn limit_results(&mut self, bytes: u32) {
        self.limits.results_bytes = bytes;
    }

    /// Accepts the parameters: the client may connect its streams.
    pub fn create_streams(&mut self, now_ns: u64) {
        if self.phase == Phase::Deciding {
            self.out.push(State::CreateStreams.byte());
            self.enter(Phase::Connecting, now_ns);
        }
    }

    /// All streams are there: the test runs, for at most `watchdog_ns` if given.
    pub fn start(&mut self, watchdog_ns: Option<u64>, now_ns: u64) {
        if self.phase == Phase::Connecting {
            self.out
                .extend([State::TestStart.byte(), State::TestRunning.byte()]);
            self.enter(Phase::Running, now_ns);
            self.deadline_ns = watchdog_ns.map(|wait_ns| now_ns.saturating_add(wait_ns));
        }
    }

    /// Answers `TestEnd`, after the data sockets were closed (a 3.1.7 reverse client hangs otherwise).
    pub fn exchange_results(&mut self, now_ns: u64) {
        if self.phase == Phase::Ending {
            self.out.push(State::ExchangeResults.byte());
            self.enter(Phase::AwaitingResults, now_ns);
        }
    }

    /// Answers `ClientResults`.
    pub fn send_results(&mut self, results: &Results, now_ns: u64) {
        if self.phase == Phase::Reporting {
            push_block(&mut self.out, &results.to_json());
            self.out.push(State::DisplayResults.byte());
            self.enter(Phase::AwaitingDone, now_ns);
        }
    }

    /// Sends a message to a linerate client; nothing is sent to another, or after the results.
    pub fn agent(&mut self, message: &Value) {
        let open = !matches!(
            self.phase,
            Phase::AwaitingParams | Phase::AwaitingDone | Phase::Closed
        );
        if open && self.extended {
            push_agent(&mut self.out, message);
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
            self.out.extend_from_slice(bytes);
            self.close();
        }
    }

    fn expect(&self) -> Option<Expect> {
        let (phase, block) = match self.phase {
            Phase::AwaitingParams => (
                "waiting for the parameters",
                Some((PARAMS, self.limits.params_bytes)),
            ),
            Phase::Deciding => ("deciding on the parameters", None),
            Phase::Connecting => ("waiting for the streams", None),
            Phase::Running => ("running the test", None),
            Phase::Ending => ("ending the test", None),
            Phase::AwaitingResults => (
                "waiting for the client's results",
                Some((RESULTS, self.limits.results_bytes)),
            ),
            Phase::Reporting => ("making the results", None),
            Phase::AwaitingDone => ("waiting for IPERF_DONE", None),
            Phase::Closed => return None,
        };
        let agent_bytes = self.extended.then_some(self.limits.agent_bytes);
        Some(Expect {
            phase,
            block,
            interruptions: &[State::ClientTerminate, State::IperfDone],
            agent_bytes,
            errors: false,
        })
    }

    fn accept(&mut self, message: Message) -> ServerEvent {
        match message {
            Message::State(state) => self.accept_state(state),
            Message::Agent(value) => ServerEvent::Agent(value),
            Message::Block(json) if self.phase == Phase::AwaitingParams => {
                self.accept_params(&json)
            }
            Message::Block(json) => self.accept_results(&json),
            Message::Error(..) => self.unexpected(State::ServerError),
        }
    }

    fn accept_state(&mut self, state: State) -> ServerEvent {
        match (self.phase, state) {
            (Phase::Running, State::TestEnd) => {
                self.enter(Phase::Ending, self.now_ns);
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
        self.last(ServerEvent::Refused {
            reason: Refusal::UnexpectedMessage { state, phase },
        })
    }

    fn accept_params(&mut self, json: &[u8]) -> ServerEvent {
        match Params::from_json(json) {
            Ok(params) => {
                self.extended = params.linerate.is_some();
                self.enter(Phase::Deciding, self.now_ns);
                ServerEvent::Params(Box::new(params))
            }
            Err(error) => self.last(ServerEvent::Refused {
                reason: unreadable(PARAMS, &error),
            }),
        }
    }

    fn accept_results(&mut self, json: &[u8]) -> ServerEvent {
        match Results::from_json(json) {
            Ok(results) => {
                self.enter(Phase::Reporting, self.now_ns);
                ServerEvent::ClientResults(Box::new(results))
            }
            Err(error) => self.last(ServerEvent::Refused {
                reason: unreadable(RESULTS, &error),
            }),
        }
    }

    /// No whole message is here: start its clock, or see that none will come.
    fn incomplete(&mut self) -> Option<ServerEvent> {
        if self.inbox.has_ended() {
            let phase = self.phase;
            return Some(self.last(ServerEvent::Closed { phase }));
        }
        if !self.inbox.is_empty() && self.message_deadline_ns.is_none() {
            self.message_deadline_ns = Some(self.now_ns.saturating_add(self.timeouts.answer_ns));
        }
        None
    }

    fn enter(&mut self, phase: Phase, now_ns: u64) {
        self.phase = phase;
        self.now_ns = now_ns;
        let wait_ns = match phase {
            Phase::AwaitingParams | Phase::AwaitingDone => Some(self.timeouts.answer_ns),
            Phase::Connecting => Some(self.timeouts.streams_ns),
            Phase::AwaitingResults => Some(self.timeouts.results_ns),
            Phase::Deciding | Phase::Running | Phase::Ending | Phase::Reporting | Phase::Closed => {
                None
            }
        };
        self.deadline_ns = wait_ns.map(|wait_ns| now_ns.saturating_add(wait_ns));
    }

    fn last(&mut self, event: ServerEvent) -> ServerEvent {
        self.close();
        event
    }

    fn close(&mut self) {
        self.inbox.clear();
        self.message_deadline_ns = None;
        self.enter(Phase::Closed, self.now_ns);
    }
}

const PARAMS: &str = "parameters";
const RESULTS: &str = "results";
