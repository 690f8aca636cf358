// SPDX-License-Identifier: MIT OR Apache-2.0
//! How densely datagrams arrive, and how a receiver waits for the next ones.
//!
//! To sleep saves wake-ups, but a processor may take long to wake: half a millisecond where a hypervisor has it. A flow that
//! fills the socket's buffer in not much more time loses datagrams meanwhile, so its receiver does not sleep, unless others
//! need its processor: the scheduler prefers a thread that wakes, not one that looks again and again.

use std::time::Duration;

/// How to wait for the next batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Sleep until one arrives.
    Sleep,
    /// Let datagrams gather for this long.
    Gather(Duration),
    /// Do not sleep: look again at once.
    Look,
}

/// What recent batches brought.
#[derive(Debug, Default)]
pub(super) struct Density {
    linger: Duration,
    /// The socket's buffer; 0: never look without sleeping.
    buffer_bytes: usize,
    last_ns: u64,
    /// Datagrams come close together, and the last batch emptied the queue.
    is_dense: bool,
    /// The begin of the current period, and what arrived in it.
    period_ns: u64,
    bytes: usize,
    is_flood: bool,
    /// Another program needed the processor: until then.
    crowded_ns: u64,
}

impl Density {
    pub(super) fn new(linger: Duration, buffer_bytes: usize) -> Self {
        Self {
            linger,
            buffer_bytes,
            ..Self::default()
        }
    }

    /// Whether it is of any use to note batches.
    pub(super) fn is_wanted(&self) -> bool {
        !self.linger.is_zero() || self.buffer_bytes > 0
    }

    /// A batch of `bytes` arrived at `now_ns`; `is_all`: it emptied the queue.
    pub(super) fn note(&mut self, now_ns: u64, bytes: usize, is_all: bool) {
        let soon = now_ns.saturating_sub(self.last_ns) < DENSE_NS;
        self.is_dense = soon && bytes > 0 && is_all;
        self.last_ns = now_ns;
        self.bytes += bytes;
        let period_ns = now_ns.saturating_sub(self.period_ns);
        if period_ns >= DENSE_NS {
            // Of a longer period, what arrived in DENSE_NS.
            let bytes = self.bytes as u64 * DENSE_NS / period_ns;
            self.is_flood = bytes > self.buffer_bytes as u64 / FLOOD_PARTS && self.buffer_bytes > 0;
            (self.period_ns, self.bytes) = (now_ns, 0);
        }
    }

    /// The processor was offered to others, and came back at `now_ns` after `taken_ns`.
    pub(super) fn yielded(&mut self, now_ns: u64, taken_ns: u64) {
        if taken_ns > OTHERS_NS {
            self.crowded_ns = now_ns + CROWDED_NS;
        }
    }

    pub(super) fn waiting(&self) -> Waiting {
        let is_alone = self.last_ns >= self.crowded_ns;
        match (self.is_flood && is_alone, self.is_dense) {
            (true, _) => Waiting::Look,
            (false, true) if !self.linger.is_zero() => Waiting::Gather(self.linger),
            (false, _) => Waiting::Sleep,
        }
    }
}

/// Batches closer than this are a stream of datagrams, not single ones.
const DENSE_NS: u64 = 1_000_000;
/// A flow that fills one such part of the buffer in `DENSE_NS` is a flood. (A buffer also holds what the kernel needs for
/// each message.)
const FLOOD_PARTS: u64 = 4;
/// A yield that takes longer let another program run.
const OTHERS_NS: u64 = 20_000;
/// For how long it is taken to need the processor.
const CROWDED_NS: u64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const LINGER: Duration = Duration::from_micros(200);
    const BUFFER: usize = 4 << 20;

    /// Batches of `bytes` every 100 us for 5 ms.
    fn after(bytes: usize, buffer_bytes: usize, linger: Duration) -> Density {
        let mut density = Density::new(linger, buffer_bytes);
        (1..=50).for_each(|at| density.note(at * 100_000, bytes, true));
        density
    }

    #[test]
    fn a_flow_that_fills_the_buffer_soon_is_not_slept_on() {
        // 2 MiB and 0.5 MiB per millisecond.
        assert_eq!(after(2 << 17, BUFFER, LINGER).waiting(), Waiting::Look);
        let slow = after(1 << 16, BUFFER, LINGER).waiting();
        assert_eq!(slow, Waiting::Gather(LINGER));
        let unknown = after(2 << 17, 0, LINGER).waiting();
        assert_eq!(unknown, Waiting::Gather(LINGER));
        let at_once = after(1 << 16, BUFFER, Duration::ZERO).waiting();
        assert_eq!(at_once, Waiting::Sleep);
    }

    #[test]
    fn the_end_of_a_flood_is_noticed() {
        let mut density = after(2 << 17, BUFFER, LINGER);
        (1..=25).for_each(|at| density.note(5_000_000 + at * 100_000, 0, true));
        assert_eq!(density.waiting(), Waiting::Sleep);
    }

    #[test]
    fn where_others_need_the_processor_it_sleeps_for_a_while() {
        let mut density = after(2 << 17, BUFFER, LINGER);
        density.yielded(5_000_000, 1_000);
        assert_eq!(density.waiting(), Waiting::Look);
        density.yielded(5_000_000, 500_000);
        density.note(5_100_000, 2 << 17, true);
        assert_eq!(density.waiting(), Waiting::Gather(LINGER));
        (52..=1100).for_each(|at| density.note(at * 100_000, 2 << 17, true));
        assert_eq!(density.waiting(), Waiting::Look);
    }

    #[test]
    fn single_datagrams_are_taken_at_once() {
        let mut density = Density::new(LINGER, BUFFER);
        (1..=5).for_each(|at| density.note(at * 10_000_000, 1448, true));
        assert_eq!(density.waiting(), Waiting::Sleep);
        density.note(50_100_000, 1448, false);
        assert_eq!(density.waiting(), Waiting::Sleep, "more are there");
    }
}
