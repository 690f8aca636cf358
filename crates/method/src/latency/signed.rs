// SPDX-License-Identifier: MIT OR Apache-2.0
//! A distribution of nanoseconds on both sides of zero.

use super::Variation;
use crate::histogram::Histogram;

/// Two histograms, back to back.
#[derive(Debug, Clone, Default)]
pub(super) struct Signed {
    /// Values below zero, by their size.
    below: Histogram,
    /// Zero and above.
    above: Histogram,
}

impl Signed {
    #[inline]
    pub(super) fn record(&mut self, value_ns: i64) {
        let side = if value_ns < 0 {
            &mut self.below
        } else {
            &mut self.above
        };
        side.record(value_ns.unsigned_abs());
    }

    pub(super) fn summary(&self) -> Option<Variation> {
        let median_ns = self.median_ns()?;
        let ends = |side: &Histogram| {
            side.percentiles()
                .map(|of| (signed(of.min), signed(of.max)))
        };
        let (below, above) = (ends(&self.below), ends(&self.above));
        let min_ns = below
            .map(|(_, farthest)| -farthest)
            .or(above.map(|(nearest, _)| nearest))?;
        let max_ns = above
            .map(|(_, farthest)| farthest)
            .or(below.map(|(nearest, _)| -nearest))?;
        Some(Variation {
            min_ns,
            median_ns,
            max_ns,
        })
    }

    /// By nearest rank, within 0.1 %.
    fn median_ns(&self) -> Option<i64> {
        let (below, above) = (self.below.len(), self.above.len());
        let rank = (below + above).div_ceil(2);
        if rank > below {
            return at_rank(&self.above, rank - below).map(signed);
        }
        // Counted from zero outwards, the lower half is the farther one.
        at_rank(&self.below, below - rank + 1).map(|size| -signed(size))
    }
}

/// The value of this rank, from 1; half a rank less, so that no rounding makes it the next one.
fn at_rank(histogram: &Histogram, rank: u64) -> Option<u64> {
    histogram.quantile((rank as f64 - 0.5) / histogram.len() as f64)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
