// SPDX-License-Identifier: MIT OR Apache-2.0
//! The offset and the drift of two clocks, from probes that go both ways (RFC 5905 §8).
//!
//! Each probe gives the offset within half of its round trip. Between the quickest probe of the first third of the
//! test and that of the last one, the clocks drift at a constant rate; where the two agree within their errors no
//! drift is known, and none is assumed.

/// The growth of a transit time by the drift of the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drift {
    /// The instant, on the receiver's clock, at which it is zero.
    pub at_ns: u64,
    /// Nanoseconds a second.
    pub ppb: i64,
}

/// The far clock less ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockOffset {
    /// The instant, on our clock, at which it was `offset_ns`.
    pub at_ns: u64,
    /// The far clock less ours.
    pub offset_ns: i64,
    /// The true offset is within ± this, at any time of the test.
    pub error_ns: u64,
    /// How much the far clock gains on ours, nanoseconds a second; 0 if less than the probes show.
    pub ppb: i64,
}

/// Probes of one test, the quickest of each stretch of time.
#[derive(Debug, Clone, Default)]
pub struct OffsetLog {
    quickest: Vec<Option<Reading>>,
    start_ns: u64,
    last_ns: u64,
    width_ns: u64,
}

/// One probe.
#[derive(Debug, Clone, Copy)]
struct Reading {
    at_ns: u64,
    offset_ns: i64,
    error_ns: u64,
}

impl Drift {
    /// What has been added by `at_ns`.
    pub fn grown_ns(self, at_ns: u64) -> i64 {
        let since_ns = i128::from(at_ns) - i128::from(self.at_ns);
        clamped(since_ns.saturating_mul(self.ppb.into()) / 1_000_000_000)
    }

    /// What `span_ns` adds, whatever its sign.
    pub fn over_ns(self, span_ns: u64) -> u64 {
        let ns = u128::from(self.ppb.unsigned_abs()) * u128::from(span_ns) / 1_000_000_000;
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

impl ClockOffset {
    /// The drift of what we receive.
    pub fn drift_here(&self) -> Drift {
        Drift {
            at_ns: self.at_ns,
            ppb: self.ppb.saturating_neg(),
        }
    }

    /// The drift of what the far end receives, on its clock.
    pub fn drift_there(&self) -> Drift {
        Drift {
            at_ns: self.at_ns.saturating_add_signed(self.offset_ns),
            ppb: self.ppb,
        }
    }
}

impl OffsetLog {
    /// Records a probe that was answered at `at_ns` of our clock.
    pub fn record(&mut self, at_ns: u64, offset_ns: i64, error_ns: u64) {
        if self.quickest.is_empty() {
            (self.start_ns, self.width_ns) = (at_ns, FIRST_WIDTH_NS);
        }
        self.last_ns = self.last_ns.max(at_ns);
        let slot = self.slot(at_ns);
        if self.quickest.len() <= slot {
            self.quickest.resize(slot + 1, None);
        }
        let reading = Reading {
            at_ns,
            offset_ns,
            error_ns,
        };
        if let Some(known) = self.quickest.get_mut(slot) {
            *known = quicker(*known, Some(reading));
        }
    }

    /// What the probes show together; `None` without one.
    pub fn offset(&self) -> Option<ClockOffset> {
        let readings = || self.quickest.iter().flatten();
        let quickest = readings().min_by_key(|reading| reading.error_ns)?;
        let (first, last) = (readings().next()?.at_ns, readings().next_back()?.at_ns);
        let third_ns = last.saturating_sub(first) / 3;
        let early = readings().filter(|reading| reading.at_ns <= first + third_ns);
        let late = readings().filter(|reading| reading.at_ns >= last - third_ns);
        let early = early.min_by_key(|reading| reading.error_ns)?;
        let late = late.rev().min_by_key(|reading| reading.error_ns)?;
        let whole = (self.start_ns, self.last_ns);
        Some(drifting(early, late, whole).unwrap_or_else(|| quickest.steady(early, late)))
    }

    fn slot(&mut self, at_ns: u64) -> usize {
        let since_ns = at_ns.saturating_sub(self.start_ns);
        while since_ns / self.width_ns >= SLOTS {
            let pairs = self.quickest.chunks(2);
            self.quickest = pairs
                .map(|pair| pair.iter().copied().fold(None, quicker))
                .collect();
            self.width_ns = self.width_ns.saturating_mul(2);
        }
        usize::try_from(since_ns / self.width_ns).unwrap_or(0)
    }
}

impl Reading {
    /// Without a drift that the probes show: what two of them differ in adds to the error.
    fn steady(&self, early: &Self, late: &Self) -> ClockOffset {
        let apart_ns = early.offset_ns.abs_diff(late.offset_ns);
        ClockOffset {
            at_ns: self.at_ns,
            offset_ns: self.offset_ns,
            error_ns: self.error_ns.saturating_add(apart_ns),
            ppb: 0,
        }
    }
}

/// The line through two probes that differ by more than their errors; the test begins and ends at `whole`.
fn drifting(early: &Reading, late: &Reading, (first, last): (u64, u64)) -> Option<ClockOffset> {
    let gained_ns = i128::from(late.offset_ns) - i128::from(early.offset_ns);
    let known_ns = early.error_ns.saturating_add(late.error_ns);
    let between_ns = late.at_ns.saturating_sub(early.at_ns);
    if between_ns == 0 || gained_ns.unsigned_abs() <= u128::from(known_ns) {
        return None;
    }
    let beyond = |span_ns: u64| {
        let ns = u128::from(known_ns) * u128::from(span_ns) / u128::from(between_ns);
        u64::try_from(ns).unwrap_or(u64::MAX)
    };
    let before_ns = beyond(early.at_ns.saturating_sub(first));
    let after_ns = beyond(last.saturating_sub(late.at_ns));
    Some(ClockOffset {
        at_ns: early.at_ns,
        offset_ns: early.offset_ns,
        error_ns: (early.error_ns.saturating_add(before_ns))
            .max(late.error_ns.saturating_add(after_ns)),
        ppb: clamped(gained_ns.saturating_mul(1_000_000_000) / i128::from(between_ns)),
    })
}

fn quicker(one: Option<Reading>, other: Option<Reading>) -> Option<Reading> {
    let both = one.into_iter().chain(other);
    both.min_by_key(|reading| reading.error_ns)
}

fn clamped(ns: i128) -> i64 {
    i64::try_from(ns.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or(0)
}

const SLOTS: u64 = 64;
const FIRST_WIDTH_NS: u64 = 50_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Probes every 10 ms: the far clock gains `ppb` from `offset_ns` on, and each way takes as long as it likes.
    fn log(offset_ns: i64, ppb: i64, ways: &[(u64, u64)]) -> OffsetLog {
        let mut log = OffsetLog::default();
        for (n, &(there_ns, back_ns)) in (0..).zip(ways) {
            let at_ns = 1_000_000_000_000 + n * 10_000_000;
            let truth = offset_at(offset_ns, ppb, at_ns);
            let skewed_ns = (there_ns.cast_signed() - back_ns.cast_signed()) / 2;
            log.record(at_ns, truth + skewed_ns, (there_ns + back_ns).div_ceil(2));
        }
        log
    }

    fn offset_at(offset_ns: i64, ppb: i64, at_ns: u64) -> i64 {
        offset_ns
            + Drift {
                at_ns: 1_000_000_000_000,
                ppb,
            }
            .grown_ns(at_ns)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Wherever the probes prove a drift, the line is right within the reported error all the time.
        #[test]
        fn a_proven_drift_is_right_within_the_error(
            offset_ns in -1_000_000_000_000..1_000_000_000_000_i64,
            ppb in -500_000..500_000_i64,
            ways in prop::collection::vec((1_000..3_000_000_u64, 1_000..3_000_000_u64), 2..3000),
        ) {
            let found = log(offset_ns, ppb, &ways).offset().unwrap();
            prop_assume!(found.ppb != 0);
            for n in [0, ways.len() as u64 - 1] {
                let at_ns = 1_000_000_000_000 + n * 10_000_000;
                let line = found.offset_ns + Drift { at_ns: found.at_ns, ppb: found.ppb }.grown_ns(at_ns);
                let wrong_ns = line.abs_diff(offset_at(offset_ns, ppb, at_ns));
                prop_assert!(wrong_ns <= found.error_ns + 64, "{wrong_ns} {found:?}");
            }
        }
    }

    /// The error also holds where the probes at both ends of the test were too slow to be kept.
    #[test]
    fn the_error_is_that_of_the_whole_test() {
        let mut ways = vec![(900_000, 900_000); 800];
        (ways[100], ways[700]) = ((20_000, 10_000), (10_000, 20_000));
        (ways[15], ways[785]) = ((600_000, 600_000), (600_000, 600_000));
        let found = log(0, 50_000, &ways).offset().unwrap();
        let known_ns = 15_000 + 15_000;
        assert_eq!(found.error_ns, 15_000 + known_ns * 100 / 600);
    }

    #[test]
    fn fifty_ppm_are_found_within_two_seconds_on_a_quiet_link() {
        let found = log(5, 50_000, &[(20_000, 18_000); 200]).offset().unwrap();
        assert!(found.ppb.abs_diff(50_000) < 100, "{found:?}");
        assert!(found.error_ns < 60_000);
    }

    #[test]
    fn what_the_probes_do_not_show_is_not_removed() {
        let mut ways = vec![(900_000, 20_000); 300];
        ways[150] = (15_000, 15_000);
        let found = log(-7_000, 0, &ways).offset().unwrap();
        assert_eq!((found.offset_ns, found.ppb), (-7_000, 0));
        assert_eq!(found.error_ns, 15_000);
    }

    #[test]
    fn each_end_sees_the_drift_with_its_own_sign() {
        let offset = ClockOffset {
            at_ns: 1000,
            offset_ns: -400,
            error_ns: 0,
            ppb: 50,
        };
        assert_eq!(
            offset.drift_here(),
            Drift {
                at_ns: 1000,
                ppb: -50
            }
        );
        assert_eq!(
            offset.drift_there(),
            Drift {
                at_ns: 600,
                ppb: 50
            }
        );
    }

    #[test]
    fn a_peer_may_claim_anything() {
        let mut log = OffsetLog::default();
        assert_eq!(log.offset(), None);
        for (at_ns, offset_ns) in [(0, i64::MIN), (1 << 50, i64::MAX), (u64::MAX, 0), (3, 1)] {
            log.record(at_ns, offset_ns, 0);
        }
        assert!(log.quickest.len() <= 64);
        assert!(log.offset().is_some());
    }
}
