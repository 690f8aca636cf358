// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a network interface does, property by property (`nic-check`).

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::findings::Change;

/// A property of an interface, and whether it holds: `checks[]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct NicCheck {
    /// Its stable name, such as `tx-udp4-sum`.
    pub id: String,
    /// `transmit`, `receive`, `segmentation`, `merging`, `vlan`, `size`, `counters`, `queues` or `time`.
    pub group: String,
    /// What must hold, in words.
    pub what: String,
    /// The offload that does it, as `ethtool` calls it, and its state: `tx-checksumming on`; empty where none does.
    pub offload: String,
    /// Whether it holds.
    pub state: NicState,
    /// Cases that were tried.
    pub tried: u64,
    /// Those that were wrong.
    pub wrong: u64,
    /// Why it could not be judged, or which of the cases are wrong.
    pub reason: Option<String>,
    /// One that was wrong.
    pub example: Option<NicExample>,
    /// What avoids it.
    pub change: Option<Change>,
}

impl NicCheck {
    /// What shows that it is wrong.
    #[must_use]
    pub fn proof(&self) -> Option<&'static str> {
        let example = self.example.as_ref()?;
        let is_counted = self.group == "queues" || example.what.starts_with("growth of");
        Some(match (&example.frame, &*example.seen) {
            _ if is_counted => "a counter",
            _ if self.group == "time" => "a time stamp",
            (None, _) | (_, "nothing") => "a comparison of frames",
            (Some(_), _) => "a frame",
        })
    }
}

/// Whether a property holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NicState {
    /// It holds in each case that was tried.
    Right,
    /// It does not.
    Wrong,
    /// What was seen had never been on a wire: neither good nor bad.
    NotAWire,
    /// It could not be tried here.
    #[default]
    NotPossible,
}

impl NicState {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "WRONG",
            Self::NotAWire => "not a wire",
            Self::NotPossible => "not possible",
        }
    }
}

/// A case that was wrong: what was expected, and what was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct NicExample {
    /// What of it is wrong.
    pub what: String,
    /// Where in the frame, bytes from the first of the destination address.
    pub offset: Option<u32>,
    /// What is right there: hexadecimal, or a number.
    pub expected: String,
    /// What was there.
    pub seen: String,
    /// The frame without FCS, hexadecimal, at most its first 192 bytes.
    pub frame: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proves_it_is_what_was_seen() {
        let (frame, growth) = (Some("0200"), "growth of rx_packets");
        for (group, what, seen, frame, expected) in [
            ("transmit", "UDP checksum", "0000", frame, "a frame"),
            (
                "receive",
                "datagram",
                "nothing",
                frame,
                "a comparison of frames",
            ),
            (
                "segmentation",
                "the frames together",
                "byte 9 is in none",
                None,
                "a comparison of frames",
            ),
            ("counters", growth, "150", None, "a counter"),
            ("receive", "growth of InCsumErrors", "0", None, "a counter"),
            (
                "queues",
                "48 TCP flows",
                "all on queue 0",
                None,
                "a counter",
            ),
            ("time", "time stamp", "5", None, "a time stamp"),
        ] {
            let example = NicExample {
                what: what.to_owned(),
                seen: seen.to_owned(),
                frame: frame.map(str::to_owned),
                ..NicExample::default()
            };
            let check = NicCheck {
                group: group.to_owned(),
                example: Some(example),
                ..NicCheck::default()
            };
            assert_eq!(check.proof(), Some(expected), "{group}: {what}");
        }
        assert_eq!(NicCheck::default().proof(), None);
    }
}
