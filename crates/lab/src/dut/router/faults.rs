// SPDX-License-Identifier: MIT OR Apache-2.0
//! The faults of the router, decided by a test frame's sequence number.

use std::time::Duration;

/// A number n selects every n-th test frame; 0: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dut) struct RouterFaults {
    pub loss: u32,
    pub send_back: u32,
    pub corrupt: u32,
    pub duplicate: u32,
    pub reorder: u32,
    /// Followed by a foreign frame.
    pub chatter: u32,
    /// The decrement of the TTL; 1 is right.
    pub hops: u8,
    /// The VLAN tag is stripped.
    pub untagged: bool,
    /// The time after which neighbours are resolved again.
    pub neighbour_expiry: Option<Duration>,
}

impl Default for RouterFaults {
    fn default() -> Self {
        Self {
            loss: 0,
            send_back: 0,
            corrupt: 0,
            duplicate: 0,
            reorder: 0,
            chatter: 0,
            hops: 1,
            untagged: false,
            neighbour_expiry: None,
        }
    }
}

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Forwarded,
    Lost,
    /// Out of the port it came from.
    SentBack,
    /// One bit is flipped.
    Corrupted,
    Duplicated,
    /// Sent after the next one.
    Reordered,
    /// Followed by a foreign frame.
    Chatter,
}

impl RouterFaults {
    /// The fate of the test frame with this number, from 1.
    pub(super) fn fate(&self, sequence: u64) -> Fate {
        let fates = [
            (self.loss, Fate::Lost),
            (self.send_back, Fate::SentBack),
            (self.corrupt, Fate::Corrupted),
            (self.duplicate, Fate::Duplicated),
            (self.reorder, Fate::Reordered),
            (self.chatter, Fate::Chatter),
        ];
        let applies =
            |(every, _): &&(u32, Fate)| *every > 0 && sequence.is_multiple_of(u64::from(*every));
        fates
            .iter()
            .find(applies)
            .map_or(Fate::Forwarded, |(_, fate)| *fate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_has_one_fate() {
        let faults = RouterFaults {
            loss: 4,
            duplicate: 3,
            ..RouterFaults::default()
        };
        let fates: Vec<_> = (1..=12).map(|number| faults.fate(number)).collect();
        let count = |fate| fates.iter().filter(|one| **one == fate).count();
        assert_eq!(
            [Fate::Lost, Fate::Duplicated, Fate::Forwarded].map(count),
            [3, 3, 6]
        );
        assert_eq!(RouterFaults::default().fate(1), Fate::Forwarded);
    }
}
