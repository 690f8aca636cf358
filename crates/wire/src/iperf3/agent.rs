// SPDX-License-Identifier: MIT OR Apache-2.0
//! `AGENT` frames alone on a stream of bytes: the conversation with an agent over pipes, ssh or a control connection
//! without a test.

use serde::Serialize;

use super::control::{Expect, Inbox, Message, Refusal, push_agent};
use super::state::State;
use crate::json::Raw;

/// Frames received and not yet read.
#[derive(Debug)]
pub struct AgentFrames {
    inbox: Inbox,
    limit_bytes: u32,
}

impl AgentFrames {
    /// Takes no document longer than `limit_bytes`.
    #[must_use]
    pub fn new(limit_bytes: u32) -> Self {
        Self {
            inbox: Inbox::default(),
            limit_bytes,
        }
    }

    /// Takes bytes as they come.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.inbox.feed(bytes, self.limit_bytes);
    }

    /// Memory held for frames that are not yet taken, bytes; bounded by the longest frame.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.inbox.retained_bytes()
    }

    /// The next whole document; `None` if more bytes are needed.
    ///
    /// # Errors
    /// The bytes are not such a frame, too long, or not JSON: nothing after them can be read.
    pub fn take(&mut self) -> Result<Option<Raw>, Refusal> {
        match self.inbox.next(&self.expect())? {
            None => Ok(None),
            Some(Message::Agent(message)) => Ok(Some(message)),
            Some(Message::State(state)) => Err(Refusal::UnexpectedMessage {
                state,
                phase: PHASE,
            }),
            // Neither is expected, so neither is ever read.
            Some(Message::Block(_) | Message::Error(..)) => Ok(None),
        }
    }

    /// Whether a frame has begun and is not whole.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        !self.inbox.is_empty()
    }

    fn expect(&self) -> Expect {
        Expect {
            phase: PHASE,
            block: None,
            interruptions: &[],
            agent_bytes: Some(self.limit_bytes),
            errors: false,
        }
    }
}

/// Where the first frame of at most `limit_bytes` begins after other text: the echo and the prompt of a console.
#[must_use]
pub fn first_frame(bytes: &[u8], limit_bytes: u32) -> Option<usize> {
    let begins = |head: &[u8]| match *head {
        [kind, a, b, c, d, b'{'] if kind == State::Agent.byte() => {
            (2..=limit_bytes).contains(&u32::from_be_bytes([a, b, c, d]))
        }
        _ => false,
    };
    bytes.windows(6).position(begins)
}

/// A document as it travels.
#[must_use]
pub fn agent_frame(message: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_agent(&mut bytes, message);
    bytes
}

const PHASE: &str = "waiting for an agent's message";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};
    use serde_json::{Value, json};

    #[test]
    fn a_frame_is_found_after_what_a_console_echoes() {
        let console = b"login: root\r\n# exec linerate agent --stdio\r\n ";
        let frame = agent_frame(&json!({"type": "hello"}));
        let all = [console.as_slice(), &frame].concat();
        assert_eq!(first_frame(&all, 1000), Some(console.len()));
        assert_eq!(first_frame(console, 1000), None);
        assert_eq!(first_frame(&all, 3), None, "longer than allowed");
    }

    #[test]
    fn documents_come_through_in_any_pieces() {
        let sent = [
            json!({"type": "read", "id": 1}),
            json!([1, "ä"]),
            json!(null),
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(agent_frame).collect();
        for piece_bytes in [1, 2, 7, bytes.len()] {
            let mut frames = AgentFrames::new(1000);
            let mut read = Vec::new();
            for piece in bytes.chunks(piece_bytes) {
                frames.feed(piece);
                while let Some(value) = frames.take().unwrap() {
                    read.push(value.read::<Value>().unwrap());
                }
            }
            assert_eq!(read, sent);
            assert!(!frames.is_torn());
        }
    }

    #[test]
    fn a_frame_cut_short_is_torn_and_not_read() {
        let bytes = agent_frame(&json!("whole"));
        let mut frames = AgentFrames::new(1000);
        frames.feed(&bytes[..bytes.len() - 1]);
        assert_eq!(frames.take(), Ok(None));
        assert!(frames.is_torn());
    }

    /// A shell that greets, a stock server, a length that would fill the memory.
    #[test]
    fn what_is_no_frame_is_refused_at_once() {
        for hostile in [
            &b"Welcome to host\n"[..],
            &[10],
            &[0xFF],
            &[32, 0x7F, 0xFF, 0xFF, 0xFF],
            &[32, 0xFF, 0xFF, 0xFF, 0xFF],
            b"\x20\0\0\0\x02{]",
            b" motd begins with a space",
        ] {
            let mut frames = AgentFrames::new(1000);
            frames.feed(hostile);
            assert!(frames.take().is_err(), "{hostile:?}");
        }
    }

    proptest! {
        /// Whatever comes is read, refused or waited for, and ends.
        #[test]
        fn no_bytes_break_it(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..16)) {
            let mut frames = AgentFrames::new(64);
            'all: for piece in pieces {
                frames.feed(&piece);
                loop {
                    match frames.take() {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(_) => break 'all,
                    }
                }
            }
        }
    }
}
