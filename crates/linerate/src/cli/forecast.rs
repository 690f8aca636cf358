// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a command takes: the traffic of its steps and, per step, what begins and ends it. The latter is corrected
//! by the steps that have ended. No clock: the caller says what time it is.

use std::ops::Add;

/// Steps to come.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ahead {
    /// Expected number.
    steps: f64,
    /// Their traffic, seconds.
    traffic_s: f64,
}

/// The steps of a command, under way.
#[derive(Debug, Clone)]
pub(super) struct Forecast {
    /// Steps that `overhead_s` is the mean of; it begins with a few typical ones.
    known: f64,
    overhead_s: f64,
    step: Option<Step>,
    later: Ahead,
    /// When everything would end, as it was announced; until a correction of it.
    announced_s: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    begun_s: f64,
    traffic_s: f64,
}

impl Ahead {
    /// This many steps of one length.
    pub(super) fn of(steps: f64, each_ms: u64) -> Self {
        let traffic_s = steps * each_ms as f64 / 1e3;
        Self { steps, traffic_s }
    }

    /// Without the first step, of this length.
    pub(super) fn after(self, step_ms: u64) -> Self {
        Self {
            steps: (self.steps - 1.0).max(0.0),
            traffic_s: (self.traffic_s - step_ms as f64 / 1e3).max(0.0),
        }
    }

    /// The longer of two that run at the same time.
    pub(super) fn or_longer(self, other: Self) -> Self {
        if other.traffic_s > self.traffic_s {
            other
        } else {
            self
        }
    }
}

impl Add for Ahead {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            traffic_s: self.traffic_s + other.traffic_s,
        }
    }
}

impl Forecast {
    pub(super) const fn new() -> Self {
        Self {
            known: TYPICAL_STEPS,
            overhead_s: OVERHEAD_S,
            step: None,
            later: Ahead {
                steps: 0.0,
                traffic_s: 0.0,
            },
            announced_s: None,
        }
    }

    /// The duration of these steps and of what follows them.
    pub(super) fn seconds(&self, ahead: Ahead) -> f64 {
        ahead.traffic_s + ahead.steps * self.overhead_s + END_S
    }

    /// The user reads that all ends in this time.
    pub(super) fn announce(&mut self, now_s: f64, seconds: f64) {
        self.announced_s = Some(now_s + seconds);
    }

    /// A step begins, and the one before has ended. Returns the time left where the announcement turned out to be
    /// wrong: once.
    pub(super) fn step(&mut self, now_s: f64, step_ms: u64, later: Ahead) -> Option<f64> {
        if let Some(last) = self.step {
            let took_s = now_s - last.begun_s - last.traffic_s;
            self.known += 1.0;
            self.overhead_s += (took_s.max(0.0) - self.overhead_s) / self.known;
        }
        let traffic_s = step_ms as f64 / 1e3;
        self.step = Some(Step {
            begun_s: now_s,
            traffic_s,
        });
        self.later = later;
        let left_s = self.left_s(now_s)?;
        let said_s = self
            .announced_s
            .filter(|_| self.known >= TYPICAL_STEPS + STEPS_MIN)?;
        if (now_s + left_s - said_s).abs() <= TOLERANCE * said_s {
            return None;
        }
        self.announced_s = None;
        Some(left_s)
    }

    /// The time left; `None` before the first step.
    pub(super) fn left_s(&self, now_s: f64) -> Option<f64> {
        let step = self.step?;
        let step_ends_s = step.begun_s + step.traffic_s + self.overhead_s;
        Some((step_ends_s - now_s).max(0.0) + self.seconds(self.later))
    }
}

/// What begins and ends a step on a near path: connecting, the streams, drain, the results of both ends.
const OVERHEAD_S: f64 = 0.2;
/// This many typical steps weigh as much as those that were measured.
const TYPICAL_STEPS: f64 = 3.0;
/// After the last step: ledger, findings, the run directory.
const END_S: f64 = 0.3;
/// An announcement is corrected after this many steps, if it is wrong by this share.
const STEPS_MIN: f64 = 3.0;
const TOLERANCE: f64 = 0.2;

#[cfg(test)]
pub(super) mod recorded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_what_steps_took() {
        let mut forecast = Forecast::new();
        let ten = Ahead::of(10.0, 1000);
        forecast.announce(0.0, forecast.seconds(ten));
        let begun = forecast.step(0.0, 1000, ten.after(1000));
        assert_eq!(begun, None);
        assert!((forecast.left_s(0.0).unwrap() - 12.3).abs() < 1e-9);
        assert!((forecast.left_s(1.0).unwrap() - 11.3).abs() < 1e-9);
        // A path with a long delay: each step takes 2 s more than its traffic.
        let mut corrected = Vec::new();
        for number in 1..10 {
            let later = Ahead::of(f64::from(9 - number), 1000);
            corrected.extend(forecast.step(3.0 * f64::from(number), 1000, later));
        }
        assert_eq!(corrected.len(), 1, "said once: {corrected:?}");
        assert!((15.0..22.0).contains(&corrected[0]), "{corrected:?}");
        let left_s = forecast.left_s(27.0).unwrap();
        assert!((2.0..3.5).contains(&left_s), "{left_s}");
    }

    #[test]
    fn a_step_that_takes_longer_leaves_the_later_ones() {
        let mut forecast = Forecast::new();
        forecast.step(0.0, 1000, Ahead::of(1.0, 5000));
        assert!((forecast.left_s(100.0).unwrap() - 5.5).abs() < 1e-9);
    }
}
