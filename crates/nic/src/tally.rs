// SPDX-License-Identifier: MIT OR Apache-2.0
//! The account of one property while it is tried, and what it comes to.

use linerate_model::output::{Change, NicCheck, NicExample, NicState};

use crate::bench::{FAR_MERGES, NO_VLANS};

/// The cases so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    tried: u64,
    wrong: u64,
    example: Option<NicExample>,
    /// Why what was seen is no frame of a wire.
    not_a_wire: Option<&'static str>,
    /// Frame lengths that were wrong, and right.
    lengths: [Option<(usize, usize)>; 2],
}

/// Which property.
#[derive(Debug, Clone, Default)]
pub(crate) struct Property {
    pub id: String,
    pub group: &'static str,
    pub what: String,
    /// The feature that does it, as `ethtool -K` takes it, and whether it is on; nothing where none does.
    pub offload: Option<(&'static str, String)>,
    pub interface: String,
}

impl Tally {
    /// One case: a frame of this length, 0 where it is no frame, and what is wrong with it.
    pub(crate) fn case(&mut self, length: usize, fault: Option<NicExample>) {
        self.tried += 1;
        let is_wrong = fault.is_some();
        if let Some(fault) = fault {
            self.wrong += 1;
            self.example.get_or_insert(fault);
        }
        let [wrong, right] = &mut self.lengths;
        let range = match (length, is_wrong) {
            (0, _) => return,
            (_, true) => wrong,
            (_, false) => right,
        };
        let (low, high) = range.unwrap_or((length, length));
        *range = Some((low.min(length), high.max(length)));
    }

    /// What was seen had not been on a wire.
    pub(crate) fn not_a_wire(&mut self, why: &'static str) {
        self.not_a_wire.get_or_insert(why);
    }

    /// Why something that was seen had not been on a wire.
    pub(crate) const fn why_not_a_wire(&self) -> Option<&'static str> {
        self.not_a_wire
    }

    /// Whether all that was seen may have been on a wire.
    pub(crate) const fn is_of_a_wire(&self) -> bool {
        self.not_a_wire.is_none()
    }

    /// Whether more than half of the cases are wrong.
    pub(crate) const fn is_mostly_wrong(&self) -> bool {
        2 * self.wrong > self.tried
    }

    /// Cases so far.
    pub(crate) const fn tried(&self) -> u64 {
        self.tried
    }

    /// What it comes to.
    pub(crate) fn check(self, property: Property) -> NicCheck {
        let state = match (self.not_a_wire, self.tried, self.wrong) {
            (Some(FAR_MERGES | NO_VLANS), ..) => NicState::NotPossible,
            (Some(_), ..) => NicState::NotAWire,
            (None, 0, _) => NicState::NotPossible,
            (None, _, 0) => NicState::Right,
            (None, ..) => NicState::Wrong,
        };
        let reason = match state {
            NicState::NotAWire => self.not_a_wire.map(str::to_owned),
            NicState::NotPossible => {
                let why = self.not_a_wire.unwrap_or("no frame of it arrived");
                Some(why.to_owned())
            }
            NicState::Wrong => self.which(),
            NicState::Right => None,
        };
        let change = (state == NicState::Wrong)
            .then(|| property.change())
            .flatten();
        NicCheck {
            state,
            tried: self.tried,
            wrong: self.wrong,
            reason,
            example: self.example.filter(|_| state == NicState::Wrong),
            change,
            ..property.open()
        }
    }

    /// Which frames are wrong, where their length decides.
    fn which(&self) -> Option<String> {
        let [wrong, right] = self.lengths;
        let (low, high) = wrong?;
        let lengths = match low == high {
            true => format!("frames of {low} bytes"),
            false => format!("frames of {low} to {high} bytes"),
        };
        let apart = right.is_some_and(|right| high < right.0 || right.1 < low);
        Some(match apart {
            true => format!("{lengths} are wrong, all others right"),
            false => lengths,
        })
    }
}

impl Property {
    /// Not tried.
    pub(crate) fn open(self) -> NicCheck {
        let offload = self.offload.as_ref();
        NicCheck {
            id: self.id,
            group: self.group.to_owned(),
            what: self.what,
            offload: offload.map_or_else(String::new, |(name, value)| format!("{name} {value}")),
            ..NicCheck::default()
        }
    }

    /// Not possible, and why.
    pub(crate) fn impossible(self, why: impl Into<String>) -> NicCheck {
        NicCheck {
            state: NicState::NotPossible,
            reason: Some(why.into()),
            ..self.open()
        }
    }

    /// Without the offload the kernel does it.
    fn change(&self) -> Option<Change> {
        let (name, value) = self.offload.as_ref()?;
        let short = SHORT.iter().find(|(long, _)| long == name);
        let name = short.map_or(*name, |(_, short)| short);
        let switch = |value: &str| format!("ethtool -K {} {name} {value}", self.interface);
        value.starts_with("on").then(|| Change {
            commands: vec![switch("off")],
            undo: vec![switch("on")],
            risk: "none: the processor does it".to_owned(),
            ..Change::default()
        })
    }
}

/// Whether a counter grew by what was refused, at least. No offload avoids it.
pub(crate) fn counted(property: Property, name: &str, refused: u64, grown: u64) -> NicCheck {
    if refused == 0 {
        return property.impossible("none was refused");
    }
    let mut tally = Tally::default();
    for number in 0..refused {
        tally.case(0, (number >= grown).then(|| grew(name, refused, grown)));
    }
    NicCheck {
        change: None,
        ..tally.check(property)
    }
}

/// A check during which packet sockets lost frames: what is wrong may be their fault, what was seen to be right is right.
pub(crate) fn despite(check: NicCheck, missed: u64) -> NicCheck {
    if missed == 0 || check.state != NicState::Wrong {
        return check;
    }
    NicCheck {
        state: NicState::NotPossible,
        wrong: 0,
        reason: Some(format!("the observer lost {missed} frames")),
        example: None,
        change: None,
        ..check
    }
}

/// A counter that grew by another number than expected.
pub(crate) fn grew(name: &str, expected: u64, grown: u64) -> NicExample {
    NicExample {
        what: format!("growth of {name}"),
        expected: expected.to_string(),
        seen: grown.to_string(),
        ..NicExample::default()
    }
}

/// What `ethtool -K` calls a group.
const SHORT: [(&str, &str); 8] = [
    ("tx-checksumming", "tx"),
    ("rx-checksumming", "rx"),
    ("tcp-segmentation-offload", "tso"),
    ("generic-segmentation-offload", "gso"),
    ("generic-receive-offload", "gro"),
    ("large-receive-offload", "lro"),
    ("rx-vlan-offload", "rxvlan"),
    ("tx-vlan-offload", "txvlan"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn property(value: &str) -> Property {
        Property {
            id: "x".to_owned(),
            offload: Some(("tx-checksumming", value.to_owned())),
            interface: "eth0".to_owned(),
            ..Property::default()
        }
    }

    fn fault() -> Option<NicExample> {
        Some(NicExample::default())
    }

    #[test]
    fn nothing_tried_is_neither_right_nor_wrong() {
        let check = Tally::default().check(property("on"));
        assert_eq!(check.state, NicState::NotPossible);
        assert_eq!(check.offload, "tx-checksumming on");
    }

    #[test]
    fn one_wrong_case_is_wrong_and_a_frame_of_no_wire_is_neither() {
        let mut tally = Tally::default();
        tally.case(60, fault());
        tally.case(64, None);
        let check = tally.check(property("on"));
        assert_eq!(
            (check.state, check.tried, check.wrong),
            (NicState::Wrong, 2, 1)
        );
        let why = "frames of 60 bytes are wrong, all others right";
        assert_eq!(check.reason.as_deref(), Some(why));
        let mut tally = Tally::default();
        tally.case(60, fault());
        tally.not_a_wire(FAR_MERGES);
        assert_eq!(tally.check(property("on")).state, NicState::NotPossible);
        let mut tally = Tally::default();
        tally.case(60, fault());
        tally.not_a_wire("its checksum was never computed");
        let check = tally.check(property("on"));
        assert_eq!((check.state, check.example), (NicState::NotAWire, None));
    }

    #[test]
    fn nothing_is_called_wrong_while_the_observer_loses_frames() {
        let mut tally = Tally::default();
        tally.case(60, fault());
        let wrong = tally.check(property("on"));
        assert_eq!(despite(wrong.clone(), 0), wrong);
        let check = despite(wrong, 3);
        assert_eq!(check.state, NicState::NotPossible);
        assert_eq!((check.wrong, check.example, check.change), (0, None, None));
        let why = "the observer lost 3 frames";
        assert_eq!(check.reason.as_deref(), Some(why));
        let mut tally = Tally::default();
        tally.case(60, None);
        let right = despite(tally.check(property("on")), 3);
        assert_eq!(right.state, NicState::Right);
    }

    #[test]
    fn the_remedy_is_never_the_state_in_force() {
        let wrong = |value| {
            let mut tally = Tally::default();
            tally.case(60, fault());
            tally.check(property(value)).change
        };
        assert_eq!(wrong("on").unwrap().commands, ["ethtool -K eth0 tx off"]);
        assert_eq!(wrong("off"), None);
    }
}
