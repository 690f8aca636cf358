// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the benchmarks take, waits included, before they start. All in seconds.

use super::Profile;
use crate::back_to_back::{Campaign, Plan, wait_s};
use crate::loss_curve::{LossCurve, StepError};
use crate::search::{Circumstances, Estimate, GoalError, estimate};

impl Profile {
    /// The search for the profile's goals, for one frame size, between two loads in frames per
    /// second and direction.
    pub fn search_s(&self, min_load_fps: f64, max_load_fps: f64) -> Result<Estimate, GoalError> {
        let known = Circumstances {
            per_trial_s: self.waits.per_trial_s(),
            spread: 0.0,
        };
        estimate(&self.goals(), min_load_fps, max_load_fps, known)
    }

    /// The loss curve of one frame size, at most.
    pub fn loss_curve_s(&self, step_ratio: f64) -> Result<f64, StepError> {
        let trials = LossCurve::new(1.0, step_ratio)?.trials_max();
        Ok(f64::from(trials) * (self.loss_curve_trial_s + self.waits.per_trial_s()))
    }

    /// How the bursts of one frame size are searched for, at this rate in frames per second.
    pub fn bursts(&self, burst_fps: f64) -> Plan {
        Plan {
            burst_fps,
            first_limit_s: FIRST_LIMIT_S,
            limit_s: self.burst_limit_s,
            step_ratio: 0.01,
            tries: BURST_TRIES,
            searches: self.burst_searches,
        }
    }

    /// Latency at one load.
    pub fn latency_s(&self) -> f64 {
        f64::from(self.latency_repeats) * (self.latency_stream_s + self.waits.per_trial_s())
    }

    /// System recovery of one frame size.
    pub fn recovery_total_s(&self) -> f64 {
        let once_s = self.overload_s + self.recovery_s + self.waits.per_trial_s();
        f64::from(self.repeats) * once_s
    }

    /// Reset, as often as it is measured.
    pub fn reset_total_s(&self) -> f64 {
        f64::from(self.repeats) * (self.reset_s + self.waits.per_trial_s())
    }

    /// The back-to-back searches of one frame size, for a buffer of some milliseconds: most of the
    /// time is waited, so that its size hardly matters. Rates in frames per second.
    pub fn back_to_back_s(&self, line_rate_fps: f64, throughput_fps: f64) -> f64 {
        let longest = (line_rate_fps * TYPICAL_BURST_S) as u64;
        let mut campaign = Campaign::new(self.bursts(line_rate_fps));
        let mut total_s = 0.0;
        while let Some(frames) = campaign.next_frames() {
            let burst_s = frames as f64 / line_rate_fps;
            let residual_s = wait_s(frames, line_rate_fps, throughput_fps, self.burst_residual_s);
            let waits_s = self.waits.learning_s + self.waits.settle_s;
            total_s += burst_s + residual_s.max(self.waits.residual_s) + waits_s;
            campaign.report(frames.saturating_sub(longest));
        }
        total_s
    }
}

/// A first limit that serves most devices; it rises where it was too low.
const FIRST_LIMIT_S: f64 = 0.1;
const TYPICAL_BURST_S: f64 = 0.005;
/// A burst that loses is sent once more.
const BURST_TRIES: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame_size::{RFC_2544_BYTES, line_rate_fps};
    use crate::search::{Controller, wall_time_s};
    use crate::simulated::Device;

    fn gigabit(size: u16) -> (f64, f64) {
        let line_rate_fps = line_rate_fps(1_000_000_000, size);
        (line_rate_fps / 1000.0, line_rate_fps)
    }

    /// The goal of `quick`: NDR and PDR of all seven sizes of a gigabit link in five minutes.
    #[test]
    fn quick_is_quick() {
        let search = |size| {
            let (min, max) = gigabit(size);
            Profile::QUICK.search_s(min, max).unwrap().typical_s
        };
        let typical_s: f64 = RFC_2544_BYTES.into_iter().map(search).sum();
        assert!(typical_s <= 100.0, "{typical_s}");
    }

    /// Even where no trial is like the other: capacities that vary by a tenth.
    #[test]
    fn quick_is_quick_enough_on_an_unsteady_device() {
        for suite in 0..20 {
            let mut took_s = 0.0;
            for (seed, size) in (100 * suite..).zip(RFC_2544_BYTES) {
                let (min, max) = gigabit(size);
                let device = Device::Jittery {
                    lowest_fps: 0.63 * max,
                    highest_fps: 0.7 * max,
                };
                let search = Controller::new(&Profile::QUICK.goals(), min, max).unwrap();
                let per_trial_s = Profile::QUICK.waits.per_trial_s();
                took_s += wall_time_s(search, device, seed, per_trial_s);
            }
            assert!(took_s <= 300.0, "{took_s}");
        }
    }

    #[test]
    fn strict_takes_its_time() {
        let strict = Profile::STRICT;
        assert_eq!(strict.loss_curve_s(0.1).unwrap(), 10.0 * 69.0);
        assert_eq!(strict.latency_s(), 20.0 * 129.0);
        assert_eq!(strict.recovery_total_s(), 10.0 * 129.0);
        // Of each search some fifteen bursts, and 9 s of waiting for each.
        let back_to_back_s = strict.back_to_back_s(1e6, 5e5);
        assert!(
            (50.0 * 100.0..50.0 * 200.0).contains(&back_to_back_s),
            "{back_to_back_s}"
        );
    }
}
