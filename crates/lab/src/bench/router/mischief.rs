// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the router does wrong: pure, decided by a test frame's own number.

use std::time::Duration;

/// Of every so many test frames the last one (those whose number it divides); 0: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) struct Mischief {
    pub lost: u32,
    pub sent_back: u32,
    pub damaged: u32,
    pub duplicated: u32,
    pub held_back: u32,
    /// After it the router sends a frame of its own.
    pub chatter: u32,
    /// What a packet loses of its TTL; 1 is right.
    pub hops: u8,
    /// The tag is left out.
    pub untagged: bool,
    /// Neighbours are asked for again.
    pub forgets_after: Option<Duration>,
}

impl Default for Mischief {
    fn default() -> Self {
        Self {
            lost: 0,
            sent_back: 0,
            damaged: 0,
            duplicated: 0,
            held_back: 0,
            chatter: 0,
            hops: 1,
            untagged: false,
            forgets_after: None,
        }
    }
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is forwarded as it should be.
    Onward,
    Lost,
    /// Out of the port that it came in by.
    SentBack,
    /// One bit of it is another.
    Damaged,
    Duplicated,
    /// It leaves behind the next one.
    HeldBack,
    /// It is followed by a frame that is nobody's.
    Chatter,
}

impl Mischief {
    /// What becomes of the test frame of this number, from 1. Only one thing does.
    pub(super) fn fate(&self, sequence: u64) -> Fate {
        let wishes = [
            (self.lost, Fate::Lost),
            (self.sent_back, Fate::SentBack),
            (self.damaged, Fate::Damaged),
            (self.duplicated, Fate::Duplicated),
            (self.held_back, Fate::HeldBack),
            (self.chatter, Fate::Chatter),
        ];
        let applies =
            |(every, _): &&(u32, Fate)| *every > 0 && sequence.is_multiple_of(u64::from(*every));
        wishes
            .iter()
            .find(applies)
            .map_or(Fate::Onward, |(_, fate)| *fate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_becomes_of_each_frame() {
        let mischief = Mischief {
            lost: 4,
            duplicated: 3,
            ..Mischief::default()
        };
        let fates: Vec<_> = (1..=12).map(|number| mischief.fate(number)).collect();
        let count = |fate| fates.iter().filter(|one| **one == fate).count();
        assert_eq!(
            [Fate::Lost, Fate::Duplicated, Fate::Onward].map(count),
            [3, 3, 6]
        );
        assert_eq!(Mischief::default().fate(1), Fate::Onward);
    }
}
