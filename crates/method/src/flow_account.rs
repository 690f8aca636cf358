// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accounting of the frames of one direction of a forwarding test, by their signatures.
//!
//! Sequences start at 1 in each trial. A frame counts as received if it arrives intact at the right
//! port: with our signature of this trial and direction, with length and content as sent. A damaged frame is
//! counted as corrupt (or of bad length) *and* as lost; a frame with a wrong TTL counts as received
//! (RFC 2544 §10, RFC 2889 §4).
//!
//! After [`DirectionAccount::finish`]: `offered = received + lost`. Nothing here allocates, locks or
//! panics after [`DirectionAccount::new`].
//!
//! ```
//! use linerate_method::flow_account::{Condition, DirectionAccount, Frame};
//! let mut account = DirectionAccount::new(1, 1, 65_536);
//! let frame = |sequence| Frame { stream: 1, sequence, condition: Condition::Whole };
//! account.record(&frame(1), 10);
//! account.record(&frame(1), 20);
//! account.record(&Frame { stream: 2, ..frame(7) }, 30);
//! let totals = account.finish(3);
//! assert_eq!((totals.received, totals.lost), (1, 2));
//! assert_eq!((totals.duplicates, totals.misforwarded), (1, 1));
//! ```

use crate::sequence::{Arrival, LossBurst, SequenceAccount};

/// A frame with our signature of this trial, as it arrived at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The direction in which it was sent.
    pub stream: u8,
    /// Its number in that direction, from 1.
    pub sequence: u64,
    pub condition: Condition,
}

/// The condition of an arrived frame; the worst one applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// As it was sent.
    Whole,
    /// With an unexpected TTL.
    BadTtl,
    /// Longer or shorter than it was sent.
    BadLength,
    /// With a wrong payload or checksum.
    Corrupt,
}

/// The account of the frames that should arrive at one port.
#[derive(Debug, Clone)]
pub struct DirectionAccount {
    stream: u8,
    sequences: SequenceAccount,
    received_by_flow: Box<[u64]>,
    /// Consecutive frames of one flow.
    turn_frames: u64,
    /// A frame from far ahead that is not yet confirmed.
    held: Option<u64>,
    counted: Faults,
}

/// One direction of one trial, in frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectionTotals {
    /// Frames that the sender sent.
    pub offered: u64,
    /// Unique frames that arrived intact (or only with a bad TTL).
    pub received: u64,
    /// `offered − received`.
    pub lost: u64,
    /// Copies after the first.
    pub duplicates: u64,
    /// Arrived after one that was sent later.
    pub reordered: u64,
    /// Largest reordering extent in frames, RFC 4737 §4.2.2.
    pub reorder_extent_max: u64,
    /// Too late to tell reordered frames from duplicates; counted as lost.
    pub late: u64,
    /// Sequences that cannot have been sent.
    pub wild: u64,
    /// Runs of lost frames between two that arrived.
    pub gaps: u64,
    /// Frames of the other direction: flooded, looped or sent to the wrong port.
    pub misforwarded: u64,
    pub corrupt: u64,
    pub bad_length: u64,
    pub bad_ttl: u64,
    /// Frames without our signature, or of another trial.
    pub foreign: u64,
    /// The sequence of the last lost frame.
    pub last_lost: Option<u64>,
    /// More frames arrived than the sender reports as sent: the trial is invalid.
    pub contradicted: bool,
}

impl DirectionAccount {
    /// Creates the account of direction `stream` with `flows` flows in round robin: frame `n` is of flow
    /// `(n − 1) mod flows`. Reordered frames are distinguished from late ones within `window_frames`.
    pub fn new(stream: u8, flows: usize, window_frames: u64) -> Self {
        Self {
            stream,
            sequences: SequenceAccount::new(window_frames),
            received_by_flow: vec![0; flows.max(1)].into_boxed_slice(),
            turn_frames: 1,
            held: None,
            counted: Faults::default(),
        }
    }

    /// Sets the number of consecutive frames of each flow.
    #[must_use]
    pub fn in_turns_of(self, frames: usize) -> Self {
        Self {
            turn_frames: frames.max(1) as u64,
            ..self
        }
    }

    /// Records a frame with our signature that arrived at `now_ns` (any clock, the same for all). Returns
    /// whether it is received: new, at the right port, intact.
    #[inline]
    pub fn record(&mut self, frame: &Frame, now_ns: u64) -> bool {
        if frame.stream != self.stream {
            self.counted.misforwarded += 1;
            return false;
        }
        match frame.condition {
            Condition::Whole => {}
            Condition::BadTtl => self.counted.bad_ttl += 1,
            Condition::BadLength => {
                self.counted.bad_length += 1;
                return false;
            }
            Condition::Corrupt => {
                self.counted.corrupt += 1;
                return false;
            }
        }
        self.arrive(frame.sequence, now_ns)
    }

    /// Records a frame that is not ours, or of another trial.
    #[inline]
    pub fn record_foreign(&mut self) {
        self.counted.foreign += 1;
    }

    /// Closes the account after the residual wait; `offered` is the sender's exact count. Nothing may be
    /// recorded afterwards.
    pub fn finish(&mut self, offered: u64) -> DirectionTotals {
        let totals = self.sequences.finish(Some(offered));
        self.settle_held();
        let bursts = self.sequences.bursts().len() as u64 + self.sequences.bursts_dropped();
        DirectionTotals {
            offered: totals.sent,
            received: totals.received_unique,
            lost: totals.lost,
            duplicates: totals.duplicates,
            reordered: totals.reordered,
            reorder_extent_max: totals.reorder_extent_max,
            late: totals.late,
            wild: totals.wild,
            gaps: bursts,
            misforwarded: self.counted.misforwarded,
            corrupt: self.counted.corrupt,
            bad_length: self.counted.bad_length,
            bad_ttl: self.counted.bad_ttl,
            foreign: self.counted.foreign,
            last_lost: match totals.tail_lost {
                0 => self.sequences.last_lost(),
                _ => Some(totals.sent),
            },
            contradicted: totals.contradicted,
        }
    }

    /// Received frames per flow; complete after [`Self::finish`].
    pub fn received_by_flow(&self) -> &[u64] {
        &self.received_by_flow
    }

    /// Runs of lost frames, oldest first, complete after [`Self::finish`]; at most 4096.
    pub fn bursts(&self) -> &[LossBurst] {
        self.sequences.bursts()
    }

    #[inline]
    fn arrive(&mut self, sequence: u64, now_ns: u64) -> bool {
        let arrival = self.sequences.record(sequence, now_ns);
        if self.held.is_some() {
            self.settle_held();
        }
        if arrival == Arrival::Held {
            self.held = Some(sequence);
        }
        let is_new = is_received(arrival);
        if is_new {
            self.count_flow(sequence);
        }
        is_new
    }

    #[cold]
    fn settle_held(&mut self) {
        let Some(arrival) = self.sequences.take_confirmed() else {
            return;
        };
        if let Some(sequence) = self.held.take_if(|_| is_received(arrival)) {
            self.count_flow(sequence);
        }
    }

    #[inline]
    fn count_flow(&mut self, sequence: u64) {
        let turn = match self.turn_frames {
            1 => sequence.wrapping_sub(1),
            frames => sequence.wrapping_sub(1) / frames,
        };
        let flow = turn % self.received_by_flow.len() as u64;
        self.received_by_flow[flow as usize] += 1;
    }
}

fn is_received(arrival: Arrival) -> bool {
    matches!(arrival, Arrival::New | Arrival::Reordered { .. })
}

/// Counts of frames that were not received as sent.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    misforwarded: u64,
    corrupt: u64,
    bad_length: u64,
    bad_ttl: u64,
    foreign: u64,
}

#[cfg(test)]
mod tests;
