// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a command takes: the traffic of its steps and, per step, what begins and ends it. The latter is expected
//! from the machine's load, and corrected by the steps that have ended. A command also keeps to what it announced: it
//! asks for time before a step that it can do without. No clock: the caller says what time it is.

mod load;

use std::ops::Add;

use load::runnable_per_cpu;

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
    announced: Option<Announced>,
}

/// What a step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// It makes the result finer.
    Useful,
    /// The result is worth less without it.
    Important,
}

/// What the user knows of the end.
#[derive(Debug, Clone, Copy)]
struct Announced {
    at_s: f64,
    /// As planned, and at the latest.
    ends_s: [f64; 2],
    is_corrected: bool,
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

    /// A wait that belongs to no step.
    pub(super) fn wait(ms: u64) -> Self {
        Self {
            steps: 0.0,
            traffic_s: ms as f64 / 1e3,
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
    /// On this machine, with its load.
    pub(super) fn here() -> Self {
        Self::on(runnable_per_cpu())
    }

    /// On a machine where this many other tasks wait for each processor.
    pub(super) fn on(runnable_per_cpu: f64) -> Self {
        Self {
            known: TYPICAL_STEPS,
            overhead_s: OVERHEAD_S * (1.0 + WAITING * runnable_per_cpu.min(WAITING_MOST)),
            step: None,
            later: Ahead {
                steps: 0.0,
                traffic_s: 0.0,
            },
            announced: None,
        }
    }

    /// The duration of these steps and of what follows them.
    pub(super) fn seconds(&self, ahead: Ahead) -> f64 {
        ahead.traffic_s + ahead.steps * self.overhead_s + END_S
    }

    /// The user reads when this plan ends, and the longest one.
    pub(super) fn announce(&mut self, now_s: f64, plan: Ahead, most: Ahead) {
        self.announced = Some(Announced {
            at_s: now_s,
            ends_s: [plan, most].map(|plan| now_s + self.seconds(plan)),
            is_corrected: false,
        });
    }

    /// Whether a step that the command can do without leaves time for `later`, at the pace of the steps so far: the
    /// command keeps to what the user knows. An important step may use more of it.
    pub(super) fn has_time(&self, now_s: f64, need: Need, step: Ahead, later: Ahead) -> bool {
        let slack = match need {
            Need::Useful => 0.0,
            Need::Important => TOLERANCE,
        };
        let ends_s = now_s + self.seconds(step + later);
        self.announced.is_none_or(|announced| {
            let [_, latest_s] = announced.ends_s;
            ends_s <= latest_s + (latest_s - announced.at_s) * slack
        })
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
        let is_known = self.known >= TYPICAL_STEPS + STEPS_MIN;
        let announced = self.announced.as_mut().filter(|_| is_known)?;
        let ends_s = now_s + left_s;
        let [planned_s, latest_s] = announced.ends_s;
        let wrong_s = (ends_s - ends_s.clamp(planned_s, latest_s)).abs();
        if announced.is_corrected || wrong_s <= CORRECTED * ends_s {
            return None;
        }
        announced.is_corrected = true;
        announced.ends_s = [ends_s; 2];
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
/// Each task that waits for a processor makes that longer by this share, up to as many as were measured: the scheduler
/// prefers a task that slept.
const WAITING: f64 = 0.25;
const WAITING_MOST: f64 = 4.0;
/// This many typical steps weigh as much as those that were measured.
const TYPICAL_STEPS: f64 = 3.0;
/// After the last step: ledger, findings, the run directory.
const END_S: f64 = 0.3;
/// An announcement is corrected after this many steps, if it is wrong by this share.
const STEPS_MIN: f64 = 2.0;
const CORRECTED: f64 = 0.15;
/// By this share of the time announced a command may be late for an important step.
const TOLERANCE: f64 = 0.15;

#[cfg(test)]
pub(super) mod recorded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_what_steps_took() {
        let mut forecast = Forecast::on(0.0);
        let ten = Ahead::of(10.0, 1000);
        forecast.announce(0.0, ten, ten);
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
    fn a_step_that_a_command_can_do_without_has_to_fit_into_what_was_announced() {
        let mut forecast = Forecast::on(0.0);
        let second = Ahead::of(1.0, 1000);
        let has_time = |forecast: &Forecast, now_s, need| {
            forecast.has_time(now_s, need, second, Ahead::of(2.0, 1000))
        };
        assert!(has_time(&forecast, 1e3, Need::Useful), "nothing announced");
        // Ends after 12.3 s; what is asked for takes 3.9 s.
        let ten = Ahead::of(10.0, 1000);
        forecast.announce(0.0, ten, ten);
        for (now_s, useful, important) in [
            (8.3, true, true),
            (8.5, false, true),
            (10.2, false, true),
            (10.3, false, false),
        ] {
            assert_eq!(has_time(&forecast, now_s, Need::Useful), useful, "{now_s}");
            let known = has_time(&forecast, now_s, Need::Important);
            assert_eq!(known, important, "{now_s}");
        }
        // A slow machine: a correction is printed once.
        let later = |steps| Ahead::of(steps, 1000);
        assert_eq!(forecast.step(0.0, 1000, later(9.0)), None);
        assert_eq!(forecast.step(3.0, 1000, later(8.0)), None);
        assert!(forecast.step(6.0, 1000, later(7.0)).is_some());
        assert!(has_time(&forecast, 9.7, Need::Useful));
    }

    #[test]
    fn a_busy_machine_takes_longer() {
        let seconds = |busy| Forecast::on(busy).seconds(Ahead::of(10.0, 1000));
        assert!((seconds(0.0) - 12.3).abs() < 1e-9);
        assert!((seconds(2.0) - 13.3).abs() < 1e-9);
        assert_eq!(seconds(20.0), seconds(4.0));
    }

    #[test]
    fn a_step_that_takes_longer_leaves_the_later_ones() {
        let mut forecast = Forecast::on(0.0);
        forecast.step(0.0, 1000, Ahead::of(1.0, 5000));
        assert!((forecast.left_s(100.0).unwrap() - 5.5).abs() < 1e-9);
    }
}
