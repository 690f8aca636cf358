// SPDX-License-Identifier: MIT OR Apache-2.0
//! The faults of the router, decided by a test frame's sequence number.

use std::time::Duration;

use crate::dut::DeviceFault;

/// What goes wrong in the router.
#[derive(Clone, Debug)]
pub(in crate::dut) struct RouterFaults {
    /// A number n selects every n-th test frame for this fate.
    fates: Vec<(u32, Fate)>,
    /// The decrement of the TTL; 1 is right.
    pub hops: u8,
    /// The VLAN tag is stripped.
    pub untagged: bool,
    /// The time after which neighbours are resolved again.
    pub neighbour_expiry: Option<Duration>,
}

/// What happens to a frame. Of several fates a frame has the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Those of the faults that are the router's.
    pub(in crate::dut) fn of(faults: &[DeviceFault]) -> Self {
        let mut all = Self {
            fates: Vec::new(),
            hops: 1,
            untagged: false,
            neighbour_expiry: None,
        };
        for fault in faults {
            match *fault {
                DeviceFault::Loss { every } => all.fates.push((every, Fate::Lost)),
                DeviceFault::SendBack { every } => all.fates.push((every, Fate::SentBack)),
                DeviceFault::Corrupt { every } => all.fates.push((every, Fate::Corrupted)),
                DeviceFault::Duplicate { every } => all.fates.push((every, Fate::Duplicated)),
                DeviceFault::Reorder { every } => all.fates.push((every, Fate::Reordered)),
                DeviceFault::Chatter { every } => all.fates.push((every, Fate::Chatter)),
                DeviceFault::Hops { hops } => all.hops = hops,
                DeviceFault::Untagged => all.untagged = true,
                DeviceFault::NeighbourExpiry { ns } => {
                    all.neighbour_expiry = Some(Duration::from_nanos(ns));
                }
                _ => {}
            }
        }
        all
    }

    /// The fate of the test frame with this number, from 1.
    pub(super) fn fate(&self, sequence: u64) -> Fate {
        let fates = self.fates.iter();
        let met = fates.filter(|(every, _)| sequence.is_multiple_of(u64::from(*every)));
        met.map(|(_, fate)| *fate).min().unwrap_or(Fate::Forwarded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_has_one_fate() {
        let duplicate = DeviceFault::Duplicate { every: 3 };
        let faults = RouterFaults::of(&[duplicate, DeviceFault::Loss { every: 4 }]);
        let fates: Vec<_> = (1..=12).map(|number| faults.fate(number)).collect();
        let count = |fate| fates.iter().filter(|one| **one == fate).count();
        assert_eq!(
            [Fate::Lost, Fate::Duplicated, Fate::Forwarded].map(count),
            [3, 3, 6]
        );
        assert_eq!(RouterFaults::of(&[]).fate(1), Fate::Forwarded);
    }
}
