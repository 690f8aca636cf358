// SPDX-License-Identifier: MIT OR Apache-2.0
//! Estimates the duration of a search by running it against simulated devices.
//!
//! A device with a sharp limit takes about the same number of trials wherever the limit is: that is the typical
//! time, unless the device is known to be unsteady. A device that is faster than the tester takes a few trials; an
//! unsteady one, or one that loses a little at any load, takes several times as many.

use super::{Controller, Goal, GoalError, Step};
use crate::simulated::{Device, Simulated};

/// The wall time of one search in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// If the device forwards the maximum load.
    pub least_s: f64,
    /// If the device has a limit between the loads, as steady as [`Circumstances::spread`] says.
    pub typical_s: f64,
    /// If the device is unsteady, or loses at every load.
    pub most_s: f64,
}

/// Known properties of tester and device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circumstances {
    /// Seconds per trial beyond its traffic: [`crate::profile::Waits::per_trial_s`] and the tester's overhead.
    pub per_trial_s: f64,
    /// The share by which the device's limit varies from trial to trial
    /// ([`crate::steadiness::RateWatch`]); 0 for a sharp limit.
    pub spread: f64,
}

/// Estimates a search for `goals` between two loads (frames per second).
pub fn estimate(
    goals: &[Goal],
    min_load_fps: f64,
    max_load_fps: f64,
    known: Circumstances,
) -> Result<Estimate, GoalError> {
    let search = Controller::new(goals, min_load_fps, max_load_fps)?;
    let time = |device, seed| wall_time_s(search.clone(), device, seed, known.per_trial_s);
    let hard = |share: f64| Device::Hard {
        capacity_fps: min_load_fps + share * (max_load_fps - min_load_fps),
    };
    let mut sharp: Vec<f64> = SHARES.iter().map(|&share| time(hard(share), 0)).collect();
    sharp.sort_unstable_by(f64::total_cmp);
    let unsteady = (0..DRAWS).map(|seed| {
        let share = SHARES[seed as usize % SHARES.len()];
        time(
            unsteady(
                min_load_fps + share * (max_load_fps - min_load_fps),
                known.spread,
            ),
            seed,
        )
    });
    let typical_s = if known.spread > 0.0 {
        unsteady.sum::<f64>() / DRAWS as f64
    } else {
        sharp[sharp.len() / 2]
    };
    let jittery = Device::Jittery {
        lowest_fps: 0.45 * max_load_fps,
        highest_fps: 0.5 * max_load_fps,
    };
    let leaky = Device::Floor {
        capacity_fps: 0.5 * max_load_fps,
        loss_ratio: 0.001,
    };
    let worst = (0..8)
        .map(|seed| time(jittery, seed))
        .chain([time(leaky, 0), typical_s]);
    Ok(Estimate {
        least_s: time(hard(2.0), 0).min(sharp[0]),
        typical_s,
        most_s: worst.chain(sharp).fold(0.0, f64::max),
    })
}

impl Controller {
    /// Estimates the remaining seconds if the device does not change.
    pub fn left_s(&self, known: Circumstances) -> f64 {
        let Circumstances {
            per_trial_s,
            spread,
        } = known;
        let mut rest = self.clone();
        rest.time_limit_s = None;
        let spent_s = self.traffic_s() + f64::from(self.trials()) * per_trial_s;
        let device = unsteady(self.seen_capacity_fps(), spread);
        wall_time_s(rest, device, 0, per_trial_s) - spent_s
    }

    /// The estimated limit of the device: between the bounds, or the last forwarded rate.
    fn seen_capacity_fps(&self) -> f64 {
        let max_fps = self.lattice.load_fps(self.lattice.last());
        let found = self.results().first().copied();
        match found.map(|bounds| (bounds.lower_fps, bounds.upper_fps)) {
            Some((Some(lower), Some(upper))) => f64::midpoint(lower, upper),
            _ => self.last_forwarded_fps.unwrap_or(max_fps / 2.0),
        }
    }
}

fn unsteady(capacity_fps: f64, spread: f64) -> Device {
    Device::Jittery {
        lowest_fps: capacity_fps * (1.0 - spread),
        highest_fps: capacity_fps,
    }
}

pub(crate) fn wall_time_s(
    mut search: Controller,
    device: Device,
    seed: u64,
    per_trial_s: f64,
) -> f64 {
    let mut device = Simulated::new(device, seed);
    while let Step::Measure {
        load_fps,
        duration_s,
    } = search.next()
    {
        search.report(device.offer(load_fps, duration_s));
    }
    search.traffic_s() + f64::from(search.trials()) * per_trial_s
}

/// Draws of an unsteady device: a few for each share.
const DRAWS: u64 = 28;
/// Positions of the device's limit between the loads.
const SHARES: [f64; 7] = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95];
