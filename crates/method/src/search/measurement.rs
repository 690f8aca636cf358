// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of a trial.

use super::classify::Trial;

/// The counts of one trial, over all directions together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measurement {
    /// Intended frames: ⌊load · duration⌋ for each direction.
    pub intended_frames: u64,
    /// Frames that the tester sent. Fewer than intended is never a success.
    pub offered_frames: u64,
    /// Offered frames that did not come back with our signature.
    pub lost_frames: u64,
    /// Seconds that count for the duration sum; `None` for the intended duration.
    pub effective_duration_s: Option<f64>,
    /// Seconds of the trial with all waits, for the time limit; `None` for the duration.
    pub elapsed_s: Option<f64>,
}

impl Measurement {
    /// A trial of which the tester sent all frames.
    pub fn new(intended_frames: u64, lost_frames: u64) -> Self {
        Self {
            intended_frames,
            offered_frames: intended_frames,
            lost_frames,
            ..Self::default()
        }
    }

    /// `(lost + |intended − offered|) / max(intended, offered)`: 0 … 1, and 1 if nothing was sent.
    pub fn loss_ratio(&self) -> f64 {
        let whole = self.intended_frames.max(self.offered_frames);
        if whole == 0 {
            return 1.0;
        }
        let missed = self.intended_frames.abs_diff(self.offered_frames);
        let bad = self.lost_frames.saturating_add(missed).min(whole);
        bad as f64 / whole as f64
    }

    /// The tester sent less than intended.
    pub fn is_under_run(&self) -> bool {
        self.offered_frames < self.intended_frames
    }

    pub(super) fn trial(&self, duration_s: f64) -> Trial {
        Trial {
            duration_s,
            effective_duration_s: self
                .effective_duration_s
                .filter(|s| *s > 0.0)
                .unwrap_or(duration_s),
            loss_ratio: self.loss_ratio(),
            under_run: self.is_under_run(),
        }
    }
}
