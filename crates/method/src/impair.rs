// SPDX-License-Identifier: MIT OR Apache-2.0
//! The impairments of the lab's wire, in one direction.
//!
//! A frame may be lost (alone or in bursts, or because it is too long), then waits in a byte-limited FIFO with a line rate, then has a
//! delay with jitter, and may be duplicated, corrupted or held back. The model stores no frames: it returns the
//! time at which the frame leaves. Times must not decrease; one that does counts as the last one. The same
//! seed, configuration and frames give the same results.
//!
//! ```
//! use linerate_method::impair::{Fate, Impairment, Wire};
//! let mut wire = Wire::new(Impairment { delay_ns: 1_000_000, ..Impairment::default() }, 42);
//! assert_eq!(wire.admit(5, 1514), Fate::Pass { at_ns: 1_000_005, copies: 1, corrupt_bit: None });
//! ```

use crate::rng::Rng;

/// Impairments of the wire; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Impairment {
    /// One-way delay.
    pub delay_ns: u64,
    /// Additional uniform delay of 0 to this; it does not reorder frames.
    pub jitter_ns: u64,
    /// Longer frames vanish; 0 is no limit.
    pub longest_bytes: usize,
    /// Share of frames lost independently.
    pub loss_ratio: f64,
    /// Loss in bursts.
    pub burst_loss: BurstLoss,
    /// Reordering.
    pub reorder: Reorder,
    /// Share of frames that arrive twice.
    pub duplicate_ratio: f64,
    /// Share of frames with one bit flipped.
    pub corrupt_ratio: f64,
    /// First byte of a frame that may be corrupted (0: any); shorter frames are not.
    pub corrupt_from_byte: usize,
    /// Line rate in bits of frame per second; 0 is unlimited, without a queue.
    pub rate_bits_per_second: u64,
    /// Size of the queue, including the frame being sent. A larger frame never passes.
    pub fifo_bytes: u64,
}

/// Gilbert's model (1960): the wire is good or bad, and loses all frames while it is bad. The mean
/// loss is `p_enter / (p_enter + p_leave)`, the mean burst `1 / p_leave` frames.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BurstLoss {
    /// Probability per frame to turn bad.
    pub p_enter: f64,
    /// Probability per frame to turn good.
    pub p_leave: f64,
}

/// A share of the frames is held back, so that others overtake it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reorder {
    pub ratio: f64,
    pub extra_ns: u64,
}

/// The fate of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Drop(DropReason),
    Pass {
        /// When it leaves, with all copies.
        at_ns: u64,
        /// 1, or 2 if duplicated.
        copies: u8,
        /// The bit to flip, from 0.
        corrupt_bit: Option<u64>,
    },
}

/// Why a frame was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// By `longest_bytes`.
    TooLong,
    /// By `loss_ratio`.
    Loss,
    /// By `burst_loss`.
    BurstLoss,
    /// The FIFO was full.
    Fifo,
}

/// Frame counts: `admitted = passed + too_long + lost + burst_lost + fifo_lost`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WireCounts {
    pub admitted: u64,
    pub passed: u64,
    pub too_long: u64,
    pub lost: u64,
    pub burst_lost: u64,
    pub fifo_lost: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    pub held_back: u64,
}

/// One direction of the wire.
#[derive(Debug, Clone)]
pub struct Wire {
    config: Impairment,
    seed: u64,
    rng: Rng,
    counts: WireCounts,
    bad: bool,
    now_ns: u64,
    /// When the queue will be empty, in ns · 2²⁰ (so that no rate is rounded).
    idle_from: u128,
    last_at_ns: u64,
}

impl Wire {
    /// Creates a wire in its good state with an empty FIFO.
    pub fn new(config: Impairment, seed: u64) -> Self {
        Self {
            config,
            seed,
            rng: Rng::new(seed),
            counts: WireCounts::default(),
            bad: false,
            now_ns: 0,
            idle_from: 0,
            last_at_ns: 0,
        }
    }

    /// The seed, for the record.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The counts so far.
    pub fn counts(&self) -> WireCounts {
        self.counts
    }

    /// Admits a frame of `frame_bytes` (without FCS) at `now_ns`.
    pub fn admit(&mut self, now_ns: u64, frame_bytes: usize) -> Fate {
        self.now_ns = self.now_ns.max(now_ns);
        let draw = self.draw(frame_bytes);
        let fate = match self.lost_by_chance(&draw) {
            Some(reason) => Fate::Drop(reason),
            None => self.pass(frame_bytes, &draw),
        };
        self.count(fate);
        fate
    }

    /// Admits a frame that is exempt from random impairments: only length, queue and delay apply.
    pub fn admit_spared(&mut self, now_ns: u64, frame_bytes: usize) -> Fate {
        self.now_ns = self.now_ns.max(now_ns);
        let fate = self.pass(frame_bytes, &Draw::default());
        self.count(fate);
        fate
    }

    fn pass(&mut self, frame_bytes: usize, draw: &Draw) -> Fate {
        let longest = self.config.longest_bytes;
        if longest > 0 && frame_bytes > longest {
            return Fate::Drop(DropReason::TooLong);
        }
        match self.through_fifo(frame_bytes) {
            None => Fate::Drop(DropReason::Fifo),
            Some(sent_ns) => self.travel(sent_ns, draw),
        }
    }

    /// Draws all random numbers of one frame, always the same number of them: changing one setting does not
    /// change the draws of the others.
    fn draw(&mut self, frame_bytes: usize) -> Draw {
        let turn = if self.bad {
            self.config.burst_loss.p_leave
        } else {
            self.config.burst_loss.p_enter
        };
        let from = self.config.corrupt_from_byte;
        let bits = frame_bytes.saturating_sub(from) as u64 * 8;
        Draw {
            turns: self.rng.chance(turn),
            lost: self.rng.chance(self.config.loss_ratio),
            twice: self.rng.chance(self.config.duplicate_ratio),
            held_back: self.rng.chance(self.config.reorder.ratio),
            jitter_ns: self.rng.below(self.config.jitter_ns.saturating_add(1)),
            corrupt: self.rng.chance(self.config.corrupt_ratio) && bits > 0,
            bit: from as u64 * 8 + self.rng.below(bits),
        }
    }

    fn lost_by_chance(&mut self, draw: &Draw) -> Option<DropReason> {
        self.bad ^= draw.turns;
        if self.bad {
            return Some(DropReason::BurstLoss);
        }
        draw.lost.then_some(DropReason::Loss)
    }

    /// Returns when the last bit is sent; `None` if the FIFO is full. The queue length is the remaining work:
    /// bytes = time · rate / 8.
    fn through_fifo(&mut self, frame_bytes: usize) -> Option<u64> {
        let rate = u128::from(self.config.rate_bits_per_second);
        if rate == 0 {
            return Some(self.now_ns);
        }
        let now = u128::from(self.now_ns) << FRACTION_BITS;
        let starts = self.idle_from.max(now);
        let work = |bytes: u128| ((bytes * 8 * NS_PER_S) << FRACTION_BITS).div_ceil(rate);
        let done = starts + work(frame_bytes as u128);
        if done - now > work(u128::from(self.config.fifo_bytes)) {
            return None;
        }
        self.idle_from = done;
        Some((done >> FRACTION_BITS) as u64)
    }

    fn travel(&mut self, sent_ns: u64, draw: &Draw) -> Fate {
        let at_ns = sent_ns
            .saturating_add(self.config.delay_ns)
            .saturating_add(draw.jitter_ns);
        let in_order_ns = at_ns.max(self.last_at_ns);
        let at_ns = if draw.held_back {
            self.counts.held_back += 1;
            in_order_ns.saturating_add(self.config.reorder.extra_ns)
        } else {
            self.last_at_ns = in_order_ns;
            in_order_ns
        };
        Fate::Pass {
            at_ns,
            copies: 1 + u8::from(draw.twice),
            corrupt_bit: draw.corrupt.then_some(draw.bit),
        }
    }

    fn count(&mut self, fate: Fate) {
        let counts = &mut self.counts;
        counts.admitted += 1;
        match fate {
            Fate::Drop(DropReason::TooLong) => counts.too_long += 1,
            Fate::Drop(DropReason::Loss) => counts.lost += 1,
            Fate::Drop(DropReason::BurstLoss) => counts.burst_lost += 1,
            Fate::Drop(DropReason::Fifo) => counts.fifo_lost += 1,
            Fate::Pass {
                copies,
                corrupt_bit,
                ..
            } => {
                counts.passed += 1;
                counts.duplicated += u64::from(copies > 1);
                counts.corrupted += u64::from(corrupt_bit.is_some());
            }
        }
    }
}

#[derive(Default)]
struct Draw {
    turns: bool,
    lost: bool,
    twice: bool,
    held_back: bool,
    jitter_ns: u64,
    corrupt: bool,
    bit: u64,
}

const NS_PER_S: u128 = 1_000_000_000;
const FRACTION_BITS: u32 = 20;

#[cfg(test)]
mod tests;
