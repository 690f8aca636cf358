// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spacing of arrivals: the gaps between packets, and the most bytes in any millisecond.
//!
//! Input are the kernel's receive timestamps in order of arrival. A batch that the kernel delivered as one (GRO)
//! has one timestamp: its packets count as simultaneous. The cost is O(1) per packet, amortised; only
//! [`Spacing::new`] allocates.

use std::collections::VecDeque;

use crate::histogram::Histogram;

/// The spacing of one flow.
#[derive(Debug, Clone)]
pub struct Spacing {
    between: Histogram,
    last_ns: Option<u64>,
    window: VecDeque<Batch>,
    window_bytes: u64,
    window_bytes_max: u64,
}

impl Spacing {
    /// A spacing without arrivals.
    pub fn new() -> Self {
        Self {
            between: Histogram::new(),
            last_ns: None,
            window: VecDeque::with_capacity(BATCHES),
            window_bytes: 0,
            window_bytes_max: 0,
        }
    }

    /// Records one packet of `bytes` (of any layer, always the same) at `at_ns`.
    #[inline]
    pub fn arrive(&mut self, at_ns: u64, bytes: u32) {
        self.arrive_batch(at_ns, 1, u64::from(bytes));
    }

    /// Records `packets` with `bytes` in total at one time. A time before the last one (the clock was stepped
    /// back) counts as the last one.
    #[inline]
    pub fn arrive_batch(&mut self, at_ns: u64, packets: u32, bytes: u64) {
        let last_ns = self.last_ns.unwrap_or(at_ns);
        let at_ns = at_ns.max(last_ns);
        if packets > 0 {
            let first = u32::from(self.last_ns.replace(at_ns).is_some());
            self.between.record_n(at_ns - last_ns, first);
            self.between.record_n(0, packets - 1);
            self.slide(at_ns, bytes);
        }
    }

    /// The gaps between consecutive arrivals.
    pub fn between(&self) -> &Histogram {
        &self.between
    }

    /// The most bytes in any half-open window of 1 ms, `(t − 1 ms, t]`.
    pub fn max_bytes_in_1ms(&self) -> u64 {
        self.window_bytes_max
    }

    fn slide(&mut self, at_ns: u64, bytes: u64) {
        while let Some(oldest) = self.window.front().filter(|b| at_ns - b.at_ns >= WINDOW_NS) {
            self.window_bytes -= oldest.bytes;
            self.window.pop_front();
        }
        self.window_bytes += bytes;
        self.window_bytes_max = self.window_bytes_max.max(self.window_bytes);
        self.remember(at_ns, bytes);
    }

    fn remember(&mut self, at_ns: u64, bytes: u64) {
        let full = self.window.len() >= BATCHES;
        match self.window.back_mut() {
            Some(newest) if full || newest.at_ns == at_ns => {
                newest.at_ns = at_ns;
                newest.bytes += bytes;
            }
            _ => self.window.push_back(Batch { at_ns, bytes }),
        }
    }
}

impl Default for Spacing {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Clone, Copy)]
struct Batch {
    at_ns: u64,
    bytes: u64,
}

const WINDOW_NS: u64 = 1_000_000;
/// Different timestamps kept of one window. With more (over four million per second), two are merged, and the
/// maximum may be too high, never too low.
const BATCHES: usize = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive_max(arrivals: &[(u64, u32)]) -> u64 {
        let until = |end: u64| {
            let inside = |at: u64| at <= end && at + WINDOW_NS > end;
            let bytes = arrivals
                .iter()
                .filter(|(at, _)| inside(*at))
                .map(|(_, b)| u64::from(*b));
            bytes.sum()
        };
        arrivals.iter().map(|(at, _)| until(*at)).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_fullest_millisecond_is_that_of_the_naive_count(steps in prop::collection::vec((0..400_000_u64, 0..9000_u32), 1..200)) {
            let mut spacing = Spacing::new();
            let mut at = 0;
            let mut arrivals = Vec::new();
            for (step, bytes) in steps {
                at += step * (step % 3);
                arrivals.push((at, bytes));
                spacing.arrive(at, bytes);
            }
            prop_assert_eq!(spacing.max_bytes_in_1ms(), naive_max(&arrivals));
            prop_assert_eq!(spacing.between().len(), arrivals.len() as u64 - 1);
        }
    }

    #[test]
    fn an_even_flow_has_its_rate_in_every_millisecond() {
        let mut spacing = Spacing::new();
        (0..10_000).for_each(|n| spacing.arrive(n * 10_000, 1000));
        assert_eq!(spacing.max_bytes_in_1ms(), 100_000);
        let between = spacing.between().percentiles().unwrap();
        assert_eq!((between.min, between.max), (10_000, 10_000));
    }

    #[test]
    fn a_batch_is_simultaneous() {
        let mut spacing = Spacing::new();
        spacing.arrive_batch(0, 16, 16_000);
        spacing.arrive_batch(100_000, 16, 16_000);
        assert_eq!(spacing.max_bytes_in_1ms(), 32_000);
        let between = spacing.between().percentiles().unwrap();
        assert_eq!(
            (spacing.between().len(), between.p50, between.max),
            (31, 0, 100_000)
        );
    }

    #[test]
    fn a_clock_stepped_back_neither_panics_nor_invents_a_gap() {
        let mut spacing = Spacing::new();
        spacing.arrive(1_000, 100);
        spacing.arrive(10, 100);
        assert_eq!(spacing.between().percentiles().unwrap().max, 0);
    }

    #[test]
    fn too_many_timestamps_never_lower_the_maximum() {
        let mut spacing = Spacing::new();
        let before = spacing.window.capacity();
        (0..20_000).for_each(|n| spacing.arrive(n * 100, 1));
        assert_eq!(spacing.window.capacity(), before);
        assert!(spacing.max_bytes_in_1ms() >= 10_000);
    }
}
