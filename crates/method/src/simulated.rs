// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulated devices under test: tests judge a search by many of them, and its duration is estimated with one.

use crate::rng::Rng;
use crate::search::Measurement;

/// How a device forwards. Rates are frames per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Device {
    /// Forwards up to its capacity.
    Hard { capacity_fps: f64 },
    /// As hard, with a queue for some more frames in each trial.
    Buffered { capacity_fps: f64, frames: u64 },
    /// As hard, and it always loses this share.
    Floor { capacity_fps: f64, loss_ratio: f64 },
    /// As hard, and some trials, drawn with this probability, lose at least this many frames.
    Noisy {
        capacity_fps: f64,
        probability: f64,
        frames: u64,
    },
    /// Another capacity in each trial, uniform between the two.
    Jittery { lowest_fps: f64, highest_fps: f64 },
    /// As hard, and every `nth` trial loses at least this many frames.
    EveryNth {
        capacity_fps: f64,
        nth: u32,
        frames: u64,
    },
}

/// A device with its random numbers and its history.
#[derive(Debug, Clone)]
pub struct Simulated {
    device: Device,
    rng: Rng,
    trials: u32,
}

impl Simulated {
    /// Creates a device; the seed matters only to random ones.
    pub fn new(device: Device, seed: u64) -> Self {
        Self {
            device,
            rng: Rng::new(seed),
            trials: 0,
        }
    }

    /// Offers `load_fps` frames per second for `duration_s` seconds.
    pub fn offer(&mut self, load_fps: f64, duration_s: f64) -> Measurement {
        let sent = (duration_s * load_fps) as u64;
        let chance = self.rng.unit();
        self.trials += 1;
        let capacity_fps = self.device.capacity_fps(chance);
        let mut room = (duration_s * capacity_fps) as u64;
        let mut least_lost = 0;
        match self.device {
            Device::Hard { .. } | Device::Jittery { .. } => {}
            Device::Buffered { frames, .. } => room += frames,
            Device::Floor { loss_ratio, .. } => least_lost = (sent as f64 * loss_ratio) as u64,
            Device::Noisy {
                probability,
                frames,
                ..
            } => least_lost = if chance < probability { frames } else { 0 },
            Device::EveryNth { nth, frames, .. } => {
                least_lost = if self.trials.is_multiple_of(nth) {
                    frames
                } else {
                    0
                };
            }
        }
        let lost = sent.saturating_sub(room).max(least_lost);
        Measurement::new(sent, lost.min(sent))
    }
}

impl Device {
    fn capacity_fps(&self, chance: f64) -> f64 {
        match *self {
            Self::Hard { capacity_fps }
            | Self::Buffered { capacity_fps, .. }
            | Self::Floor { capacity_fps, .. }
            | Self::Noisy { capacity_fps, .. }
            | Self::EveryNth { capacity_fps, .. } => capacity_fps,
            Self::Jittery {
                lowest_fps,
                highest_fps,
            } => lowest_fps + chance * (highest_fps - lowest_fps),
        }
    }
}
