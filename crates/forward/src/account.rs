// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one port received during one trial.
//!
//! Hot path: [`Account::take`] neither allocates nor locks.

use linerate_method::flow_account::{Condition, DirectionAccount, Frame};
use linerate_method::histogram::Histogram;
use linerate_wire::frame::{Arrived, Complaint, Foreign, Ours};

use crate::watch::{Watch, Watched};

/// The test frames that a port expects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// The trial, by its number.
    pub run: u16,
    /// The stream that should arrive.
    pub stream: u8,
    /// The TTL after the device, once its kind is known.
    pub ttl: Option<u8>,
    /// Flows of the stream.
    pub flows: u32,
    /// Frames of one flow in succession.
    pub turn_frames: usize,
    /// The tag of each frame.
    pub vlan: Option<u16>,
    /// What to observe in addition to the counters.
    pub watch: Watch,
}

/// The counts of one port.
#[derive(Debug)]
pub(crate) struct Account {
    expected: Expected,
    pub frames: DirectionAccount,
    pub latency: Histogram,
    pub seen: Seen,
    pub watched: Watched,
    /// Why the port failed: the interface went down or was removed.
    pub failure: Option<String>,
}

/// What else arrived that characterises the device.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub first_ttl: Option<u8>,
    pub complaint: Option<Complaint>,
    /// ARP and neighbour solicitations for the tester's addresses.
    pub questions: u64,
    /// Learning frames of the other port.
    pub learning: u64,
    /// Test frames with a damaged signature.
    pub unsigned: u64,
    /// Fragments of test packets.
    pub fragments: u64,
    /// The tags of the first test frame whose tags changed, outer first.
    pub wrong_tags: Option<[Option<u16>; 2]>,
    pub spanning_tree: bool,
}

impl Account {
    pub(crate) fn new(expected: Expected) -> Self {
        let flows = expected.flows as usize;
        Self {
            expected,
            frames: DirectionAccount::new(expected.stream, flows, WINDOW_FRAMES)
                .in_turns_of(expected.turn_frames),
            latency: Histogram::new(),
            seen: Seen::default(),
            watched: Watched::new(expected.watch),
            failure: None,
        }
    }

    /// Counts a frame that was received at `received_ns`.
    pub(crate) fn take(&mut self, arrived: &Arrived, received_ns: u64) {
        match arrived {
            Arrived::Ours(ours) => self.take_ours(ours, received_ns),
            Arrived::Corrupted => self.seen.unsigned += 1,
            Arrived::Fragment => self.seen.fragments += 1,
            Arrived::Learning { .. } => self.seen.learning += 1,
            Arrived::Arp(_) | Arrived::Neighbour(_) => self.seen.questions += 1,
            Arrived::Complaint(complaint) => {
                self.seen.complaint.get_or_insert(*complaint);
            }
            Arrived::Foreign(foreign) => {
                self.seen.spanning_tree |= matches!(foreign, Foreign::SpanningTree);
                self.frames.record_foreign();
            }
        }
    }

    fn take_ours(&mut self, ours: &Ours, received_ns: u64) {
        let signature = &ours.signature;
        if signature.run != self.expected.run {
            return self.frames.record_foreign();
        }
        if ours.vlans[0] != self.expected.vlan {
            self.seen.wrong_tags.get_or_insert(ours.vlans);
            return self.frames.record_foreign();
        }
        let frame = Frame {
            stream: signature.stream,
            sequence: signature.sequence,
            condition: self.condition(ours),
        };
        if self.frames.record(&frame, received_ns) {
            self.seen.first_ttl.get_or_insert(ours.ttl);
            let delay_ns = signature.delay_ns(received_ns);
            self.latency.record(delay_ns);
            self.watched
                .record(signature.sequence, delay_ns, received_ns);
        }
    }

    fn condition(&self, ours: &Ours) -> Condition {
        if !ours.length_ok {
            Condition::BadLength
        } else if !ours.is_intact() {
            Condition::Corrupt
        } else if self.expected.ttl.is_some_and(|ttl| ttl != ours.ttl) {
            Condition::BadTtl
        } else {
            Condition::Whole
        }
    }
}

/// The window in which late frames are distinguished from duplicates.
const WINDOW_FRAMES: u64 = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::frame::{self, Family, Flow, Side, Signature, Template};

    const EXPECTED: Expected = Expected {
        run: 7,
        stream: 0,
        ttl: Some(10),
        flows: 2,
        turn_frames: 1,
        vlan: None,
        watch: Watch::Nothing,
    };

    fn arrived(run: u16, stream: u8, sequence: u64, damage: Option<usize>) -> Arrived {
        let flow = Flow::first(Side::A, Family::Ipv4, [2; 6], [4; 6]);
        let template = Template::new(&flow, 128).unwrap();
        let mut bytes = template.bytes().to_vec();
        let sent_ns = 1_000;
        let signature = Signature {
            run,
            stream,
            sequence,
            sent_ns,
        };
        template.stamp(&mut bytes, &signature);
        if let Some(at) = damage {
            bytes[at] ^= 1;
        }
        frame::read(&bytes)
    }

    #[test]
    fn every_frame_is_counted_once_in_its_place() {
        let mut account = Account::new(EXPECTED);
        let frames = [
            arrived(7, 0, 1, None),
            arrived(7, 0, 3, None),
            arrived(7, 0, 3, None),
            arrived(7, 1, 1, None),
            arrived(6, 0, 9, None),
            arrived(7, 2, 1, None),
            arrived(7, 0, 2, Some(100)),
            arrived(7, 0, 2, Some(50)),
            Arrived::Foreign(Foreign::SpanningTree),
        ];
        for frame in &frames {
            account.take(frame, 1_500);
        }
        let totals = account.frames.finish(4);
        assert_eq!((totals.received, totals.lost, totals.duplicates), (2, 2, 1));
        assert_eq!(
            (totals.corrupt, totals.misforwarded, totals.foreign),
            (1, 2, 2)
        );
        assert_eq!((totals.bad_ttl, account.seen.unsigned), (0, 1));
        assert_eq!(account.seen.first_ttl, Some(10));
        assert!(account.seen.spanning_tree);
        assert_eq!(account.latency.len(), 2, "of each frame once");
    }

    #[test]
    fn a_router_that_takes_no_hop_is_noticed() {
        let mut account = Account::new(Expected {
            ttl: Some(9),
            ..EXPECTED
        });
        account.take(&arrived(7, 0, 1, None), 2_000);
        assert_eq!(account.frames.finish(1).bad_ttl, 1);
    }
}
