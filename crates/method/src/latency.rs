// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency through a device as RFC 8219 §7 counts it: median and 99.9th percentile of the delays
//! (§7.2), packet delay variation (§7.3.1) and inter-packet delay variation (§7.3.2).
//!
//! Every frame carries its time of sending, so every frame is a tagged one. A delay runs from the
//! moment a frame is handed to the sender's kernel to the moment the receiver's kernel hands it
//! over: both ends of the tester are part of it, and the report must say so.
//!
//! Recording neither allocates nor fails.

mod signed;

use crate::histogram::Histogram;
use signed::Signed;

/// The delays of one direction of one stream.
#[derive(Debug, Clone, Default)]
pub struct Delays {
    all: Histogram,
    variation: Signed,
    /// The frame before and its delay.
    previous: Option<(u64, u64)>,
}

/// What became of them, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// Frames counted; RFC 8219 §7.2 asks for at least 500.
    pub frames: u64,
    pub min_ns: u64,
    /// Typical latency.
    pub median_ns: u64,
    pub p99_ns: u64,
    /// Worst-case latency: 99.9th percentile.
    pub p999_ns: u64,
    pub max_ns: u64,
    /// Packet delay variation: 99.9th percentile less the minimum, over at least 60 s.
    pub pdv_ns: u64,
    /// Inter-packet delay variation; `None` if no two frames in succession arrived.
    pub ipdv: Option<Variation>,
}

/// Differences of the delays of successive frames, later less earlier, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation {
    pub min_ns: i64,
    pub median_ns: i64,
    pub max_ns: i64,
}

/// One number of several repetitions (RFC 8219 §7.2: at least 20), in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeated {
    pub repetitions: usize,
    pub median_ns: u64,
    /// First percentile.
    pub p1_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
}

impl Delays {
    /// Frame `sequence` took `delay_ns`.
    #[inline]
    pub fn record(&mut self, sequence: u64, delay_ns: u64) {
        self.all.record(delay_ns);
        if let Some((before, before_ns)) = self.previous
            && before.wrapping_add(1) == sequence
        {
            self.variation.record(difference(delay_ns, before_ns));
        }
        self.previous = Some((sequence, delay_ns));
    }

    /// The statistics so far; `None` without a frame. Percentiles are right within 0.1 %.
    pub fn latency(&self) -> Option<Latency> {
        let shown = self.all.percentiles()?;
        Some(Latency {
            frames: self.all.len(),
            min_ns: shown.min,
            median_ns: shown.p50,
            p99_ns: shown.p99,
            p999_ns: shown.p999,
            max_ns: shown.max,
            pdv_ns: shown.p999 - shown.min,
            ipdv: self.variation.summary(),
        })
    }

    /// The distribution of all delays.
    pub fn histogram(&self) -> &Histogram {
        &self.all
    }
}

impl Repeated {
    /// Of one number (typical latency, worst-case latency …) of each repetition; nearest rank.
    pub fn of(values_ns: &[u64]) -> Option<Self> {
        let mut sorted = values_ns.to_vec();
        sorted.sort_unstable();
        let at = |quantile: f64| {
            let rank = (quantile * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.max(1) - 1).copied()
        };
        Some(Self {
            repetitions: sorted.len(),
            median_ns: at(0.5)?,
            p1_ns: at(0.01)?,
            p99_ns: at(0.99)?,
        })
    }
}

fn difference(later_ns: u64, earlier_ns: u64) -> i64 {
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    signed(later_ns) - signed(earlier_ns)
}

#[cfg(test)]
mod tests;
