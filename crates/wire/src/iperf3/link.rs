// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both sessions share: bytes in and out, and the two deadlines.

use super::control::{Expect, Inbox, Message, Refusal, Timeouts};

/// A session's side of its connection.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) inbox: Inbox,
    /// To be written.
    pub(super) out: Vec<u8>,
    pub(super) timeouts: Timeouts,
    open: bool,
    now_ns: u64,
    step_deadline_ns: Option<u64>,
    message_deadline_ns: Option<u64>,
}

impl Link {
    /// `out` is what is written first.
    pub(super) fn new(out: Vec<u8>, timeouts: Timeouts, now_ns: u64) -> Self {
        Self {
            inbox: Inbox::default(),
            out,
            timeouts,
            open: true,
            now_ns,
            step_deadline_ns: None,
            message_deadline_ns: None,
        }
    }

    /// Takes a piece of a conversation whose longest document has `most_bytes`.
    pub(super) fn feed(&mut self, bytes: &[u8], most_bytes: u32, now_ns: u64) {
        self.now_ns = now_ns;
        if self.open {
            self.inbox.feed(bytes, most_bytes);
        }
    }

    /// The peer closed its direction.
    pub(super) fn end(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.inbox.end();
    }

    pub(super) fn poll_output(&mut self) -> Option<Vec<u8>> {
        (!self.out.is_empty()).then(|| std::mem::take(&mut self.out))
    }

    /// The next whole message. When there is none, the clock runs for what has come of it.
    pub(super) fn next(&mut self, expect: &Expect) -> Result<Option<Message>, Refusal> {
        let message = self.inbox.next(expect)?;
        if message.is_some() {
            self.message_deadline_ns = None;
        } else if !self.inbox.has_ended() && !self.inbox.is_empty() {
            let deadline_ns = self.now_ns.saturating_add(self.timeouts.message_ns);
            self.message_deadline_ns.get_or_insert(deadline_ns);
        }
        Ok(message)
    }

    /// The peer's next step is awaited from `now_ns` on; `None`: for ever.
    pub(super) fn await_step(&mut self, wait_ns: Option<u64>, now_ns: u64) {
        self.now_ns = now_ns;
        self.step_deadline_ns = wait_ns.map(|wait_ns| now_ns.saturating_add(wait_ns));
    }

    pub(super) fn poll_timeout(&self) -> Option<u64> {
        let deadlines = [self.step_deadline_ns, self.message_deadline_ns];
        deadlines.into_iter().flatten().min()
    }

    /// Whether a deadline has passed.
    pub(super) fn overdue(&mut self, now_ns: u64) -> bool {
        self.now_ns = now_ns;
        self.poll_timeout()
            .is_some_and(|deadline_ns| deadline_ns <= now_ns)
    }

    /// The time of the last call.
    pub(super) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Stops reading and waiting; what is in `out` is still written.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.inbox.clear();
        self.step_deadline_ns = None;
        self.message_deadline_ns = None;
    }
}
