// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a session is driven, at either end: no socket, no clock.
//!
//! Feed what was read; take events until there is none, acting on each before taking the next; write the output.
//! Times are nanoseconds of one monotonic clock.

/// One end of a control connection.
pub trait Session {
    /// What the session reports.
    type Event;

    /// Takes bytes that were read.
    fn feed(&mut self, bytes: &[u8], now_ns: u64);

    /// Notes that the peer closed its direction.
    fn closed(&mut self, now_ns: u64);

    /// Returns everything to write now, in one piece.
    fn poll_output(&mut self) -> Option<Vec<u8>>;

    /// Returns the next event. Act on it before taking the next.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns the time at which to call [`on_timeout`](Self::on_timeout).
    fn poll_timeout(&self) -> Option<u64>;

    /// Checks the deadlines; returns the last event if one has passed.
    fn on_timeout(&mut self, now_ns: u64) -> Option<Self::Event>;

    /// Returns the memory held for what was received and is not yet an event, bytes. It is bounded by the longest
    /// document that the session accepts, whatever the peer sends.
    fn retained_bytes(&self) -> usize;
}

/// Why a message will not come.
#[derive(Clone, Copy)]
pub(super) enum Missing {
    Timeout,
    Closed,
}

/// Implements [`Session`] for an end with a `link` and these methods: `most_bytes` is the longest document that is accepted,
/// `expect` returns what may come next, `accept` acts
/// on a whole message, `refuse` and `give_up` end the session because of what came or did not.
macro_rules! driven {
    ($session:ty, $event:ty) => {
        impl Session for $session {
            type Event = $event;

            fn feed(&mut self, bytes: &[u8], now_ns: u64) {
                self.link.feed(bytes, self.most_bytes(), now_ns);
            }

            fn retained_bytes(&self) -> usize {
                self.link.inbox.retained_bytes()
            }

            fn closed(&mut self, now_ns: u64) {
                self.link.end(now_ns);
            }

            fn poll_output(&mut self) -> Option<Vec<u8>> {
                self.link.poll_output()
            }

            fn poll_event(&mut self) -> Option<$event> {
                loop {
                    let expect = self.expect()?;
                    let event = match self.link.next(&expect) {
                        Ok(Some(message)) => self.accept(message),
                        Ok(None) if self.link.inbox.has_ended() => {
                            Some(self.give_up(Missing::Closed))
                        }
                        Ok(None) => return None,
                        Err(reason) => Some(self.refuse(reason)),
                    };
                    if event.is_some() {
                        return event;
                    }
                }
            }

            fn poll_timeout(&self) -> Option<u64> {
                self.link.poll_timeout()
            }

            fn on_timeout(&mut self, now_ns: u64) -> Option<$event> {
                let overdue = self.link.overdue(now_ns);
                overdue.then(|| self.give_up(Missing::Timeout))
            }
        }
    };
}

pub(super) use driven;
