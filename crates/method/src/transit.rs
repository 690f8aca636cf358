// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transit times (arrival less sending time, on two clocks) of one flow, and their quantiles without the drift of
//! the clocks.
//!
//! The clocks' offset makes a transit time any number, and their drift moves it through the test. The times are
//! therefore kept by time slices, each a histogram above a base of its own, which moves down when a quicker
//! datagram comes: the digits go to what varies, whatever comes first. Once the drift is known (from probes that
//! go both ways, after the test), each slice is shifted by it.

mod slice;

use crate::clock_offset::Drift;
use linerate_model::output::Quantiles;
use slice::{Slice, Spare};

/// The transit times of one flow. Recording allocates nothing: the histograms of all slices are there from the beginning
/// (some 2.4 MB, most of them never touched).
#[derive(Debug)]
pub struct Transits {
    slices: Vec<Slice>,
    /// Empty histograms: one more than the slices that have none.
    spare: Spare,
    start_ns: u64,
    width_ns: u64,
}

impl Transits {
    /// No transit times.
    pub fn new() -> Self {
        Self {
            slices: Vec::with_capacity(SLICES as usize),
            spare: Spare::new(SLICES as usize + 1),
            start_ns: 0,
            width_ns: FIRST_WIDTH_NS,
        }
    }

    /// Records a datagram that arrived at `at_ns` of the receiver's clock after `transit_ns`.
    pub fn record(&mut self, at_ns: u64, transit_ns: i64) {
        self.record_n(at_ns, transit_ns, 1);
    }

    /// Records `packets` datagrams that arrived together after the same time.
    pub fn record_n(&mut self, at_ns: u64, transit_ns: i64, packets: u32) {
        if self.slices.is_empty() {
            self.start_ns = at_ns;
        }
        let index = self.slice_of(at_ns);
        while self.slices.len() <= index {
            self.slices.push(Slice::default());
        }
        if let Some(slice) = self.slices.get_mut(index) {
            slice.record_n(transit_ns, packets, &mut self.spare);
        }
    }

    /// The quantiles without `drift`; `None` without a datagram.
    pub fn quantiles(&self, drift: Drift) -> Option<Quantiles> {
        let removed = |index: usize| drift.grown_ns(self.middle_ns(index));
        let slices = || {
            (0..)
                .zip(&self.slices)
                .map(|(i, slice)| (slice, removed(i)))
        };
        let least = slices().filter_map(|(slice, by)| Some(slice.extremes()?.0.saturating_sub(by)));
        let min = least.min()?;
        let most = slices().filter_map(|(slice, by)| Some(slice.extremes()?.1.saturating_sub(by)));
        let max = most.max()?;
        let mut all = Slice::above(min);
        slices().for_each(|(slice, by)| all.add(slice, by));
        let at = |quantile| all.quantile(quantile).map(|ns| ns.clamp(min, max));
        Some(Quantiles {
            min,
            p50: at(0.5)?,
            p99: at(0.99)?,
            p999: at(0.999)?,
            max,
        })
    }

    /// What may be left of `drift` in a quantile: within half a slice it is not removed.
    pub fn left_ns(&self, drift: Drift) -> u64 {
        drift.over_ns(self.width_ns / 2)
    }

    /// The slice of an instant. When there are too many, two become one.
    fn slice_of(&mut self, at_ns: u64) -> usize {
        let since_ns = at_ns.saturating_sub(self.start_ns);
        while since_ns / self.width_ns >= SLICES {
            self.halve();
        }
        usize::try_from(since_ns / self.width_ns).unwrap_or(0)
    }

    fn halve(&mut self) {
        let halves = self.slices.len().div_ceil(2);
        for to in 0..halves {
            let mut of = |index| self.slices.get_mut(index).map(std::mem::take);
            let (mut first, second) = (of(2 * to).unwrap_or_default(), of(2 * to + 1));
            first.merge(second.unwrap_or_default(), &mut self.spare);
            if let Some(place) = self.slices.get_mut(to) {
                *place = first;
            }
        }
        self.slices.truncate(halves);
        self.width_ns = self.width_ns.saturating_mul(2);
    }

    fn middle_ns(&self, index: usize) -> u64 {
        let slices = u64::try_from(index).unwrap_or(u64::MAX);
        let since_ns = self.width_ns.saturating_mul(slices) + self.width_ns / 2;
        self.start_ns.saturating_add(since_ns)
    }
}

impl Default for Transits {
    fn default() -> Self {
        Self::new()
    }
}

/// At most this many slices: memory is bounded, and a sixteenth to a thirty-second of a drift stays.
const SLICES: u64 = 16;
const FIRST_WIDTH_NS: u64 = 125_000_000;

#[cfg(test)]
mod tests;
