// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much the rate that gets through a device varies from one moment to the next: a search of a
//! device that never does the same twice makes more trials than one of a device with a sharp limit.
//!
//! ```
//! use linerate_method::steadiness::RateWatch;
//! let mut watch = RateWatch::default();
//! (0..200).for_each(|ms| watch.record(ms * 1_000_000));
//! assert_eq!(watch.spread(), Some(0.0));
//! ```

/// Counts arrivals in slices of 20 ms from the first one on. Nothing here allocates.
#[derive(Debug, Clone, Default)]
pub struct RateWatch {
    first_ns: Option<u64>,
    last_ns: u64,
    slices: [u32; SLICES],
}

impl RateWatch {
    /// A frame arrived; what comes after the last slice is not counted.
    #[inline]
    pub fn record(&mut self, now_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(now_ns);
        let since_ns = now_ns.saturating_sub(first_ns);
        if let Some(slice) = self.slices.get_mut((since_ns / SLICE_NS) as usize) {
            *slice += 1;
        }
        self.last_ns = self.last_ns.max(now_ns);
    }

    /// By which share of the higher rate the rate of a slice varies, the lowest and the highest one
    /// left out; `None` if too few slices are whole.
    pub fn spread(&self) -> Option<f64> {
        let watched_ns = self.last_ns.saturating_sub(self.first_ns?);
        let mut slices = self.slices;
        let whole = slices.get_mut(..((watched_ns / SLICE_NS) as usize).min(SLICES))?;
        whole.sort_unstable();
        let [_, middle @ .., _] = whole else {
            return None;
        };
        let (low, high) = (*middle.first()?, *middle.last()?);
        (middle.len() >= FEWEST && high > 0).then(|| 1.0 - f64::from(low) / f64::from(high))
    }
}

const SLICES: usize = 16;
const SLICE_NS: u64 = 20_000_000;
const FEWEST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(gap_ns: impl Fn(u64) -> u64, until_ns: u64) -> Option<f64> {
        let (mut watch, mut now_ns) = (RateWatch::default(), 1 << 40);
        let end_ns = now_ns + until_ns;
        while now_ns < end_ns {
            watch.record(now_ns);
            now_ns += gap_ns(now_ns - (1 << 40));
        }
        watch.spread()
    }

    #[test]
    fn an_even_stream_hardly_varies_and_a_faltering_one_does() {
        assert!(spread(|_| 1_000, 200_000_000).unwrap() < 0.001);
        // Half as fast in the second 100 ms.
        let faltering = |now_ns| if now_ns < 100_000_000 { 1_000 } else { 2_000 };
        let found = spread(faltering, 200_000_000).unwrap();
        assert!((found - 0.5).abs() < 0.01, "{found}");
    }

    #[test]
    fn one_hiccup_is_no_unsteadiness() {
        let hiccup = |now_ns| {
            if now_ns == 42_000_000 {
                15_000_000
            } else {
                1_000
            }
        };
        assert!(spread(hiccup, 200_000_000).unwrap() < 0.001);
    }

    #[test]
    fn of_too_little_nothing_is_known() {
        assert_eq!(RateWatch::default().spread(), None);
        assert_eq!(spread(|_| 1_000, 60_000_000), None);
        assert_eq!(spread(|_| 300_000_000, 200_000_000), None);
    }
}
