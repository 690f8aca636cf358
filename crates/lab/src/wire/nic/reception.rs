// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a faulty card does with the frames that arrive, before its host gets them.

use std::sync::Arc;

use linerate_linux::ethtool_features::{InForce, Offload};
use linerate_wire::offload::Upper;

use super::Nic;
use super::merge;

/// The receiving side of a card.
#[derive(Debug)]
pub(in crate::wire) struct Reception {
    nic: Nic,
    /// The host's offloads: a fault of one acts while it is on. `None`: all are on.
    offloads: Option<Arc<InForce>>,
    frame_bytes_max: usize,
    /// A frame that the next one may be merged into, if it is not empty, and since when it waits.
    held: Vec<u8>,
    held_since_ns: u64,
    /// Frames that the host got.
    frames: u32,
    /// A frame to change.
    scratch: Vec<u8>,
}

impl Reception {
    pub(super) fn new(nic: Nic, frame_bytes_max: usize, offloads: Option<Arc<InForce>>) -> Self {
        Self {
            nic,
            offloads,
            frame_bytes_max,
            held: Vec::with_capacity(frame_bytes_max),
            held_since_ns: 0,
            frames: 0,
            scratch: Vec::with_capacity(frame_bytes_max),
        }
    }

    /// Shows what the host gets when this frame arrives, counted twice where the fault is that; returns whether the frame
    /// is not lost.
    pub(in crate::wire) fn take(
        &mut self,
        frame: &[u8],
        now_ns: u64,
        mut give: impl FnMut(&[u8]) -> bool,
    ) -> bool {
        let is_short = is_ip(frame) && frame.len() < self.nic.drops_short_bytes as usize;
        if is_short && self.has(Offload::ReceiveChecksum) {
            return false;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(frame);
        if self.nic.passes_wrong && is_wrong(frame) && self.has(Offload::ReceiveChecksum) {
            correct(&mut scratch);
        }
        let merges = self.nic.merges
            && merge::may_hold(&scratch, self.frame_bytes_max)
            && !is_wrong(&scratch)
            && self.has(Offload::GenericReceive);
        let given = match merges || !self.held.is_empty() {
            true => self.merge(&scratch, merges, now_ns, &mut give),
            false => self.give(&scratch, &mut give),
        };
        self.scratch = scratch;
        given
    }

    /// Gives the host what waits too long; returns when to call again.
    pub(in crate::wire) fn flush(
        &mut self,
        now_ns: u64,
        mut give: impl FnMut(&[u8]) -> bool,
    ) -> Option<u64> {
        let due_ns = self.held_since_ns + HOLD_NS;
        if self.held.is_empty() || now_ns < due_ns {
            return (!self.held.is_empty()).then_some(due_ns);
        }
        self.give_held(&mut give);
        None
    }

    /// Merges a frame into the one that waits, or gives that to the host first. `merges`: this frame may be merged.
    fn merge(
        &mut self,
        frame: &[u8],
        merges: bool,
        now_ns: u64,
        give: &mut impl FnMut(&[u8]) -> bool,
    ) -> bool {
        if merges && merge::into(&mut self.held, frame, self.frame_bytes_max) {
            return self.give_held(give);
        }
        let earlier = self.held.is_empty() || self.give_held(give);
        if merges {
            self.held.extend_from_slice(frame);
            self.held_since_ns = now_ns;
            return earlier;
        }
        self.give(frame, give) && earlier
    }

    fn has(&self, offload: Offload) -> bool {
        let offloads = self.offloads.as_ref();
        offloads.is_none_or(|offloads| offloads.is_on(offload).unwrap_or(true))
    }

    fn give_held(&mut self, give: &mut impl FnMut(&[u8]) -> bool) -> bool {
        let mut held = std::mem::take(&mut self.held);
        let given = self.give(&held, give);
        held.clear();
        self.held = held;
        given
    }

    fn give(&mut self, frame: &[u8], give: &mut impl FnMut(&[u8]) -> bool) -> bool {
        self.frames = self.frames.wrapping_add(1);
        let every = self.nic.counts_twice_every;
        if every > 0 && self.frames.is_multiple_of(every) {
            // The interface counts it as a received frame, too.
            give(&GHOST);
        }
        give(frame)
    }
}

fn is_ip(frame: &[u8]) -> bool {
    matches!(frame.get(12..14), Some([0x08, 0x00] | [0x86, 0xDD]))
}

/// Whether it has a checksum of TCP or UDP, and a wrong one.
fn is_wrong(frame: &[u8]) -> bool {
    let wrong = |upper: Upper| {
        let field = upper.checksum.field..upper.checksum.field + 2;
        let has_none = !upper.is_tcp && upper.source.is_ipv4() && frame.get(field) == Some(&[0, 0]);
        !has_none && upper.sum(frame) != Some(0)
    };
    Upper::of(frame).is_some_and(wrong)
}

/// The kernel does not look at a checksum that the card calls right; a packet socket cannot say so, but it can send one
/// that is.
fn correct(frame: &mut [u8]) {
    if let Some(upper) = Upper::of(frame) {
        merge::write_sum(frame, &upper);
    }
}

/// ARP for no host, which the kernel consumes without a trace.
const GHOST: [u8; 60] = {
    let mut frame = [0; 60];
    frame[0] = 0x02;
    frame[6] = 0x02;
    (frame[12], frame[13]) = (0x08, 0x06);
    frame
};
const HOLD_NS: u64 = 5_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn given(nic: Nic, frames: &[&[u8]]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut card = Reception::new(nic, 1518, None);
        for frame in frames {
            card.take(frame, 0, |frame| {
                lengths.push(frame.len());
                true
            });
        }
        lengths
    }

    #[test]
    fn every_second_frame_counts_twice() {
        let nic = Nic {
            counts_twice_every: 2,
            ..Nic::default()
        };
        let frames: [&[u8]; 3] = [&[1; 70], &[2; 80], &[3; 90]];
        assert_eq!(given(nic, &frames), [70, GHOST.len(), 80, 90]);
    }

    #[test]
    fn short_frames_are_dropped_if_they_are_of_ip() {
        let nic = Nic {
            drops_short_bytes: 64,
            ..Nic::default()
        };
        let ip = |bytes: usize| {
            let mut frame = vec![0; bytes];
            frame[12] = 8;
            frame
        };
        assert_eq!(given(nic, &[&ip(63), &ip(64), &GHOST]), [64, 60]);
    }

    #[test]
    fn what_waits_is_given_in_time_and_before_later_frames() {
        let nic = Nic {
            merges: true,
            ..Nic::default()
        };
        let mut card = Reception::new(nic, 1518, None);
        card.held.extend([7; 60]);
        let mut lengths = Vec::new();
        let mut give = |frame: &[u8]| {
            lengths.push(frame.len());
            true
        };
        assert_eq!(card.flush(HOLD_NS - 1, &mut give), Some(HOLD_NS));
        assert_eq!(card.flush(HOLD_NS, &mut give), None);
        card.held.extend([7; 61]);
        assert!(card.take(&[0; 70], 0, &mut give));
        assert_eq!(card.flush(u64::MAX, &mut give), None);
        assert_eq!(lengths, [60, 61, 70]);
    }
}
