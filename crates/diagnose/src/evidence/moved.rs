// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one counter did in a window, and sums and differences of that.

use linerate_model::counters::Growth;

/// What a counter did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// By how much it grew.
    pub grew: Growth,
    /// How much of that the host would have counted without the test. `None`: there is no idle interval to tell.
    pub background: Option<u64>,
    /// Whether it grew so since the host started: there was only one reading.
    pub since_boot: bool,
}

impl Moved {
    /// A counter that did not move and never would have.
    #[must_use]
    pub fn nothing() -> Self {
        Self::by(0)
    }

    /// A growth without any background.
    pub(crate) fn by(at_least: u64) -> Self {
        Self {
            grew: Growth {
                at_least,
                turn: None,
            },
            background: Some(0),
            since_boot: false,
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let backgrounds = self.background.zip(other.background);
        Self {
            grew: Growth {
                at_least: self.grew.at_least.saturating_add(other.grew.at_least),
                turn: self.grew.turn.or(other.grew.turn),
            },
            background: backgrounds.map(|(one, other)| one.saturating_add(other)),
            since_boot: self.since_boot || other.since_boot,
        }
    }

    /// The rest of a counter that contains `part`.
    pub(crate) fn without(self, part: Self) -> Self {
        let backgrounds = self.background.zip(part.background);
        Self {
            grew: Growth {
                at_least: self.grew.at_least.saturating_sub(part.grew.at_least),
                turn: self.grew.turn.or(part.grew.turn),
            },
            background: backgrounds.map(|(all, part)| all.saturating_sub(part)),
            ..self
        }
    }

    /// Others may have moved it as well, by any number.
    pub(crate) const fn of_others_too(mut self) -> Self {
        self.background = None;
        self
    }

    /// At most this many of it.
    pub(crate) fn capped(mut self, most: u64) -> Self {
        self.grew.at_least = self.grew.at_least.min(most);
        self.background = self.background.map(|own| own.min(most));
        self
    }

    /// Without a known number that is no loss.
    pub(crate) fn less(self, known: u64) -> Self {
        self.without(Self::by(known))
    }

    /// With up to this many that may be something else.
    pub(crate) fn perhaps_without(mut self, other: u64) -> Self {
        self.background = self.background.map(|own| own.saturating_add(other));
        self
    }
}
