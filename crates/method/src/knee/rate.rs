// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trials of one rate, and its classification.

/// All trials of one rate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rate {
    pub(super) bits_per_second: u64,
    pub(super) passed: u32,
    pub(super) lost: u32,
    pub(super) fell_short: u32,
    pub(super) invalid: u32,
    /// Lost, or still in a queue when the sender had ended.
    excess_ratio_max: f64,
    /// The highest rate that a passed trial offered here, or that arrived of it where a queue held the excess.
    pub(super) offered: Option<u64>,
    /// The rate that a sender without loss reached when this one was requested.
    reached: Option<u64>,
    /// 1 for the forwarded rate of a higher load, 2 for a step below such a rate, and so on.
    pub(super) misses: u32,
}

/// The classification of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No valid trial yet.
    Untried,
    /// No valid trial after several attempts.
    Unusable,
    /// Not lossless, but one trial is not enough.
    Doubtful,
    Lossless,
    Lossy,
    SenderLimited,
}

impl Rate {
    /// A rate without trials.
    pub(super) fn new(bits_per_second: u64) -> Self {
        Self {
            bits_per_second,
            ..Self::default()
        }
    }

    pub(super) fn pass(&mut self, offered: u64) {
        self.passed += 1;
        self.offered = self.offered.max(Some(offered));
    }

    pub(super) fn lose(&mut self, excess_ratio: f64) {
        self.lost += 1;
        self.excess_ratio_max = self.excess_ratio_max.max(excess_ratio);
    }

    pub(super) fn fall_short(&mut self, reached: Option<u64>) {
        self.fell_short += 1;
        self.reached = self.reached.max(reached);
    }

    pub(super) fn verdict(&self) -> Verdict {
        match (self.passed, self.lost, self.fell_short) {
            (0, 0, 0) if self.invalid > INVALID_MAX => Verdict::Unusable,
            (0, 0, 0) => Verdict::Untried,
            (_, 2.., _) => Verdict::Lossy,
            (_, _, 2..) => Verdict::SenderLimited,
            (1.., 0, _) | (2.., _, _) => Verdict::Lossless,
            _ if self.invalid > INVALID_MAX => Verdict::Lossy,
            _ => Verdict::Doubtful,
        }
    }

    /// The rate that a sender reached here that fell short; `None` if the rate itself is lossy.
    pub(super) fn reached_at_most(&self) -> Option<u64> {
        self.reached.filter(|_| self.verdict() != Verdict::Lossy)
    }

    /// The forwarded rate of the worst trial.
    pub(super) fn forwarded(&self) -> u64 {
        (self.bits_per_second as f64 * (1.0 - self.excess_ratio_max.min(1.0))) as u64
    }

    /// Whether the loss is too high for an accident: the search continues below at once, and the rate is repeated
    /// only if it becomes the edge of the bracket.
    pub(super) fn gross(&self) -> bool {
        self.excess_ratio_max >= GROSS_LOSS_RATIO
    }
}

/// The number of invalid trials of one rate that are repeated.
const INVALID_MAX: u32 = 2;
/// A trial that loses this share is overloaded.
pub(super) const GROSS_LOSS_RATIO: f64 = 0.01;
