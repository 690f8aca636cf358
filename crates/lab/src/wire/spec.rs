// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the wire is told to do, in both directions alike.

use linerate_method::impair::{BurstLoss, Impairment, Reorder, Wire};

use crate::Fault;

/// The behaviour of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WireSpec {
    pub impairment: Impairment,
    /// Of the generator that decides; direction B to A uses the next number.
    pub seed: u64,
}

impl WireSpec {
    /// Adds what a fault does to the wire; the others leave it alone.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        let does = &mut self.impairment;
        match fault {
            Fault::Loss { ratio } => does.loss_ratio = ratio,
            Fault::BurstLoss { ratio, frames } => does.burst_loss = bursts(ratio, frames),
            Fault::Reorder { ratio, by_ns } => {
                does.reorder = Reorder {
                    ratio,
                    extra_ns: by_ns,
                };
            }
            Fault::Duplicate { ratio } => does.duplicate_ratio = ratio,
            Fault::Corrupt { ratio } => {
                does.corrupt_ratio = ratio;
                does.corrupt_from_byte = BEHIND_IPV4;
            }
            Fault::Delay { ns, jitter_ns } => {
                does.delay_ns = ns;
                does.jitter_ns = jitter_ns;
            }
            Fault::Rate {
                bits_per_second,
                fifo_bytes,
            } => {
                does.rate_bits_per_second = bits_per_second;
                does.fifo_bytes = fifo_bytes.into();
            }
            Fault::Reno {
                delay_ns,
                loss_ratio,
            } => {
                does.delay_ns = delay_ns;
                does.loss_ratio = loss_ratio;
            }
            _ => {}
        }
        self
    }

    pub(super) fn direction(&self, number: u64) -> Wire {
        Wire::new(self.impairment, self.seed.wrapping_add(number))
    }
}

/// The chances that give this mean loss and this mean length.
fn bursts(ratio: f64, frames: u32) -> BurstLoss {
    let p_leave = 1.0 / f64::from(frames);
    let p_enter = p_leave * ratio / (1.0 - ratio).max(f64::EPSILON);
    BurstLoss {
        p_enter: p_enter.min(1.0),
        p_leave,
    }
}

/// Damage in front of it would be a frame or packet to somebody else; ARP is shorter.
const BEHIND_IPV4: usize = 14 + 20;
