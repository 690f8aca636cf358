// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides the fate of each frame of one direction, reproducibly from a seed.

use super::WireSpec;

/// One direction's state.
#[derive(Clone, Debug)]
pub(super) struct Impairment {
    spec: WireSpec,
    random: u64,
    in_burst: bool,
    /// When the last bit of the queue will have left.
    line_free_ns: u64,
    /// No frame that is not held up is delivered before this.
    last_ns: u64,
}

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Drop(Reason),
    Pass {
        at_ns: u64,
        copies: u8,
        corrupt_bit: Option<u32>,
    },
}

/// Why the wire was told to lose a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Loss,
    Burst,
    Queue,
}

impl Impairment {
    pub(super) fn new(spec: WireSpec, seed: u64) -> Self {
        Self {
            spec,
            random: seed,
            in_burst: false,
            line_free_ns: 0,
            last_ns: 0,
        }
    }

    /// A frame of `bytes` arrives at `now_ns`.
    pub(super) fn admit(&mut self, now_ns: u64, bytes: usize) -> Fate {
        if self.burst_goes_on() {
            return Fate::Drop(Reason::Burst);
        }
        if self.happens(self.spec.loss_ratio) {
            return Fate::Drop(Reason::Loss);
        }
        let Some(sent_ns) = self.leaves_queue(now_ns, bytes) else {
            return Fate::Drop(Reason::Queue);
        };
        Fate::Pass {
            at_ns: self.arrives(sent_ns),
            copies: if self.happens(self.spec.duplicate_ratio) {
                2
            } else {
                1
            },
            corrupt_bit: self
                .happens(self.spec.corrupt_ratio)
                .then(|| self.next() as u32),
        }
    }

    /// Gilbert's two states; the loss ratio is the share of time in the bad one.
    fn burst_goes_on(&mut self) -> bool {
        let Some((ratio, frames)) = self.spec.burst_loss else {
            return false;
        };
        let leave = 1.0 / f64::from(frames);
        let enter = leave * ratio / (1.0 - ratio).max(f64::EPSILON);
        let changes = self.happens(if self.in_burst { leave } else { enter });
        self.in_burst ^= changes;
        self.in_burst
    }

    fn leaves_queue(&mut self, now_ns: u64, bytes: usize) -> Option<u64> {
        let Some((rate, fifo_bytes)) = self.spec.rate else {
            return Some(now_ns);
        };
        let line_ns = |bytes: u64| u128::from(bytes) * 8_000_000_000 / u128::from(rate);
        let waits_ns = self.line_free_ns.saturating_sub(now_ns);
        if u128::from(waits_ns) > line_ns(fifo_bytes.into()) {
            return None;
        }
        self.line_free_ns = now_ns.max(self.line_free_ns) + line_ns(bytes as u64) as u64;
        Some(self.line_free_ns)
    }

    fn arrives(&mut self, sent_ns: u64) -> u64 {
        let jitter = match self.spec.jitter_ns {
            0 => 0,
            most => self.next() % (most + 1),
        };
        let in_turn = (sent_ns + self.spec.delay_ns + jitter).max(self.last_ns);
        let reorder = self.spec.reorder;
        match reorder {
            Some((ratio, by_ns)) if self.happens(ratio) => in_turn + by_ns,
            _ => {
                self.last_ns = in_turn;
                in_turn
            }
        }
    }

    fn happens(&mut self, ratio: f64) -> bool {
        ratio > 0.0 && ((self.next() >> 11) as f64) < ratio * 9_007_199_254_740_992.0
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
