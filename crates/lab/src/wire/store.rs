// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frames in flight: a fixed number of slots, taken out in the order of their time.
//!
//! Allocates nothing after its creation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Frames that wait for their time.
pub(super) struct Store {
    frame_bytes_max: usize,
    bytes: Vec<u8>,
    free: Vec<u32>,
    /// Time, arrival number (equal times leave in order), slot, length.
    waiting: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    arrivals: u64,
}

impl Store {
    pub(super) fn new(slots: u32, frame_bytes_max: usize) -> Self {
        Self {
            frame_bytes_max,
            bytes: vec![0; slots as usize * frame_bytes_max],
            free: (0..slots).rev().collect(),
            waiting: BinaryHeap::with_capacity(slots as usize),
            arrivals: 0,
        }
    }

    /// Keeps a copy of `frame` until `at_ns`; `false`: there is no room.
    pub(super) fn put(&mut self, at_ns: u64, frame: &[u8]) -> bool {
        let Some(slot) = self.free.pop() else {
            return false;
        };
        let start = slot as usize * self.frame_bytes_max;
        let length = frame.len().min(self.frame_bytes_max);
        self.bytes[start..start + length].copy_from_slice(&frame[..length]);
        self.waiting
            .push(Reverse((at_ns, self.arrivals, slot, length as u32)));
        self.arrivals += 1;
        true
    }

    /// The number of frames that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// When the next frame is due.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// The next frame that is due at `now_ns`, with its time, shown to `deliver`.
    pub(super) fn take(&mut self, now_ns: u64, deliver: impl FnOnce(u64, &[u8])) -> bool {
        if self.next_ns().is_none_or(|at_ns| at_ns > now_ns) {
            return false;
        }
        if let Some(Reverse((at_ns, _, slot, length))) = self.waiting.pop() {
            let start = slot as usize * self.frame_bytes_max;
            deliver(at_ns, &self.bytes[start..start + length as usize]);
            self.free.push(slot);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_order_of_time_then_of_arrival() {
        let mut store = Store::new(4, 8);
        for (at_ns, frame) in [(20, b"late"), (10, b"frst"), (10, b"scnd")] {
            assert!(store.put(at_ns, frame));
        }
        let mut out = Vec::new();
        while store.take(15, |at, frame| out.push((at, frame.to_vec()))) {}
        assert_eq!(out, [(10, b"frst".to_vec()), (10, b"scnd".to_vec())]);
        assert_eq!(store.next_ns(), Some(20));
    }

    #[test]
    fn a_full_store_refuses_and_a_taken_slot_is_free_again() {
        let mut store = Store::new(1, 4);
        assert!(store.put(1, b"a"));
        assert!(!store.put(1, b"b"));
        assert!(store.take(1, |_, frame| assert_eq!(frame, b"a")));
        assert!(store.put(2, b"longer than a slot"));
        assert!(store.take(2, |_, frame| assert_eq!(frame, b"long")));
    }
}
