// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate sweep`: a ladder of UDP rates, the search between its rungs, and a longer trial of its result.

use std::collections::BTreeMap;
use std::ops::Add;

use linerate_method::knee::Begin;
use linerate_method::sweep::ladder;
use linerate_model::output::Direction as Way;
use linerate_report::live::duration;

use super::args::SweepArgs;
use super::forecast::{Ahead, Forecast};
use super::live::Live;
use super::plan;
use super::progress::word;
use super::session::Session;
use super::target::Target;
use super::trial::{self, Scope, Search};
use crate::exit::Exit;
use linerate_endpoint::{Direction, TestPlan};
use linerate_model::failure::Failure;

/// Runs the command.
pub(super) fn run(args: &SweepArgs, options: BTreeMap<String, String>) -> Exit {
    let target = Target::server("sweep", &args.server, options);
    let rates = match ladder(args.from, args.to, args.step) {
        Ok(rates) => rates,
        Err(error) => {
            let failure =
                Failure::usage("plan the rates", error).hint("--from 50M --to 1000M --step 50M");
            return super::session::refuse("sweep", args.server.output.document.json, &failure);
        }
    };
    target.measure(|session, host| {
        let mut sweep = Sweep::new(args, &rates);
        let forecast = session.live.forecast();
        let text = sweep.announcement(&rates, forecast);
        session.console.say(&text);
        session
            .live
            .announce(sweep.plan_at(u64::MAX), sweep.longest(&rates));
        let base = base(args, host);
        let measured = sweep.climb(session, &base);
        sweep
            .searches
            .iter()
            .for_each(|search| search.record(&mut session.output));
        measured
    })
}

/// Between two rates of the ladder.
fn middle(rates: &[u64]) -> u64 {
    rates.get(rates.len() / 2).map_or(0, |rate| rate - rate / 8)
}

/// How long it takes, about, where no rate loses; `None` where the rates make no ladder.
pub(super) fn seconds(args: &SweepArgs) -> Option<f64> {
    let rates = ladder(args.from, args.to, args.step).ok()?;
    Some(Forecast::here().seconds(Sweep::new(args, &rates).plan_at(u64::MAX)))
}

/// The length of a confirming trial; `None` for none.
fn confirm_ms(args: &SweepArgs) -> Option<u64> {
    let ms = args.search.confirm.unwrap_or(args.time * CONFIRM_TRIALS);
    (ms > 0).then_some(ms)
}

fn base(args: &SweepArgs, host: &str) -> TestPlan {
    let plan = plan::reached(&args.server.target, TestPlan::udp(host));
    TestPlan {
        duration_ms: args.time,
        payload_bytes: args.length,
        probe: false,
        trial: true,
        ..plan
    }
}

/// The searches of a sweep, which climb side by side.
#[derive(Debug)]
struct Sweep {
    searches: Vec<Search>,
    at_once: bool,
}

impl Sweep {
    fn new(args: &SweepArgs, rates: &[u64]) -> Self {
        let ways: &[Way] = if args.reverse {
            &[Way::Down]
        } else {
            &[Way::Up, Way::Down]
        };
        let search = |way: &Way| {
            let scope = Scope {
                begin: Begin::Ladder(rates.to_vec()),
                resolution_ratio: RESOLUTION_RATIO,
                trials_max: u32::try_from(rates.len())
                    .unwrap_or(u32::MAX)
                    .saturating_add(SEARCH_TRIALS_MAX),
                payload_bytes: args.length.unwrap_or(USUAL_PAYLOAD_BYTES),
                goal_loss_ratio: args.search.goal_loss,
                trial_ms: args.time,
                confirm_ms: confirm_ms(args),
            };
            Search::new(*way, scope)
        };
        Self {
            searches: ways.iter().map(search).collect(),
            at_once: args.bidir,
        }
    }

    /// How long it takes, about: without a loss, and with a knee between the rates.
    fn announcement(&self, rates: &[u64], forecast: &Forecast) -> String {
        let [clean, least, most] = self.announced_s(rates, forecast);
        let lossy = match most - least < 1.0 {
            true => format!("about {}", duration(most)),
            false => format!("{} to {}", duration(least), duration(most)),
        };
        let (clean, number) = (duration(clean), rates.len());
        format!("about {clean} for {number} rates, {lossy} if one of them loses packets")
    }

    /// Seconds without a loss; with a knee that the first confirming trial confirms; with one that needs more trials.
    fn announced_s(&self, rates: &[u64], forecast: &Forecast) -> [f64; 3] {
        let plans = [u64::MAX, middle(rates)].map(|at| self.plan_at(at));
        [plans[0], plans[1], self.longest(rates)].map(|plan| forecast.seconds(plan))
    }

    /// With a knee in the middle, and a queue before it.
    fn longest(&self, rates: &[u64]) -> Ahead {
        self.plan_at(middle(rates)) + self.ahead(Search::queued_at_most)
    }

    /// All of it on a path that loses what exceeds a rate.
    fn plan_at(&self, capacity: u64) -> Ahead {
        let searches = self.ahead(|search| search.ahead_at(capacity));
        searches + Ahead::wait(CONTROL_MS)
    }

    /// Everything that is left, if the path stays as seen so far.
    fn ahead(&self, of: impl Fn(&Search) -> Ahead) -> Ahead {
        let each = self.searches.iter().map(of);
        let fold = if self.at_once {
            Ahead::or_longer
        } else {
            Ahead::add
        };
        each.fold(Ahead::default(), fold)
    }

    fn climb(&mut self, session: &mut Session, base: &TestPlan) -> Result<(), Failure> {
        while let Some(steps) = self.next_steps() {
            for step in steps {
                self.take(session, base, step)?;
            }
            self.keep_to(&session.live);
        }
        Ok(())
    }

    /// Stops what makes brackets narrower than there is time for.
    fn keep_to(&mut self, live: &Live) {
        let later = self.ahead(Search::confirming);
        for search in &mut self.searches {
            search.keep_to(|(need, step)| live.has_time(need, step, later));
        }
    }

    /// The next test of each direction, or the one of both at once.
    fn next_steps(&self) -> Option<Vec<Step>> {
        let wanted = self.searches.iter().filter_map(|search| {
            let next = search.next_step()?;
            let direction = match search.direction {
                Way::Up => Direction::Up,
                Way::Down => Direction::Down,
            };
            Some(Step { next, direction })
        });
        let mut steps: Vec<Step> = wanted.collect();
        if self.at_once {
            steps.truncate(1);
            steps
                .iter_mut()
                .for_each(|step| step.direction = Direction::Both);
        }
        (!steps.is_empty()).then_some(steps)
    }

    fn take(&mut self, session: &mut Session, base: &TestPlan, step: Step) -> Result<(), Failure> {
        let rate = step.next.bits_per_second;
        let name = format!("udp-{}M", megabits(rate));
        let plan = TestPlan {
            group: name.clone(),
            name,
            direction: step.direction,
            bits_per_second: Some(rate),
            duration_ms: step.next.confirm_ms.unwrap_or(base.duration_ms),
            ..base.clone()
        };
        let later = self.ahead(|search| search.ahead() + search.queued());
        let control_ms = session.control_ms();
        session.ahead(plan.duration_ms + control_ms, later.after(plan.duration_ms));
        let ids = session.run(&plan)?;
        for search in &mut self.searches {
            let entry = session
                .tests(&ids)
                .find(|test| test.direction == search.direction);
            match entry {
                // At once: the other direction may already be done with this rate.
                Some(test) if search.next_step() == Some(step.next) => search.feed(step.next, test),
                Some(_) => {}
                None if step.includes(search.direction) => {
                    let why = format!("the engine returned none {}", word(search.direction));
                    return Err(Failure::measuring("judge a trial", why));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// One test to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    next: trial::Step,
    direction: Direction,
}

impl Step {
    fn includes(self, way: Way) -> bool {
        match self.direction {
            Direction::Both => true,
            Direction::Up => way == Way::Up,
            Direction::Down => way == Way::Down,
        }
    }
}

fn megabits(rate: u64) -> String {
    let text = format!("{:.3}", rate as f64 / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The idle control interval of the first test, and what both ends read once.
const CONTROL_MS: u64 = 600;
/// A confirming trial is as long as this many trials.
const CONFIRM_TRIALS: u64 = 5;
/// The bracket ends within half a percent of its upper end.
const RESOLUTION_RATIO: f64 = 0.005;
const SEARCH_TRIALS_MAX: u32 = 16;
const USUAL_PAYLOAD_BYTES: u32 = 1472;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::cli::forecast::recorded::{self, Recorded};
    use clap::Parser;
    use linerate_model::output::Test;

    const M: u64 = 1_000_000;

    fn args(line: &str) -> SweepArgs {
        match Cli::try_parse_from(line.split_whitespace())
            .unwrap()
            .command
        {
            Command::Sweep(args) => args,
            other => panic!("{other:?}"),
        }
    }

    fn sweep(line: &str) -> Sweep {
        let args = args(line);
        Sweep::new(&args, &ladder(args.from, args.to, args.step).unwrap())
    }

    fn lossless(rate: u64, direction: Way) -> Test {
        Test {
            direction,
            payload_bytes: 1472,
            offered_bits_per_second: Some(rate as f64),
            sent_packets: Some(1000),
            lost_packets: Some(0),
            valid: true,
            ..Test::default()
        }
    }

    #[test]
    fn both_directions_climb_side_by_side() {
        let mut sweep = sweep("linerate sweep 192.0.2.7 --to 150M");
        let mut seen = Vec::new();
        while let Some(steps) = sweep.next_steps() {
            for (search, step) in sweep.searches.iter_mut().zip(steps) {
                let rate = step.next.bits_per_second;
                seen.push((rate / M, step.direction, step.next.confirm_ms));
                search.feed(step.next, &lossless(rate, search.direction));
            }
        }
        let (up, down) = (Direction::Up, Direction::Down);
        assert_eq!(
            seen,
            [
                (50, up, None),
                (50, down, None),
                (100, up, None),
                (100, down, None),
                (150, up, None),
                (150, down, None),
                (150, up, Some(10_000)),
                (150, down, Some(10_000)),
            ]
        );
        assert!(
            sweep.searches[0]
                .knee()
                .confirmation
                .unwrap()
                .is_confirmed()
        );
        assert_eq!(sweep.searches[0].knee().limited_by, "range");
    }

    #[test]
    fn one_direction_or_both_at_once() {
        let steps = |line| sweep(line).next_steps().unwrap();
        let step = |direction| Step {
            next: trial::Step {
                bits_per_second: 50 * M,
                confirm_ms: None,
            },
            direction,
        };
        assert_eq!(steps("linerate sweep h -R"), [step(Direction::Down)]);
        assert_eq!(steps("linerate sweep h --bidir"), [step(Direction::Both)]);
        assert_eq!(steps("linerate sweep h").len(), 2);
    }

    #[test]
    fn the_goal_and_the_confirmation_are_those_asked_for() {
        let sweep = sweep("linerate sweep h --goal-loss 0.5% --confirm 60 --to 100M -t 1");
        assert_eq!(sweep.searches[0].knee().goal_loss_ratio, 0.005);
        let confirm = |line: &str| confirm_ms(&args(line));
        assert_eq!(confirm("linerate sweep h --confirm 60"), Some(60_000));
        assert_eq!(confirm("linerate sweep h --confirm 0"), None);
        assert_eq!(confirm("linerate sweep h -t 1"), Some(5000));
    }

    /// `-t 500ms`, as they all were recorded.
    const TRIAL_MS: u64 = 500;

    /// How wrong the sweep's forecast was at most at a step of a recorded one, from the first loss or the middle on.
    fn error(recorded: &Recorded, line: &str) -> f64 {
        let mut sweep = sweep(line);
        let mut is_first = true;
        let plan = sweep.plan_at(u64::MAX);
        let errors = recorded.errors([plan; 2], |step, _, _| {
            let later = sweep.ahead(|search| search.ahead() + search.queued());
            let mut searches = sweep.searches.iter_mut();
            let search = searches.find(|one| one.direction == step.2).unwrap();
            let next = search.next_step().unwrap();
            assert_eq!(next.bits_per_second, step.3, "{}", step.1);
            let step_ms = next.confirm_ms.unwrap_or(TRIAL_MS);
            search.feed(next, &recorded::test(step));
            let control_ms = if std::mem::take(&mut is_first) {
                500
            } else {
                0
            };
            (step_ms + control_ms, later.after(step_ms))
        });
        let from = recorded.steps.iter().position(|step| step.6 > 0);
        let from = from.map_or(errors.len() / 2, |at| at + 2);
        errors[from..].iter().copied().fold(0.0, f64::max)
    }

    #[test]
    fn the_forecast_of_recorded_sweeps_is_right_within_20_percent() {
        let common = "linerate sweep h -t 500ms";
        let knee = "--from 20M --to 120M --step 20M";
        for (recorded, rates, is_lossy, most) in [
            (
                &recorded::SWEEP,
                "--from 500M --to 4000M --step 500M",
                false,
                0.2,
            ),
            (&recorded::KNEE, knee, true, 0.2),
            (&recorded::KNEE_AGAIN, knee, true, 0.2),
            // Two forecasts of 27: a trial that was lossy at first was not when it was repeated.
            (&recorded::KNEE_BUSY, knee, true, 0.27),
        ] {
            let line = format!("{common} {rates}");
            let args = args(&line);
            let rates = ladder(args.from, args.to, args.step).unwrap();
            let [clean_s, least_s, most_s] =
                Sweep::new(&args, &rates).announced_s(&rates, &recorded.forecast());
            let took_s = recorded.took_ms as f64 / 1e3;
            let announced_s = if is_lossy {
                took_s.clamp(least_s, most_s)
            } else {
                clean_s
            };
            let said = recorded.announced(announced_s);
            assert!(said < 0.2, "{line}: {announced_s} of {took_s} s");
            let later = error(recorded, &line);
            assert!(later < most, "{line}: {later} of {took_s} s");
        }
    }

    #[test]
    fn a_knee_between_the_rates_takes_longer() {
        let announced = |line: &str| {
            let args = args(line);
            let rates = ladder(args.from, args.to, args.step).unwrap();
            Sweep::new(&args, &rates).announcement(&rates, &Forecast::on(0.0))
        };
        assert_eq!(
            announced("linerate sweep h -R --from 200M --to 1000M --step 200M -t 1"),
            "about 12 s for 5 rates, 16 s to 27 s if one of them loses packets"
        );
        assert_eq!(
            announced("linerate sweep h -R --to 100M -t 10 --confirm 0"),
            "about 21 s for 2 rates, about 52 s if one of them loses packets"
        );
    }

    #[test]
    fn names_are_rates() {
        assert_eq!(
            (megabits(50 * M), megabits(937_500_000), megabits(1_500)),
            ("50".to_owned(), "937.5".to_owned(), "0.002".to_owned())
        );
    }
}
