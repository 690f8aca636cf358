// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long it takes: what is foretold before the start from what was seen until then, and what is
//! left while it runs. All in seconds.

use linerate_method::profile::Profile;
use linerate_method::search::{Circumstances, estimate};
use linerate_model::output::ForwardTest;

use super::plan::ForwardPlan;
use super::procedure::Procedure;
use super::rig::Rig;
use super::trial::Ask;
use super::{Subject, how_many};
use linerate_model::failure::Failure;

/// What trials took beside their traffic: waits, orders, a busy machine, the device's counters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overhead {
    trials: u32,
    total_s: f64,
}

impl Overhead {
    /// A trial ended. Those with waits of their own tell nothing of others.
    pub(super) fn learn(&mut self, ask: &Ask<'_>, elapsed_s: f64) {
        if ask.residual_s == 0.0 && ask.then.is_none() {
            self.trials += 1;
            self.total_s += (elapsed_s - ask.duration_s).max(0.0);
        }
    }

    /// Of the next one.
    pub(super) fn per_trial_s(&self, plan: &ForwardPlan) -> f64 {
        let waits_s = plan.profile.waits.per_trial_s();
        let mean_s = self.total_s / f64::from(self.trials.max(1));
        waits_s.max(mean_s)
    }
}

/// How long everything takes that is still to be done.
#[derive(Debug)]
pub(super) struct Forecast {
    /// In the order of measuring, what was foretold for each procedure and subject.
    each_s: Vec<(Procedure, f64)>,
    done: usize,
    took_s: f64,
}

impl Forecast {
    /// Before the start.
    ///
    /// # Errors
    /// A search that makes no sense.
    pub(super) fn new(rig: &Rig<'_>, subjects: &[Subject<'_>]) -> Result<Self, Failure> {
        let mut each_s = Vec::new();
        for procedure in rig.plan.tests() {
            for subject in subjects.iter().take(how_many(procedure)) {
                each_s.push((procedure, subject.takes_s(procedure, rig)?));
            }
        }
        Ok(Self {
            each_s,
            done: 0,
            took_s: 0.0,
        })
    }

    /// As it is told.
    pub(super) fn tests(&self) -> Vec<ForwardTest> {
        let mut tests: Vec<ForwardTest> = Vec::new();
        for (procedure, seconds) in &self.each_s {
            match tests
                .last_mut()
                .filter(|test| test.name == procedure.name())
            {
                Some(test) => test.estimate_s += seconds,
                None => tests.push(ForwardTest {
                    name: procedure.name().to_owned(),
                    estimate_s: *seconds,
                }),
            }
        }
        tests
    }

    /// What comes after the one that is measured now, if it goes on as it went.
    pub(super) fn later_s(&self) -> f64 {
        let sum = |some: &[(Procedure, f64)]| some.iter().map(|(_, seconds)| seconds).sum::<f64>();
        let (past, left) = self.each_s.split_at(self.done.min(self.each_s.len()));
        let later_s = sum(left.get(1..).unwrap_or_default());
        match sum(past) {
            past_s if past_s > 0.0 => later_s * self.took_s / past_s,
            _ => later_s,
        }
    }

    /// One ended.
    pub(super) fn ended(&mut self, took_s: f64) {
        self.done += 1;
        self.took_s += took_s;
    }
}

impl Subject<'_> {
    fn takes_s(&self, procedure: Procedure, rig: &Rig<'_>) -> Result<f64, Failure> {
        if procedure == Procedure::Throughput {
            return self.search_s(rig);
        }
        let waits = rig.plan.profile.waits;
        let profile = Profile {
            waits: waits.taking(rig.overhead.per_trial_s(rig.plan)),
            ..rig.plan.profile
        };
        Ok(self.task().estimate_s(procedure, &profile))
    }

    fn search_s(&self, rig: &Rig<'_>) -> Result<f64, Failure> {
        let goals: Vec<_> = rig.plan.goals.iter().map(|(_, goal)| *goal).collect();
        let (least_fps, most_fps) = (self.limit.least_fps(&goals), self.limit.load_fps);
        let search = estimate(&goals, least_fps, most_fps, self.known(rig))
            .map_err(|why| Failure::usage("foretell the time", why))?;
        let limit_s = rig.plan.search_limit_s().unwrap_or(f64::INFINITY);
        // A device that carried more than it will be offered has nothing to be searched for.
        let is_faster = self.carried.fps > most_fps * CLEARLY;
        let expected_s = if is_faster {
            search.least_s
        } else {
            search.typical_s
        };
        Ok(expected_s.min(limit_s))
    }

    /// What was seen of tester and device until now.
    pub(super) fn known(&self, rig: &Rig<'_>) -> Circumstances {
        Circumstances {
            per_trial_s: rig.overhead.per_trial_s(rig.plan),
            spread: self.carried.spread,
        }
    }
}

const CLEARLY: f64 = 1.2;

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast() -> Forecast {
        use Procedure::{BackToBack, Throughput};
        Forecast {
            each_s: vec![(Throughput, 10.0), (Throughput, 20.0), (BackToBack, 5.0)],
            done: 0,
            took_s: 0.0,
        }
    }

    #[test]
    fn each_procedure_is_told_once() {
        let tests = forecast().tests();
        let told: Vec<_> = tests
            .iter()
            .map(|test| (&*test.name, test.estimate_s))
            .collect();
        assert_eq!(told, [("throughput", 30.0), ("back-to-back", 5.0)]);
    }

    #[test]
    fn what_is_left_follows_what_the_first_ones_took() {
        let mut forecast = forecast();
        assert_eq!(forecast.later_s(), 25.0);
        forecast.ended(20.0);
        assert_eq!(forecast.later_s(), 10.0, "all take twice as long");
        forecast.ended(10.0);
        assert_eq!(forecast.later_s(), 0.0);
        forecast.ended(5.0);
        assert_eq!(forecast.later_s(), 0.0);
    }
}
