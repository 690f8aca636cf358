// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of frames with bad checksums. Only those that arrived at this host can be judged: others may be lost on the way.

use linerate_model::output::{NicCheck, NicExample, NicState};

use crate::tally::{self, Property, Tally};

/// The account of the bad frames of one protocol.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    sent: u64,
    refused: u64,
    /// Of those that arrived.
    arrived: Tally,
}

impl Refusal {
    /// A frame that was sent: whether a packet socket of this host saw it, and how it was accepted, if it was.
    pub(super) fn case(&mut self, length: usize, is_seen: bool, accepted: Option<NicExample>) {
        self.sent += 1;
        if is_seen || accepted.is_some() {
            self.refused += u64::from(accepted.is_none());
            self.arrived.case(length, accepted);
        }
    }

    /// Whether they were refused, and whether the counter of this name, which grew by `grown`, counts them.
    pub(super) fn checks(
        self,
        [bad, account]: [Property; 2],
        good: NicState,
        name: &str,
        grown: u64,
    ) -> [NicCheck; 2] {
        if self.arrived.tried() > 0 {
            let counted = tally::counted(account, name, self.refused, grown);
            return [self.arrived.check(bad), counted];
        }
        match good {
            // The path is whole, and nothing else on it reads checksums of the transport layer.
            NicState::Right if self.sent > 0 => {
                [discarded(bad, self.sent), account.impossible(DISCARDED)]
            }
            _ => [bad, account].map(|property| property.impossible(NOT_SEEN)),
        }
    }
}

/// No packet socket saw one of them, and all good ones arrived.
fn discarded(mut property: Property, sent: u64) -> NicCheck {
    property.what.push_str(": the interface discards them");
    NicCheck {
        state: NicState::Right,
        tried: sent,
        ..property.open()
    }
}

const DISCARDED: &str = "the interface discards frames with bad checksums: its counters may count them, the protocol's do not";
const NOT_SEEN: &str = "no frame with a bad checksum arrived at this host";

#[cfg(test)]
mod tests {
    use super::*;

    fn properties() -> [Property; 2] {
        ["bad", "bad-counted"].map(|id| Property {
            id: id.to_owned(),
            offload: Some(("rx-checksumming", "on".to_owned())),
            ..Property::default()
        })
    }

    fn states(cases: &[(bool, bool)], good: NicState, grown: u64) -> [NicState; 2] {
        let mut refusal = Refusal::default();
        for (is_seen, is_accepted) in cases {
            let accepted = is_accepted.then(NicExample::default);
            refusal.case(60, *is_seen, accepted);
        }
        let checks = refusal.checks(properties(), good, "InCsumErrors", grown);
        checks.map(|check| check.state)
    }

    const REFUSED: (bool, bool) = (true, false);
    const LOST: (bool, bool) = (false, false);

    #[test]
    fn a_bad_frame_that_never_arrived_is_not_judged() {
        use NicState::{NotPossible, Right, Wrong};
        let all = [REFUSED, LOST, REFUSED];
        assert_eq!(states(&all, Right, 2), [Right, Right]);
        assert_eq!(states(&all, Right, 3), [Right, Right], "of others");
        assert_eq!(states(&all, Right, 1), [Right, Wrong]);
        assert_eq!(states(&[LOST, LOST], Wrong, 0), [NotPossible; 2]);
        assert_eq!(states(&[], Right, 0), [NotPossible; 2]);
    }

    #[test]
    fn an_accepted_one_is_wrong_whether_or_not_it_was_seen() {
        use NicState::{NotPossible, Right, Wrong};
        assert_eq!(states(&[REFUSED, (true, true)], Right, 1), [Wrong, Right]);
        assert_eq!(states(&[(false, true)], Right, 0), [Wrong, NotPossible]);
    }

    #[test]
    fn what_the_interface_discards_is_refused_and_not_counted() {
        let mut refusal = Refusal::default();
        refusal.case(60, false, None);
        let [bad, counted] = refusal.checks(properties(), NicState::Right, "InCsumErrors", 0);
        assert_eq!((bad.state, bad.tried), (NicState::Right, 1));
        assert!(bad.what.ends_with("the interface discards them"));
        assert_eq!(counted.state, NicState::NotPossible);
        assert_eq!(counted.reason.as_deref(), Some(DISCARDED));
    }

    #[test]
    fn a_counter_that_lacks_frames_has_no_remedy() {
        let mut refusal = Refusal::default();
        refusal.case(60, true, None);
        let [_, counted] = refusal.checks(properties(), NicState::Right, "InCsumErrors", 0);
        assert_eq!((counted.state, counted.change), (NicState::Wrong, None));
    }
}
