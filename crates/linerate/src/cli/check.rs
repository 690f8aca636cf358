// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate check`: its tests one after the other; the verdicts follow from the record.

mod outlook;
mod schedule;
mod watch;

use std::collections::BTreeMap;

use linerate_diagnose::limit::udp_line_rate;
use linerate_linux::cpu;
use linerate_method::knee::Begin;
use linerate_method::line_rate::Family;
use linerate_model::output::{Direction, Output, Test};

use super::args::CheckArgs;
use super::forecast::{Ahead, Forecast, Need};
use super::plan;
use super::session::Session;
use super::target::Target;
use super::trial::{Scope, Search, Step};
use crate::exit::Exit;
use linerate_endpoint::TestPlan;
use linerate_model::failure::{Failure, Kind};
use outlook::{Before, Outlook};
use schedule::{SEARCHES, Schedule, Size};

/// Runs the command.
pub(super) fn run(args: &CheckArgs, options: BTreeMap<String, String>) -> Exit {
    if let Some(interval_ms) = args.watch {
        return watch::run(args, interval_ms);
    }
    let target = Target::server("check", &args.server, options);
    target.measure(|session, host| {
        let schedule = Schedule::new(args.quick, cpu::count()).confirming(args.search.confirm);
        let forecast = session.live.forecast();
        let text = schedule.announcement(forecast);
        session.console.say(&text);
        let [plan, most] = schedule.plans();
        session.live.announce(plan, most);
        let base = plan::reached(&args.server.target, TestPlan::tcp(host));
        measure(session, &schedule, &base, args.search.goal_loss)
    })
}

/// How long it takes, about.
pub(super) fn seconds(args: &CheckArgs) -> f64 {
    let schedule = Schedule::new(args.quick, cpu::count()).confirming(args.search.confirm);
    schedule.seconds(&Forecast::here())
}

fn measure(
    session: &mut Session,
    schedule: &Schedule,
    base: &TestPlan,
    goal_loss_ratio: f64,
) -> Result<(), Failure> {
    let (idle, loads) = (schedule.idle(base), schedule.tcp(base));
    session.ahead(idle.duration_ms, schedule.after(&loads));
    session.idle(&idle)?;
    let mut course = Course::default();
    for (number, plan) in loads.iter().enumerate() {
        session.ahead(plan.duration_ms, schedule.after(&loads[number + 1..]));
        course.bear(session.run(plan).map(drop))?;
    }
    let mut searches = SEARCHES;
    for size in [Size::Full, Size::Small] {
        for direction in [Direction::Up, Direction::Down] {
            searches -= 1;
            let wanted = Wanted {
                size,
                direction,
                goal_loss_ratio,
                searches,
            };
            course.bear(search(session, schedule, base, wanted))?;
        }
    }
    course.failure.map_or(Ok(()), Err)
}

/// The state of the tests: on a path with heavy loss one may end early and the next one succeed.
#[derive(Debug, Default)]
struct Course {
    /// The first that ended early.
    failure: Option<Failure>,
    /// Whether the last one did.
    failed_last: bool,
}

impl Course {
    /// Continues after a test that ended early.
    ///
    /// # Errors
    /// The previous one also ended early, or the user interrupted: the first failure.
    fn bear(&mut self, ended: Result<(), Failure>) -> Result<(), Failure> {
        let Err(failure) = ended else {
            self.failed_last = false;
            return Ok(());
        };
        let is_last = self.failed_last || failure.kind != Kind::CouldNotMeasure;
        let first = self.failure.get_or_insert(failure).clone();
        self.failed_last = true;
        if is_last { Err(first) } else { Ok(()) }
    }
}

/// What a search looks for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    size: Size,
    direction: Direction,
    goal_loss_ratio: f64,
    /// That follow.
    searches: usize,
}

fn search(
    session: &mut Session,
    schedule: &Schedule,
    base: &TestPlan,
    wanted: Wanted,
) -> Result<(), Failure> {
    let Wanted {
        size, direction, ..
    } = wanted;
    let ceiling = ceiling_bits_per_second(&session.output, size);
    let to = ceiling.unwrap_or(UNPACED_BITS_PER_SECOND);
    let start =
        start_bits_per_second(&session.output, size, direction).map_or(to, |rate| rate.min(to));
    let begin = Begin::Around {
        start,
        from: LOWEST_BITS_PER_SECOND,
        to,
    };
    let bytes = payload_bytes(&session.output, size);
    let scope = scope(schedule, begin, bytes, wanted.goal_loss_ratio);
    let mut search = Search::new(direction, scope);
    let outlook = Outlook {
        schedule,
        before: Before::of(&session.output.knees),
        searches: wanted.searches,
    };
    let ended = climb(session, &mut search, outlook, |step| {
        let rate = step.bits_per_second;
        let paced = Some(rate).filter(|rate| *rate < UNPACED_BITS_PER_SECOND);
        let trial = schedule.trial(base, size, direction, paced);
        TestPlan {
            duration_ms: step.confirm_ms.unwrap_or(trial.duration_ms),
            ..trial
        }
    });
    search.record(&mut session.output);
    ended
}

fn scope(schedule: &Schedule, begin: Begin, payload_bytes: u32, goal_loss_ratio: f64) -> Scope {
    Scope {
        begin,
        resolution_ratio: schedule.resolution_ratio(),
        trials_max: schedule.trials_max(),
        payload_bytes,
        goal_loss_ratio,
        trial_ms: schedule.trial_ms(),
        confirm_ms: schedule.confirm_ms(),
    }
}

/// One trial after the other until the search is over and its result confirmed; or until the time is needed for what
/// is `later`.
fn climb(
    session: &mut Session,
    search: &mut Search,
    outlook: Outlook<'_>,
    plan: impl Fn(Step) -> TestPlan,
) -> Result<(), Failure> {
    loop {
        let later = outlook.later();
        let has_time = |(need, step)| session.live.has_time(need, step, later);
        let Some(step) = timely_step(search, has_time) else {
            return Ok(());
        };
        let plan = plan(step);
        let ahead = outlook.this(search) + later;
        session.ahead(plan.duration_ms, ahead.after(plan.duration_ms));
        let ids = session.run(&plan)?;
        let test = session
            .tests(&ids)
            .find(|test| test.direction == search.direction);
        match test {
            Some(test) => search.feed(step, test),
            None => {
                return Err(Failure::measuring(
                    "judge a trial",
                    "the engine returned none in its direction",
                ));
            }
        }
    }
}

/// What to try next. A search that has a result is not continued in the time of the later ones.
fn timely_step(search: &mut Search, has_time: impl Fn((Need, Ahead)) -> bool) -> Option<Step> {
    search.keep_to(has_time);
    search.next_step()
}

/// Where a search begins: slightly below TCP's rate. For small datagrams nothing is known yet: `None`,
/// it begins with as many as the host can send.
fn start_bits_per_second(output: &Output, size: Size, direction: Direction) -> Option<u64> {
    let reached = best_tcp_bits_per_second(output, direction)?;
    (size == Size::Full).then_some((reached * 0.9).max(1e6) as u64)
}

/// The line rate for such datagrams; `None` if unknown.
fn ceiling_bits_per_second(output: &Output, size: Size) -> Option<u64> {
    let version6 = output.tests.iter().any(|test| test.af == 6);
    let family = if version6 { Family::V6 } else { Family::V4 };
    let rate = udp_line_rate(&output.hosts, payload_bytes(output, size), family)?;
    Some(rate as u64)
}

/// What the trials will send: full ones hold what a TCP segment holds.
fn payload_bytes(output: &Output, size: Size) -> u32 {
    let mss = || output.tests.iter().find_map(|test| test.mss_bytes);
    let chosen = size.payload_bytes().or_else(mss);
    chosen.unwrap_or(FULL_PAYLOAD_BYTES)
}

fn best_tcp_bits_per_second(output: &Output, direction: Direction) -> Option<f64> {
    let alone =
        |test: &&Test| test.direction == direction && test.valid && test.sent_packets.is_none();
    let rates = output
        .tests
        .iter()
        .filter(alone)
        .filter_map(|test| test.delivered_bits_per_second);
    rates.max_by(f64::total_cmp)
}

/// UDP over IPv4 over an MTU of 1500; a guess until the first trial.
const FULL_PAYLOAD_BYTES: u32 = 1472;
/// Small enough for the least Ethernet frame but one: 64 bytes of payload.
const SMALL_PAYLOAD_BYTES: u32 = 64;
/// No sender reaches it: it means unlimited.
const UNPACED_BITS_PER_SECOND: u64 = 1_000_000_000_000;
const LOWEST_BITS_PER_SECOND: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::forecast::recorded::{self, Recorded};

    /// How wrong the schedule's forecast was at every step of a recorded check.
    fn errors(check: &Recorded, schedule: &Schedule) -> Vec<f64> {
        let base = TestPlan::tcp("");
        let mut loads = schedule.tcp(&base);
        let mut searches: Vec<Search> = Vec::new();
        check.errors(schedule.plans(), |step, forecast, now_s| {
            if step.1 == "idle" {
                return (schedule.idle(&base).duration_ms, schedule.after(&loads));
            }
            if step.1.starts_with("tcp") {
                let this = loads.remove(0);
                return (this.duration_ms, schedule.after(&loads));
            }
            let test = recorded::test(step);
            let asked = if step.3 > 0 {
                step.3
            } else {
                UNPACED_BITS_PER_SECOND
            };
            let is_of =
                |one: &Search| one.direction == step.2 && one.payload_bytes == test.payload_bytes;
            if !searches.last().is_some_and(is_of) {
                let begin = Begin::Around {
                    start: asked,
                    from: LOWEST_BITS_PER_SECOND,
                    to: UNPACED_BITS_PER_SECOND,
                };
                let scope = scope(schedule, begin, test.payload_bytes, 0.0);
                searches.push(Search::new(step.2, scope));
            }
            let after = SEARCHES - searches.len();
            let (search, before) = searches.split_last_mut().unwrap();
            let before: Vec<_> = before.iter().map(Search::knee).collect();
            let outlook = Outlook {
                schedule,
                before: Before::of(&before),
                searches: after,
            };
            let later = outlook.later();
            let has_time = |(need, step)| forecast.has_time(now_s, need, step, later);
            let next = timely_step(search, has_time);
            let ahead = outlook.this(search) + later;
            let confirm_ms = next.and_then(|next| next.confirm_ms);
            let step = Step {
                bits_per_second: asked,
                confirm_ms,
            };
            search.feed(step, &test);
            let step_ms = confirm_ms.unwrap_or(schedule.trial_ms());
            (step_ms, ahead.after(step_ms))
        })
    }

    #[test]
    fn the_forecast_of_recorded_checks_is_right_within_20_percent() {
        for (check, quick) in [
            (&recorded::CHECK_QUICK, true),
            (&recorded::CHECK_QUICK_AGAIN, true),
            (&recorded::CHECK, false),
            (&recorded::QUICK_BUSY, true),
            (&recorded::QUICK_BUSIER, true),
            (&recorded::FULL_BUSY, false),
            (&recorded::FULL_BUSIER, false),
        ] {
            let schedule = Schedule::new(quick, 2);
            let announced = check.announced(schedule.seconds(&check.forecast()));
            assert!(announced < 0.2, "{announced} of {} ms", check.took_ms);
            let error = errors(check, &schedule).into_iter().fold(0.0, f64::max);
            assert!(error < 0.2, "{error} of {} ms", check.took_ms);
        }
    }

    /// Until the first search is over it is between the two ends that were announced, from then on right.
    #[test]
    fn the_forecast_on_paths_that_lose_is_right_within_20_percent() {
        for (check, quick) in [
            (&recorded::QUICK_QUEUE, true),
            (&recorded::QUICK_SLOW_QUEUE, true),
            (&recorded::QUICK_LOSS, true),
            (&recorded::FULL_QUEUE, false),
            (&recorded::FULL_LOSS, false),
        ] {
            let schedule = Schedule::new(quick, 2);
            let [_, most] = schedule.plans();
            let announced = check.announced(check.forecast().seconds(most));
            assert!(announced < 0.2, "{announced} of {} ms", check.took_ms);
            let is_later = |step: &recorded::Step| step.1 == "udp" && step.2 == Direction::Down;
            let from = check.steps.iter().position(is_later).unwrap();
            let errors = errors(check, &schedule).split_off(from);
            let error = errors.iter().copied().fold(0.0, f64::max);
            assert!(error < 0.2, "{error} of {} ms: {errors:?}", check.took_ms);
        }
    }

    fn silence() -> Result<(), Failure> {
        Err(Failure::measuring("finish the test", "no message"))
    }

    #[test]
    fn one_test_may_break_off_and_is_not_forgotten() {
        let mut course = Course::default();
        for ended in [Ok(()), silence(), Ok(()), silence(), Ok(())] {
            assert_eq!(course.bear(ended), Ok(()));
        }
        assert!(course.failure.is_some());
    }

    #[test]
    fn two_in_a_row_and_the_user_end_it() {
        let mut course = Course::default();
        assert!(course.bear(silence()).is_ok() && course.bear(silence()).is_err());
        let stopped = Err(Failure::interrupted("finish the measurement"));
        assert!(Course::default().bear(stopped).is_err());
    }
}
