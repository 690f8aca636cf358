// SPDX-License-Identifier: MIT OR Apache-2.0
//! When latency probes are due, and which times their answers stand for.
//!
//! One probe is due in each period, at a random instant of it (stratified sampling, RFC 2330 §11.1.1 in spirit): no
//! phase is preferred, so that timer ticks and other periodic work are met as often as they occur. A prober without
//! the processor sends late. Its probe then stands for all that were due by then, and the answer is counted from each
//! scheduled time: otherwise the test would omit exactly what was slow.

use crate::rng::Rng;
use std::ops::Range;

/// The probes of one test.
#[derive(Debug, Clone)]
pub struct Schedule {
    start_ns: u64,
    period_ns: u64,
    seed: u64,
    /// The first period that no probe stands for.
    open: u64,
    /// The next period.
    next: u64,
}

impl Schedule {
    /// Probes from `start_ns` on.
    pub fn new(start_ns: u64, period_ns: u64, seed: u64) -> Self {
        Self {
            start_ns,
            period_ns: period_ns.max(1),
            seed,
            open: 0,
            next: 0,
        }
    }

    /// When the next probe is due.
    pub fn due_ns(&self) -> u64 {
        self.due_in(self.next)
    }

    /// A probe is sent at `now_ns`; returns the periods that it stands for.
    pub fn sent(&mut self, now_ns: u64) -> Range<u64> {
        self.missed(now_ns);
        let open = std::mem::replace(&mut self.open, self.next);
        // After a suspend only the last of them.
        open.max(self.next.saturating_sub(MOST_PERIODS))..self.next
    }

    /// No probe could be sent at `now_ns`: the next one stands for its period, too.
    pub fn missed(&mut self, now_ns: u64) {
        let now = now_ns.saturating_sub(self.start_ns) / self.period_ns;
        let passed = now + u64::from(self.due_in(now) <= now_ns);
        self.next = passed.max(self.next + 1);
    }

    /// When the probe of `period` was due.
    pub fn due_in(&self, period: u64) -> u64 {
        let phase_ns = Rng::new(self.seed ^ period).below(self.period_ns);
        let from_ns = self.period_ns.saturating_mul(period);
        self.start_ns
            .saturating_add(from_ns)
            .saturating_add(phase_ns)
    }
}

/// A probe stands for at most this many periods.
const MOST_PERIODS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD_NS: u64 = 10_000_000;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However late the prober runs: each period has a probe that stands for it, exactly one.
        #[test]
        fn each_period_is_counted_once(
            start_ns in 0..u64::MAX / 2,
            seed in any::<u64>(),
            steps in prop::collection::vec((prop_oneof![0..50_000_u64, 0..200_000_000_u64], prop::bool::weighted(0.9)), 1..200),
        ) {
            let mut schedule = Schedule::new(start_ns, PERIOD_NS, seed);
            let (mut counted, mut now_ns, mut open) = (0, start_ns, 0);
            for (late_ns, accepted) in steps {
                let due_ns = schedule.due_ns();
                now_ns = now_ns.max(due_ns) + late_ns;
                if !accepted {
                    schedule.missed(now_ns);
                    continue;
                }
                let periods = schedule.sent(now_ns);
                prop_assert_eq!(periods.start, open);
                prop_assert!(periods.clone().all(|period| schedule.due_in(period) <= now_ns));
                open = periods.end;
                counted += periods.end - periods.start;
                prop_assert!(schedule.due_ns() > now_ns);
                prop_assert!(schedule.due_ns() <= now_ns + 2 * PERIOD_NS);
            }
            prop_assert_eq!(counted, open);
        }

        /// No probe is due twice in a period, and their phases are spread over all of it.
        #[test]
        fn phases_are_random(seed in any::<u64>()) {
            let schedule = Schedule::new(0, PERIOD_NS, seed);
            let mut tenths = [0; 10];
            for period in 0..1000 {
                let due_ns = schedule.due_in(period);
                prop_assert_eq!(due_ns / PERIOD_NS, period);
                tenths[(due_ns % PERIOD_NS * 10 / PERIOD_NS) as usize] += 1;
            }
            // 100 each; ten standard deviations.
            prop_assert!(tenths.iter().all(|&count| (5..=195).contains(&count)), "{tenths:?}");
        }
    }

    #[test]
    fn a_stall_is_seen_from_every_time_that_it_covers() {
        let mut schedule = Schedule::new(0, PERIOD_NS, 7);
        let periods = schedule.sent(20 * PERIOD_NS - 1);
        assert_eq!(periods, 0..20);
        assert_eq!(schedule.sent(20 * PERIOD_NS + PERIOD_NS - 1), 20..21);
    }
}
