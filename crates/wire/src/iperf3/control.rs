// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both ends of the control connection share: message framing, limits, time-outs, reasons to refuse.
//!
//! A message is one state byte; JSON blocks (u32 length, document) follow at three known places; with linerate's
//! extension an `AGENT` byte, a length and a document may stand wherever a state byte or a block may begin. No
//! length begins with a state byte that is legal in its place: block limits keep its first byte below 5.

use serde::Serialize;

use super::state::State;
use crate::json::{self, Raw};

const SECOND_NS: u64 = 1_000_000_000;

/// How long each wait may last, nanoseconds. All are for a whole message, never for a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The next step of a peer that has nothing to do but answer.
    pub answer_ns: u64,
    /// A message once its first byte is here: a test that fills the path delays it, and its repetitions.
    pub message_ns: u64,
    /// All data streams connected.
    pub streams_ns: u64,
    /// A server's `EXCHANGE_RESULTS`, a peer's results: the peer may have to drain its streams first.
    pub results_ns: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            answer_ns: 10 * SECOND_NS,
            message_ns: 30 * SECOND_NS,
            streams_ns: 30 * SECOND_NS,
            results_ns: 30 * SECOND_NS,
        }
    }
}

/// Why a peer's bytes were not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A block whose length has its sign bit set.
    #[error("{block} of negative length {length}")]
    NegativeLength {
        /// Which document.
        block: &'static str,
        /// As announced.
        length: i32,
    },
    /// A block longer than its limit.
    #[error("{block} of {length} bytes, the limit is {limit}")]
    TooLong {
        /// Which document.
        block: &'static str,
        /// As announced, bytes.
        length: u32,
        /// Bytes.
        limit: u32,
    },
    /// A block that is not the document expected.
    #[error("{block} unreadable: {error}")]
    Unreadable {
        /// Which document.
        block: &'static str,
        /// What the reader said.
        error: String,
    },
    /// A byte that is no message.
    #[error("unknown control message {byte} while {phase}")]
    UnknownMessage {
        /// The byte.
        byte: u8,
        /// What was being waited for.
        phase: &'static str,
    },
    /// More than a whole message ahead of what it waits for.
    #[error("the peer sent {bytes} bytes that were not expected yet, while {phase}")]
    TooMuch {
        /// What was held when it was refused.
        bytes: usize,
        /// What was being waited for.
        phase: &'static str,
    },
    /// A message out of its place.
    #[error("control message {state:?} while {phase}")]
    UnexpectedMessage {
        /// The message.
        state: State,
        /// What was being waited for.
        phase: &'static str,
    },
}

/// What may stand at the current place.
pub(super) enum Message {
    State(State),
    Agent(Raw),
    Block(Vec<u8>),
    /// The two numbers after `SERVER_ERROR`; old servers send the first only, or none.
    Error(Option<i32>, Option<i32>),
}

/// What the reader knows about the current place.
pub(super) struct Expect {
    /// For the message of a refusal.
    pub phase: &'static str,
    /// A block of that name and limit (bytes) may begin here.
    pub block: Option<(&'static str, u32)>,
    /// The only state bytes that may stand there instead.
    pub interruptions: &'static [State],
    /// `AGENT` frames up to that many bytes are allowed.
    pub agent_bytes: Option<u32>,
    /// Numbers follow `SERVER_ERROR`.
    pub errors: bool,
}

/// Bytes received and not yet understood. It retains at most twice one whole message and one piece, or
/// [`KEPT_CAPACITY`] where that is more, however the peer cuts its messages.
#[derive(Default, Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    ended: bool,
    overfull: bool,
}

impl Inbox {
    /// Takes one piece. Where a whole message of `most_bytes` is already held, nothing waits for it: the peer
    /// sends ahead of the conversation, and the next message is refused.
    pub(super) fn feed(&mut self, bytes: &[u8], most_bytes: u32) {
        self.discard_taken();
        self.overfull |= self.bytes.len() > HEADER_BYTES + most_bytes as usize;
        if !self.overfull {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Memory held, bytes.
    pub(super) fn retained_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    fn discard_taken(&mut self) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
            self.bytes.shrink_to(KEPT_CAPACITY);
        }
    }

    /// The peer closed its direction.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
        self.bytes.shrink_to(KEPT_CAPACITY);
    }

    /// Takes the next whole message; `None` if more bytes are needed.
    pub(super) fn next(&mut self, expect: &Expect) -> Result<Option<Message>, Refusal> {
        if self.overfull {
            return Err(Refusal::TooMuch {
                bytes: self.bytes.len(),
                phase: expect.phase,
            });
        }
        let Some(first) = self.rest().first().copied() else {
            return Ok(None);
        };
        match State::from_byte(first) {
            Some(State::Agent) if expect.agent_bytes.is_some() => self.next_agent(expect),
            Some(State::ServerError) if expect.errors => Ok(self.next_error()),
            Some(state) if expect.block.is_none() || expect.interruptions.contains(&state) => {
                self.start += 1;
                Ok(Some(Message::State(state)))
            }
            _ => match expect.block {
                Some((block, limit)) => Ok(self.next_block(0, block, limit)?.map(Message::Block)),
                None => Err(Refusal::UnknownMessage {
                    byte: first,
                    phase: expect.phase,
                }),
            },
        }
    }

    /// Takes the part of an error that came before the end.
    pub(super) fn error_cut_short(&mut self) -> Message {
        let code = i32_at(self.rest(), 1);
        self.clear();
        Message::Error(code, None)
    }

    /// Whether a server's error has begun.
    pub(super) fn holds_an_error(&self) -> bool {
        self.rest().first() == Some(&State::ServerError.byte())
    }

    fn next_error(&mut self) -> Option<Message> {
        let code = i32_at(self.rest(), 1)?;
        let errno = i32_at(self.rest(), 5)?;
        self.start += 9;
        Some(Message::Error(Some(code), Some(errno)))
    }

    fn next_agent(&mut self, expect: &Expect) -> Result<Option<Message>, Refusal> {
        let limit = expect.agent_bytes.unwrap_or(0);
        let Some(json) = self.next_block(1, AGENT, limit)? else {
            return Ok(None);
        };
        let message = json::read(&json).map_err(|error| unreadable(AGENT, &error))?;
        Ok(Some(Message::Agent(message)))
    }

    fn next_block(
        &mut self,
        at: usize,
        block: &'static str,
        limit: u32,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(length) = i32_at(self.rest(), at) else {
            return Ok(None);
        };
        let length =
            u32::try_from(length).map_err(|_| Refusal::NegativeLength { block, length })?;
        if length > limit {
            return Err(Refusal::TooLong {
                block,
                length,
                limit,
            });
        }
        let begin = at + 4;
        let Some(body) = self.rest().get(begin..begin + length as usize) else {
            return Ok(None);
        };
        let body = body.to_vec();
        self.start += begin + body.len();
        Ok(Some(body))
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Name of the extension's documents in refusals.
pub(super) const AGENT: &str = "agent message";

/// The state byte and the length before a document.
const HEADER_BYTES: usize = 5;
/// Memory kept for the next message, bytes.
const KEPT_CAPACITY: usize = 16 * 1024;

pub(super) fn unreadable(block: &'static str, error: &serde_json::Error) -> Refusal {
    Refusal::Unreadable {
        block,
        error: error.to_string(),
    }
}

/// Appends a length and the document.
pub(super) fn push_block(out: &mut Vec<u8>, json: &[u8]) {
    out.extend_from_slice(&u32::try_from(json.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(json);
}

/// Appends one `AGENT` frame.
pub(super) fn push_agent(out: &mut Vec<u8>, message: &impl Serialize) {
    if let Ok(json) = serde_json::to_vec(message) {
        out.push(State::Agent.byte());
        push_block(out, &json);
    }
}

fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|word| i32::from_be_bytes(*word))
}
