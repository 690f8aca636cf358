// SPDX-License-Identifier: MIT OR Apache-2.0
//! At least and at most.

use crate::evidence::Moved;

/// How many packets: at least `lo`, at most `hi`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// At least.
    pub(super) lo: u64,
    /// At most; never below `lo`.
    pub(super) hi: u64,
}

impl Span {
    pub(super) const fn new(lo: u64, hi: u64) -> Self {
        Self {
            lo: if lo < hi { lo } else { hi },
            hi,
        }
    }

    /// Both together, where neither contains the other.
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            lo: self.lo.saturating_add(other.lo),
            hi: self.hi.saturating_add(other.hi),
        }
    }

    /// What is left when `part` of it is known.
    pub(super) const fn without(self, part: Self) -> Self {
        Self::new(
            self.lo.saturating_sub(part.hi),
            self.hi.saturating_sub(part.lo),
        )
    }

    /// Each of the counted was at most this many packets.
    pub(super) const fn each_up_to(self, packets: u64) -> Self {
        Self {
            lo: self.lo,
            hi: self.hi.saturating_mul(packets),
        }
    }

    /// Up to this many of the counted are one packet.
    pub(super) fn pieces_of(self, pieces: u64) -> Self {
        Self {
            lo: self.lo.div_ceil(pieces.max(1)),
            hi: self.hi,
        }
    }

    pub(super) const fn at_most(self, most: u64) -> Self {
        let hi = if self.hi < most { self.hi } else { most };
        Self::new(self.lo, hi)
    }
}

impl Moved {
    /// How many of `lost` packets a counter stands for.
    pub(super) fn seen(self, lost: u64) -> Span {
        let (at_least, background) = (self.grew.at_least, self.background);
        let lo = background.map_or(0, |background| at_least.saturating_sub(background));
        let reach = lost.saturating_add(background.unwrap_or(lost));
        let wrapped = |turn: u64| at_least.saturating_add(turn) <= reach;
        let hi = if self.grew.turn.is_some_and(wrapped) {
            at_least.max(lost)
        } else {
            at_least
        };
        Span::new(lo, hi)
    }
}
