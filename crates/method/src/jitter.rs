// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interarrival jitter of RFC 3550 §6.4.1: J += (|D| − J) / 16, where D is the difference of the
//! transit times of two consecutive arrivals.
//!
//! As in the RFC, the order is that of arrival, not of sequence, so lost packets need no special case. The
//! clocks of both ends may differ by any constant, which cancels in D.

/// The running estimate of one flow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jitter {
    last_transit_ns: Option<i64>,
    estimate_ns: Option<f64>,
}

impl Jitter {
    /// An estimate without packets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the transit time (arrival − sending time, in ns, with any constant offset) of the next arrival.
    #[inline]
    pub fn record(&mut self, transit_ns: i64) {
        if let Some(last) = self.last_transit_ns.replace(transit_ns) {
            let difference = transit_ns.abs_diff(last) as f64;
            let estimate = self.estimate_ns.unwrap_or(0.0);
            self.estimate_ns = Some(estimate + (difference - estimate) / GAIN_DIVISOR);
        }
    }

    /// Records `packets` arrivals in succession with the same transit time.
    pub fn record_n(&mut self, transit_ns: i64, packets: u32) {
        (0..packets).for_each(|_| self.record(transit_ns));
    }

    /// The estimate in nanoseconds; `None` before two packets have arrived.
    pub fn jitter_ns(&self) -> Option<f64> {
        self.estimate_ns
    }
}

/// RFC 3550 §6.4.1: the gain 1/16 gives a good noise reduction at a reasonable rate of convergence.
const GAIN_DIVISOR: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_packets_give_a_sixteenth_of_their_difference() {
        let mut jitter = Jitter::new();
        assert_eq!(jitter.jitter_ns(), None);
        jitter.record(-5_000);
        jitter.record(11_000);
        assert_eq!(jitter.jitter_ns(), Some(1_000.0));
    }

    #[test]
    fn a_constant_transit_has_none_whatever_the_clock_offset() {
        let mut jitter = Jitter::new();
        for _ in 0..1000 {
            jitter.record(i64::MIN / 2);
        }
        assert_eq!(jitter.jitter_ns(), Some(0.0));
    }

    #[test]
    fn an_alternating_transit_converges_to_its_step() {
        let mut jitter = Jitter::new();
        for n in 0..1000 {
            jitter.record(if n % 2 == 0 { 0 } else { 40_000 });
        }
        let settled = jitter.jitter_ns().unwrap();
        assert!((settled - 40_000.0).abs() < 1e-6, "{settled}");
    }

    #[test]
    fn the_widest_step_does_not_overflow() {
        let mut jitter = Jitter::new();
        jitter.record(i64::MIN);
        jitter.record(i64::MAX);
        assert!(jitter.jitter_ns().unwrap() > 1e18);
    }
}
