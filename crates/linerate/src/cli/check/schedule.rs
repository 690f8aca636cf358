// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `check` runs, for how long, and how long that takes in all.

use std::ops::Add;

use linerate_model::output;

use super::SMALL_PAYLOAD_BYTES;
use crate::cli::forecast::{Ahead, Forecast};
use crate::cli::progress::IDLE;
use linerate_endpoint::{Direction, Protocol, TestPlan};
use linerate_report::live::duration;

/// The tests of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    quick: bool,
    cpus: u16,
    /// The requested length of the trials that confirm; 0 for none.
    confirm_ms: Option<u64>,
}

/// Which datagrams a search sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// As much as one frame carries.
    Full,
    /// 64 bytes of payload.
    Small,
}

/// What a search meets.
#[derive(Debug, Clone, Copy)]
enum Path {
    Clean,
    Lossy,
}

impl Size {
    /// `None`: the engine chooses by the MTU.
    pub(super) fn payload_bytes(self) -> Option<u32> {
        match self {
            Self::Full => None,
            Self::Small => Some(SMALL_PAYLOAD_BYTES),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Full => "udp",
            Self::Small => "udp-64B",
        }
    }
}

impl Schedule {
    pub(super) fn new(quick: bool, cpus: usize) -> Self {
        let cpus = u16::try_from(cpus)
            .unwrap_or(u16::MAX)
            .clamp(1, STREAMS_MAX);
        Self {
            quick,
            cpus,
            confirm_ms: None,
        }
    }

    /// With confirming trials of this length; 0 for none.
    pub(super) fn confirming(self, confirm_ms: Option<u64>) -> Self {
        Self { confirm_ms, ..self }
    }

    /// The announcement of the schedule.
    pub(super) fn announcement(&self, forecast: &Forecast) -> String {
        let [usual, lossy] = self.plans().map(|plan| duration(forecast.seconds(plan)));
        format!("about {usual} ({lossy} with loss): latency, TCP, UDP, small datagrams")
    }

    /// Wall time.
    pub(super) fn seconds(&self, forecast: &Forecast) -> f64 {
        forecast.seconds(self.plans()[0])
    }

    /// All of it, on a path without loss, and on one that loses.
    pub(super) fn plans(&self) -> [Ahead; 2] {
        let base = TestPlan::tcp("");
        let tests = one(&self.idle(&base)) + loads(&self.tcp(&base));
        [0.0, 1.0].map(|lossy_share| tests + self.searches(SEARCHES, lossy_share))
    }

    /// These tests, and all searches.
    pub(super) fn after(&self, tests: &[TestPlan]) -> Ahead {
        loads(tests) + self.searches(SEARCHES, 0.0)
    }

    /// This many searches, of which a share meets loss. How many trials one has is known when it has begun.
    pub(super) fn searches(&self, number: usize, lossy_share: f64) -> Ahead {
        let number = number as f64;
        self.each(number * (1.0 - lossy_share), Path::Clean)
            + self.each(number * lossy_share, Path::Lossy)
    }

    fn each(&self, number: f64, path: Path) -> Ahead {
        let (trials, drain_ms, confirming) = match path {
            Path::Clean => (USUAL_TRIALS, DRAIN_MS, 1.0),
            Path::Lossy => (self.pick(3.5, 5.0), LOSSY_DRAIN_MS, LOSSY_CONFIRMING),
        };
        let confirm = self.confirm_ms();
        let confirm = confirm.map(|ms| Ahead::of(number * confirming, ms));
        Ahead::of(number * trials, self.trial_ms() + drain_ms) + confirm.unwrap_or_default()
    }

    /// The length of one trial of a search.
    pub(super) fn trial_ms(&self) -> u64 {
        self.pick(150, 500)
    }

    /// Only the latency probe.
    pub(super) fn idle(&self, base: &TestPlan) -> TestPlan {
        self.test(base, IDLE, Direction::Up, self.pick(400, 2000))
    }

    /// The loads: one stream each way and both, then a stream a processor each way.
    pub(super) fn tcp(&self, base: &TestPlan) -> Vec<TestPlan> {
        let single = self.pick(700, 2500);
        let mut plans = vec![
            self.test(base, "tcp", Direction::Up, single),
            self.test(base, "tcp", Direction::Down, single),
            self.test(base, "tcp-both", Direction::Both, single),
        ];
        if self.cpus > 1 {
            for direction in [Direction::Up, Direction::Down] {
                let name = format!("tcp-{}-streams", self.cpus);
                let mut plan = self.test(base, &name, direction, self.pick(500, 2000));
                plan.streams = self.cpus;
                plan.probe = false;
                plans.push(plan);
            }
        }
        plans
    }

    /// One trial of a search; without a rate it is unlimited.
    pub(super) fn trial(
        &self,
        base: &TestPlan,
        size: Size,
        way: output::Direction,
        bits_per_second: Option<u64>,
    ) -> TestPlan {
        let direction = match way {
            output::Direction::Up => Direction::Up,
            output::Direction::Down => Direction::Down,
        };
        let mut plan = self.test(base, size.name(), direction, self.trial_ms());
        plan.protocol = Protocol::Udp;
        plan.bits_per_second = bits_per_second;
        plan.payload_bytes = size.payload_bytes();
        plan.probe = false;
        plan.trial = true;
        plan
    }

    /// The length of the trial that confirms the result of a search: twice that of the others; `None` for none.
    pub(super) fn confirm_ms(&self) -> Option<u64> {
        let ms = self.confirm_ms.unwrap_or(self.pick(300, 1000));
        (ms > 0).then_some(ms)
    }

    /// A flood, its delivered rate, a neighbouring rate and its confirmation; and as many again for
    /// a path that is not so simple.
    pub(super) fn trials_max(&self) -> u32 {
        self.pick(4, 8)
    }

    /// Share of the rate within which the knee is bracketed.
    pub(super) fn resolution_ratio(&self) -> f64 {
        if self.quick { 0.1 } else { 0.02 }
    }

    fn test(
        &self,
        base: &TestPlan,
        name: &str,
        direction: Direction,
        duration_ms: u64,
    ) -> TestPlan {
        TestPlan {
            name: name.to_owned(),
            group: name.to_owned(),
            direction,
            duration_ms,
            interval_ms: self.pick(200, 500),
            ..base.clone()
        }
    }

    fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

fn loads(tests: &[TestPlan]) -> Ahead {
    tests.iter().map(one).fold(Ahead::default(), Add::add)
}

fn one(plan: &TestPlan) -> Ahead {
    Ahead::of(1.0, plan.duration_ms)
}

/// Two sizes, two directions.
pub(super) const SEARCHES: usize = 4;
/// Trials of a search before the one that confirms, in the mean of recorded checks of labs and links.
const USUAL_TRIALS: f64 = 3.0;
/// A trial that loses datagrams ends when no more arrive; in the mean of recorded checks, in which some do.
const DRAIN_MS: u64 = 40;
/// The same where loss is the limit, which half of the trials exceed; and its confirming trials, of which the first may
/// refute the result.
const LOSSY_DRAIN_MS: u64 = 120;
const LOSSY_CONFIRMING: f64 = 1.5;
/// More streams say no more.
const STREAMS_MAX: u16 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promise_of_30_and_10_seconds() {
        for cpus in [1, 2, 8, 256] {
            let idle = Forecast::on(0.0);
            let full = Schedule::new(false, cpus).seconds(&idle);
            let quick = Schedule::new(true, cpus).seconds(&idle);
            assert!((22.0..36.0).contains(&full), "{cpus} CPUs: {full} s");
            assert!((7.0..12.0).contains(&quick), "{cpus} CPUs: {quick} s");
        }
    }

    #[test]
    fn four_searches_are_confirmed_for_as_long_as_asked() {
        let schedule = Schedule::new(true, 2);
        let none = schedule.confirming(Some(0));
        let minute = schedule.confirming(Some(60_000));
        assert_eq!(none.confirm_ms(), None);
        let idle = Forecast::on(0.0);
        let more_s = minute.seconds(&idle) - none.seconds(&idle);
        assert!((240.0..242.0).contains(&more_s), "{more_s}");
    }

    #[test]
    fn what_the_issue_asks_for_is_in_it() {
        let schedule = Schedule::new(false, 4);
        let base = TestPlan::tcp("192.0.2.7");
        let shape = |plan: &TestPlan| (plan.streams, plan.direction, plan.probe);
        assert_eq!(
            schedule.tcp(&base).iter().map(shape).collect::<Vec<_>>(),
            [
                (1, Direction::Up, true),
                (1, Direction::Down, true),
                (1, Direction::Both, true),
                (4, Direction::Up, false),
                (4, Direction::Down, false),
            ]
        );
        let trial = schedule.trial(&base, Size::Small, output::Direction::Down, Some(1_000_000));
        assert_eq!(
            (trial.protocol, trial.direction),
            (Protocol::Udp, Direction::Down)
        );
        assert_eq!(
            (trial.payload_bytes, trial.bits_per_second),
            (Some(64), Some(1_000_000))
        );
        assert_eq!(trial.host, "192.0.2.7");
        assert_eq!(
            Schedule::new(false, 1).tcp(&base).len(),
            3,
            "one CPU: nothing to add"
        );
    }
}
