// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the wire is told to do, in both directions alike.

use super::impairment::Impairment;
use crate::lab::Fault;

/// The behaviour of a wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireSpec {
    pub delay_ns: u64,
    /// Added to the delay of each frame: uniform, at most this, never overtaking.
    pub jitter_ns: u64,
    pub loss_ratio: f64,
    /// Share lost in bursts, and the mean length of one in frames.
    pub burst_loss: Option<(f64, u32)>,
    /// Share held up, and for how long.
    pub reorder: Option<(f64, u64)>,
    pub duplicate_ratio: f64,
    pub corrupt_ratio: f64,
    /// Bits per second of whole frames, and the bytes that may wait.
    pub rate: Option<(u64, u32)>,
    /// Of the generator that decides; direction B to A uses the next number.
    pub seed: u64,
}

impl WireSpec {
    /// Carries every frame at once.
    pub const PLAIN: Self = Self {
        delay_ns: 0,
        jitter_ns: 0,
        loss_ratio: 0.0,
        burst_loss: None,
        reorder: None,
        duplicate_ratio: 0.0,
        corrupt_ratio: 0.0,
        rate: None,
        seed: 1,
    };

    /// Adds what a fault does to the wire; the others leave it alone.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        match fault {
            Fault::Loss { ratio } => self.loss_ratio = ratio,
            Fault::BurstLoss { ratio, frames } => self.burst_loss = Some((ratio, frames)),
            Fault::Reorder { ratio, by_ns } => self.reorder = Some((ratio, by_ns)),
            Fault::Duplicate { ratio } => self.duplicate_ratio = ratio,
            Fault::Corrupt { ratio } => self.corrupt_ratio = ratio,
            Fault::Delay { ns, jitter_ns } => {
                self.delay_ns = ns;
                self.jitter_ns = jitter_ns;
            }
            Fault::Rate {
                bits_per_second,
                fifo_bytes,
            } => {
                self.rate = Some((bits_per_second, fifo_bytes));
            }
            Fault::Reno {
                delay_ns,
                loss_ratio,
            } => {
                self.delay_ns = delay_ns;
                self.loss_ratio = loss_ratio;
            }
            _ => {}
        }
        self
    }

    pub(super) fn impairment(&self, direction: u64) -> Impairment {
        Impairment::new(*self, self.seed.wrapping_add(direction))
    }
}
