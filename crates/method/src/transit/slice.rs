// SPDX-License-Identifier: MIT OR Apache-2.0
//! A histogram of any numbers, above a base that moves down.

use crate::histogram::{Histogram, SHIFT_NS};

/// Empty histograms.
#[derive(Debug)]
#[expect(
    clippy::vec_box,
    reason = "slices hold boxes, which move here and back"
)]
pub(super) struct Spare(Vec<Box<Histogram>>);

impl Spare {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| Box::default()).collect())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn take(&mut self) -> Box<Histogram> {
        self.0.pop().unwrap_or_default()
    }

    fn give_back(&mut self, slice: Slice) {
        self.0.extend(slice.above.map(|mut histogram| {
            histogram.clear();
            histogram
        }));
    }
}

/// The values of one slice of time.
#[derive(Debug, Default)]
pub(super) struct Slice {
    base_ns: i64,
    /// Values less the base.
    above: Option<Box<Histogram>>,
    /// How far the base has moved.
    moved_ns: i64,
}

impl Slice {
    #[cfg(test)]
    pub(super) fn has_histogram(&self) -> bool {
        self.above.is_some()
    }

    /// An empty one with a given base.
    pub(super) fn above(base_ns: i64) -> Self {
        Self::with(Box::default(), base_ns)
    }

    fn with(histogram: Box<Histogram>, base_ns: i64) -> Self {
        Self {
            base_ns,
            above: Some(histogram),
            moved_ns: 0,
        }
    }

    pub(super) fn record_n(&mut self, value_ns: i64, count: u32, spare: &mut Spare) {
        if self.above.is_none() {
            *self = Self::with(spare.take(), at_most(value_ns));
        }
        if value_ns < self.base_ns {
            // A little further with each move: a queue of seconds that drains at once does not move it a thousand times.
            self.move_base(at_most(value_ns.saturating_sub(self.moved_ns / 16)), spare);
        }
        if let Some(above) = &mut self.above {
            above.record_n(value_ns.abs_diff(self.base_ns), count);
        }
    }

    /// Takes over the values of `other`. Bases are multiples of a bucket's width: nothing is rounded.
    pub(super) fn merge(&mut self, other: Self, spare: &mut Spare) {
        let (mut low, high) = if other.rank() < self.rank() {
            (other, std::mem::take(self))
        } else {
            (std::mem::take(self), other)
        };
        low.add(&high, 0);
        spare.give_back(high);
        *self = low;
    }

    /// Empty ones last.
    fn rank(&self) -> (bool, i64) {
        (self.above.is_none(), self.base_ns)
    }

    /// Adds the values of `other`, each less `by_ns`; none may lie below the base.
    pub(super) fn add(&mut self, other: &Self, by_ns: i64) {
        let shift_ns = other
            .base_ns
            .saturating_sub(by_ns)
            .saturating_sub(self.base_ns);
        if let (Some(all), Some(more)) = (&mut self.above, &other.above) {
            all.merge_shifted(more, shift_ns);
        }
    }

    /// The smallest and the largest value.
    pub(super) fn extremes(&self) -> Option<(i64, i64)> {
        let (least, most) = self.above.as_ref()?.extremes()?;
        Some((self.value(least), self.value(most)))
    }

    pub(super) fn quantile(&self, quantile: f64) -> Option<i64> {
        Some(self.value(self.above.as_ref()?.quantile(quantile)?))
    }

    fn value(&self, above_ns: u64) -> i64 {
        self.base_ns.saturating_add_unsigned(above_ns)
    }

    fn move_base(&mut self, base_ns: i64, spare: &mut Spare) {
        let mut moved = Self::with(spare.take(), base_ns);
        moved.moved_ns = self
            .moved_ns
            .saturating_add(self.base_ns.saturating_sub(base_ns));
        moved.add(self, 0);
        spare.give_back(std::mem::replace(self, moved));
    }
}

/// The multiple of [`SHIFT_NS`] at or below.
fn at_most(value_ns: i64) -> i64 {
    value_ns.saturating_sub(value_ns.rem_euclid(SHIFT_NS))
}
