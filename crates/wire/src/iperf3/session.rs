// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a session is driven, at either end: no socket, no clock.
//!
//! Give it what was read; then take events until there is none, acting on each before the next is taken; then write
//! what it has to say. Times are nanoseconds of one monotonic clock.

/// One end of a control connection.
pub trait Session {
    /// What it reports.
    type Event;

    /// Takes bytes that were read.
    fn feed(&mut self, bytes: &[u8], now_ns: u64);

    /// The peer closed its direction.
    fn closed(&mut self, now_ns: u64);

    /// Everything to write now, in one piece.
    fn poll_output(&mut self) -> Option<Vec<u8>>;

    /// The next event. Act on it before taking the next.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// When to call [`on_timeout`](Self::on_timeout).
    fn poll_timeout(&self) -> Option<u64>;

    /// Tells that time has passed; the last event if it was too much.
    fn on_timeout(&mut self, now_ns: u64) -> Option<Self::Event>;
}
