// SPDX-License-Identifier: MIT OR Apache-2.0
//! The impairments of the wire, the same in both directions.

use linerate_method::impair::{BurstLoss, Impairment, Reorder, Wire};

use super::ecn::EcnChange;
use crate::{Fault, Nic};

/// The behaviour of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WireSpec {
    pub impairment: Impairment,
    /// What it does to the ECN field.
    pub ecn: EcnChange,
    /// The seed of its random numbers; direction B to A uses the next.
    pub seed: u64,
    /// The card at each end, with the faults of host A's. Without, the hosts compute checksums and cut packets.
    pub nic: Option<Nic>,
}

impl WireSpec {
    /// Adds a fault, if it is the wire's.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        if fault.is_of_nic() {
            self.nic = Some(self.nic.unwrap_or_default().with(fault));
        }
        let impairment = &mut self.impairment;
        match fault {
            Fault::BlackHole { bytes } => impairment.longest_bytes = ETHERNET + bytes as usize,
            Fault::EcnClear => self.ecn = EcnChange::Cleared,
            Fault::EcnMark { every } => self.ecn = EcnChange::Marked { every },
            Fault::Loss { ratio } => impairment.loss_ratio = ratio,
            Fault::BurstLoss { ratio, frames } => impairment.burst_loss = bursts(ratio, frames),
            Fault::Reorder { ratio, by_ns } => {
                impairment.reorder = Reorder {
                    ratio,
                    extra_ns: by_ns,
                };
            }
            Fault::Duplicate { ratio } => impairment.duplicate_ratio = ratio,
            Fault::Corrupt { ratio } => {
                impairment.corrupt_ratio = ratio;
                impairment.corrupt_from_byte = AFTER_IPV4;
            }
            Fault::Delay { ns, jitter_ns } => {
                impairment.delay_ns = ns;
                impairment.jitter_ns = jitter_ns;
            }
            Fault::Rate {
                bits_per_second,
                fifo_bytes,
            } => {
                impairment.rate_bits_per_second = bits_per_second;
                impairment.fifo_bytes = fifo_bytes.into();
            }
            Fault::Reno {
                delay_ns,
                loss_ratio,
            } => {
                impairment.delay_ns = delay_ns;
                impairment.loss_ratio = loss_ratio;
            }
            _ => {}
        }
        self
    }

    pub(super) fn direction(&self, number: u64) -> Wire {
        Wire::new(self.impairment, self.seed.wrapping_add(number))
    }
}

/// The probabilities for this mean loss and mean burst length.
fn bursts(ratio: f64, frames: u32) -> BurstLoss {
    let p_leave = 1.0 / f64::from(frames);
    let p_enter = p_leave * ratio / (1.0 - ratio).max(f64::EPSILON);
    BurstLoss {
        p_enter: p_enter.min(1.0),
        p_leave,
    }
}

/// A bit flipped before this would change the addresses.
const AFTER_IPV4: usize = ETHERNET + 20;
/// Bytes of a frame before its packet.
const ETHERNET: usize = 14;
