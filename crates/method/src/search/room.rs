// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places a trial between its neighbours: not closer to a bound than the target width, and on the limit itself if
//! that is near.

/// The steps between two neighbours: bounds, which were measured, or the limits of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    low: usize,
    high: usize,
    /// The neighbour is a limit, which may be tried.
    low_free: bool,
    high_free: bool,
}

impl Room {
    /// The room between these bounds; the limits are 0 and `last` where a bound is missing. `None`
    /// if a bound already sits on the limit that the room would reach to.
    pub(super) fn between(lower: Option<usize>, upper: Option<usize>, last: usize) -> Option<Self> {
        let (low, high) = (lower.unwrap_or(0), upper.unwrap_or(last));
        let room = Self {
            low,
            high,
            low_free: lower.is_none(),
            high_free: upper.is_none(),
        };
        (low < high).then_some(room)
    }

    /// The step to try instead of `wanted`, which is brought into the limits; `None` if it touches
    /// a bound, or if the bounds are already within `width` of each other.
    pub(super) fn place(&self, wanted: usize, width: usize) -> Option<usize> {
        let wanted = wanted.clamp(self.low, self.high);
        let touches_low = wanted == self.low && !self.low_free;
        let touches_high = wanted == self.high && !self.high_free;
        if touches_low || touches_high {
            return None;
        }
        if width >= self.high - self.low {
            return self.limit();
        }
        let (soft_low, soft_high) = self.soft(width);
        if wanted < soft_low {
            return Some(if self.low_free { self.low } else { soft_low });
        }
        if wanted > soft_high {
            return Some(if self.high_free { self.high } else { soft_high });
        }
        Some(wanted)
    }

    fn limit(&self) -> Option<usize> {
        let low = self.low_free.then_some(self.low);
        low.or(self.high_free.then_some(self.high))
    }

    /// The innermost steps that keep `width` from both neighbours, or the middle.
    fn soft(&self, width: usize) -> (usize, usize) {
        let (soft_low, soft_high) = (self.low + width, self.high - width);
        if soft_low <= soft_high {
            return (soft_low, soft_high);
        }
        let middle = middle(self.low, self.high, width);
        (middle, middle)
    }
}

/// Splits an interval wider than `width` so that one part is `width` times a power of two and the
/// lower part is the smaller one, unless both are equal. Such parts halve evenly afterwards.
pub(super) fn middle(low: usize, high: usize, width: usize) -> usize {
    let whole = high - low;
    if whole < 2 * width {
        return match width {
            _ if width.is_multiple_of(2) && width > 0 => middle(low, high, width / 2),
            _ => low + whole / 2,
        };
    }
    let mut part = width;
    while whole > 4 * part {
        part *= 2;
    }
    // `part` is the smaller one; twice that, at least half of the whole, leaves the other option.
    let rest = whole.saturating_sub(2 * part);
    let smaller = if part * (whole - part) > rest * (whole - rest) {
        part
    } else {
        rest
    };
    low + smaller
}
