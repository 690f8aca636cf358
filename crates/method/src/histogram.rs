// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histograms of nanoseconds with fixed memory: 1 ns to 1 hour at three significant digits.
//!
//! The memory (about 140 KiB, most of it never touched) is allocated once; recording does not
//! allocate and cannot fail. The smallest and the largest value are exact.

use hdrhistogram::Histogram as Hdr;
use linerate_model::output::Quantiles;

/// A distribution.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Hdr<u32>,
    min_ns: u64,
    max_ns: u64,
}

/// Percentiles by nearest rank, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    pub min: u64,
    pub p50: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
}

/// A bucket of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest value of the bucket in nanoseconds.
    pub from_ns: u64,
    /// Highest value of the bucket in nanoseconds.
    pub to_ns: u64,
    pub count: u64,
}

impl Histogram {
    /// An empty distribution.
    #[expect(
        clippy::expect_used,
        reason = "the bounds are constants that a test covers"
    )]
    pub fn new() -> Self {
        let counts = Hdr::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("valid bounds");
        Self {
            counts,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Records one value. Values above one hour count as one hour; `max` stays exact.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_n(value_ns, 1);
    }

    /// Records `count` equal values.
    #[inline]
    pub fn record_n(&mut self, value_ns: u64, count: u32) {
        if count > 0 {
            self.counts.saturating_record_n(value_ns, count);
            self.min_ns = self.min_ns.min(value_ns);
            self.max_ns = self.max_ns.max(value_ns);
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same fixed bounds, so every value of the one fits into the other.
        if self.counts.add(&other.counts).is_ok() {
            self.min_ns = self.min_ns.min(other.min_ns);
            self.max_ns = self.max_ns.max(other.max_ns);
        }
    }

    /// Adds all values of `other`, each larger by `by_ns`, none below zero. No value changes its bucket by rounding if
    /// `by_ns` is a multiple of the buckets' widths ([`SHIFT_NS`] is, up to 4 s).
    pub(crate) fn merge_shifted(&mut self, other: &Self, by_ns: i64) {
        for bucket in other.buckets() {
            let count = u32::try_from(bucket.count).unwrap_or(u32::MAX);
            let middle_ns = bucket.from_ns.midpoint(bucket.to_ns);
            let value_ns = middle_ns.saturating_add_signed(by_ns);
            self.counts.saturating_record_n(value_ns, count);
        }
        if let Some((least_ns, most_ns)) = other.extremes() {
            self.min_ns = self.min_ns.min(least_ns.saturating_add_signed(by_ns));
            self.max_ns = self.max_ns.max(most_ns.saturating_add_signed(by_ns));
        }
    }

    /// The smallest and the largest value; `None` if empty.
    pub(crate) fn extremes(&self) -> Option<(u64, u64)> {
        (!self.is_empty()).then_some((self.min_ns, self.max_ns))
    }

    /// Forgets all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.reset();
        (self.min_ns, self.max_ns) = (u64::MAX, 0);
    }

    /// The number of values.
    pub fn len(&self) -> u64 {
        self.counts.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the `quantile` (0…1) of the values, within 0.1 %; `None` if empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let value = self.counts.value_at_quantile(quantile);
        (!self.is_empty()).then(|| value.clamp(self.min_ns, self.max_ns))
    }

    /// Returns the percentiles; `None` if empty.
    pub fn percentiles(&self) -> Option<Percentiles> {
        Some(Percentiles {
            min: self.quantile(0.0).map(|_| self.min_ns)?,
            p50: self.quantile(0.5)?,
            p99: self.quantile(0.99)?,
            p999: self.quantile(0.999)?,
            max: self.max_ns,
        })
    }

    /// The buckets that are not empty, lowest first.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter_recorded().map(|step| Bucket {
            from_ns: self.counts.lowest_equivalent(step.value_iterated_to()),
            to_ns: self.counts.highest_equivalent(step.value_iterated_to()),
            count: u64::from(step.count_at_value()),
        })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Percentiles> for Quantiles {
    fn from(ns: Percentiles) -> Self {
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        Self {
            min: signed(ns.min),
            p50: signed(ns.p50),
            p99: signed(ns.p99),
            p999: signed(ns.p999),
            max: signed(ns.max),
        }
    }
}

/// One hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;
/// The width of the buckets from 2 to 4 s, a multiple of the width of every smaller one.
pub(crate) const SHIFT_NS: i64 = 1 << 21;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    /// Nearest rank: the smallest value that at least a share `quantile` does not exceed.
    fn nearest_rank(sorted: &[u64], quantile: f64) -> u64 {
        let rank = (quantile * sorted.len() as f64).ceil() as usize;
        sorted[rank.max(1) - 1]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn percentiles_are_those_of_the_sorted_values(mut values in prop::collection::vec(0..10_000_000_000_u64, 1..500)) {
            let shown = of(&values).percentiles().unwrap();
            values.sort_unstable();
            prop_assert_eq!((shown.min, shown.max), (values[0], values[values.len() - 1]));
            for (quantile, value) in [(0.5, shown.p50), (0.99, shown.p99), (0.999, shown.p999)] {
                let exact = nearest_rank(&values, quantile);
                prop_assert!(value.abs_diff(exact) <= exact / 1000 + 1, "{quantile}: {value} {exact}");
            }
        }

        #[test]
        fn a_merge_is_recording_both(a in prop::collection::vec(any::<u64>(), 0..100), b in prop::collection::vec(any::<u64>(), 0..100)) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let both = of(&[a, b].concat());
            prop_assert_eq!(merged.percentiles(), both.percentiles());
            prop_assert!(merged.buckets().eq(both.buckets()));
        }
    }

    #[test]
    fn empty_has_no_percentiles() {
        assert_eq!(Histogram::new().percentiles(), None);
        assert_eq!(Histogram::new().buckets().count(), 0);
    }

    #[test]
    fn beyond_an_hour_the_maximum_is_exact_and_nothing_is_lost() {
        let histogram = of(&[1, u64::MAX]);
        assert_eq!(histogram.len(), 2);
        assert_eq!(histogram.percentiles().unwrap().max, u64::MAX);
    }

    #[test]
    fn buckets_tile_the_values() {
        let mut histogram = of(&[0, 5, 5]);
        histogram.record_n(1_000_000, 7);
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!(
            buckets[1],
            Bucket {
                from_ns: 5,
                to_ns: 5,
                count: 2
            }
        );
        assert!((buckets[2].from_ns..=buckets[2].to_ns).contains(&1_000_000));
        assert_eq!(buckets[2].count, 7);
    }
}
