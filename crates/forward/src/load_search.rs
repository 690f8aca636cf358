// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for the highest load that meets each goal: one size, one way, all goals.

use linerate_method::frame_size::Layer;
use linerate_method::search::{Bounds, Controller, Regularity, Step, estimate};
use linerate_model::failure::Failure;
use linerate_model::output::{ForwardResult, Quantiles, Trial};
use linerate_model::units::format::{PACKET_RATES, with_unit};

use crate::event::Event;
use crate::overhead::Overhead;
use crate::plan::ForwardPlan;
use crate::subject::Subject;
use crate::tester::Tester;
use crate::trial::{TrialRequest, TrialRun, genome};
use crate::trials::Trials;

/// The search of one size and way.
#[derive(Debug)]
pub(crate) struct LoadSearch<'a> {
    pub subject: &'a Subject<'a>,
    /// The estimated duration of everything that follows, seconds.
    pub later_s: f64,
}

/// The estimated duration of a search, seconds.
///
/// # Errors
/// Bounds that make no sense.
pub(crate) fn estimate_s(subject: &Subject<'_>, tester: &Tester<'_>) -> Result<f64, Failure> {
    let goals = tester.plan.search_goals();
    let (least_fps, most_fps) = (subject.limit.least_fps(&goals), subject.limit.load_fps);
    let search = estimate(&goals, least_fps, most_fps, subject.circumstances(tester))
        .map_err(|why| Failure::usage("estimate the duration", why))?;
    // A device that forwarded more than it will be offered needs no search.
    let expected_s = match subject.unpaced.fps > most_fps * CLEARLY {
        true => search.least_s,
        false => search.typical_s,
    };
    Ok(limit_of(tester).left_s(&tester.overhead, expected_s, 0.0))
}

/// The longest that a search may take, seconds.
#[derive(Debug, Clone, Copy)]
struct Limit(f64);

fn limit_of(tester: &Tester<'_>) -> Limit {
    Limit(tester.plan.search_limit_s().unwrap_or(f64::INFINITY))
}

impl Limit {
    /// The seconds left of a search, with the trials that are repeated.
    fn left_s(self, overhead: &Overhead, left_s: f64, elapsed_s: f64) -> f64 {
        let left_s = left_s * overhead.attempts();
        left_s.min((self.0 - elapsed_s).max(0.0))
    }
}

impl LoadSearch<'_> {
    /// Searches; reports every trial when it ends.
    ///
    /// # Errors
    /// As [`trial::run`](crate::trial::run), or bounds that make no sense.
    pub(crate) fn run(&self, trials: &mut Trials<'_, '_>) -> Result<Vec<ForwardResult>, Failure> {
        let plan = trials.tester.plan;
        let goals = plan.search_goals();
        let limit = &self.subject.limit;
        let mut search = Controller::new(&goals, limit.least_fps(&goals), limit.load_fps)
            .map_err(|why| Failure::usage("search for the highest rate", why))?;
        if let Some(limit_s) = plan.search_limit_s() {
            search = search.with_time_limit(limit_s);
        }
        let mut latencies = Vec::new();
        let mut unoffered = Vec::new();
        let mut repeats = REPEATS;
        while let Step::Measure {
            load_fps,
            duration_s,
        } = search.next()
        {
            let run = self.trial(trials, (load_fps, duration_s), &mut repeats)?;
            latencies.push((load_fps, latency(&run.trial)));
            if is_spoilt(tolerated(plan), &run) {
                unoffered.push(load_fps);
                search.report_unoffered(run.measurement());
            } else {
                search.report(run.measurement());
            }
            let known = self.subject.circumstances(trials.tester);
            let (limit, overhead) = (limit_of(trials.tester), &trials.tester.overhead);
            let left_s = limit.left_s(overhead, search.left_s(known), search.elapsed_s());
            trials.report(Event::Left(left_s + self.later_s));
        }
        let bounds = search.results().into_iter().zip(&plan.goals);
        let results = bounds.map(|(bounds, (name, _))| {
            let at_lower = |(load, _): &&(f64, Option<Quantiles>)| Some(*load) == bounds.lower_fps;
            let latency = latencies.iter().rev().find(at_lower);
            ForwardResult {
                trials: search.trials(),
                latency_ns: latency.and_then(|(_, ns)| *ns),
                ..self.result(&bounds, name, &unoffered)
            }
        });
        Ok(results.collect())
    }

    /// Runs one trial. A trial that the tester spoilt is no evidence: it is repeated, a limited number of times for a
    /// load and for a search.
    fn trial(
        &self,
        trials: &mut Trials<'_, '_>,
        (load_fps, duration_s): (f64, f64),
        repeats: &mut u32,
    ) -> Result<TrialRun, Failure> {
        let request = TrialRequest {
            purpose: "search",
            load_fps: Some(load_fps),
            duration_s,
            tolerated_loss_ratio: tolerated(trials.tester.plan),
            ..TrialRequest::of(self.subject.sizes, self.subject.way)
        };
        let mut elapsed_s = 0.0;
        let mut left = REPEATS_OF_LOAD;
        let load = with_unit(load_fps, PACKET_RATES);
        trials.report(Event::Status(format!("{load} for {duration_s:.1} s")));
        loop {
            let mut run = trials.run(&request, |run| self.excuse(run))?;
            elapsed_s += run.elapsed_s;
            if left.min(*repeats) == 0 || !is_spoilt(request.tolerated_loss_ratio, &run) {
                run.elapsed_s = elapsed_s;
                return Ok(run);
            }
            *repeats -= 1;
            left -= 1;
        }
    }

    /// Where the device keeps the sender from sending, the tester is not at fault.
    fn excuse(&self, run: &mut TrialRun) {
        if self.subject.limit.holds_up(run) {
            run.trial.valid = true;
            run.trial.invalid_reason = None;
        }
    }

    /// `unoffered`: the loads that the tester could not offer in any attempt.
    fn result(&self, bounds: &Bounds, goal: &str, unoffered: &[f64]) -> ForwardResult {
        let Subject {
            sizes, way, limit, ..
        } = self.subject;
        let by_path = |fps: f64| limit.is_paths(fps) && !unoffered.contains(&fps);
        let held_up = bounds.upper_by_tester && bounds.upper_fps.is_some_and(by_path);
        let throughput = bounds.conditional_throughput_fps;
        let bits = |layer| throughput.map(|fps| sizes.bits_per_second(layer, fps));
        ForwardResult {
            frame_bytes: sizes.frame_bytes(),
            genome: genome(sizes),
            goal: goal.to_owned(),
            direction: way.name().to_owned(),
            lower_fps: bounds.lower_fps,
            upper_fps: bounds.upper_fps,
            throughput_fps: throughput,
            l1_bits_per_second: bits(Layer::L1),
            l2_bits_per_second: bits(Layer::L2),
            line_rate_ratio: throughput.zip(limit.line_fps).map(|(fps, line)| fps / line),
            held_up,
            tester_limited: (bounds.upper_by_tester && !held_up)
                || bounds.lower_fps.is_some_and(|fps| limit.is_testers(fps)),
            irregular: self.irregular(bounds),
            ..ForwardResult::default()
        }
    }

    fn irregular(&self, bounds: &Bounds) -> Option<String> {
        let why = match bounds.regularity {
            Regularity::Regular => return None,
            Regularity::AtMaximum if self.subject.limit.is_line_rate() => {
                "no upper bound: line rate reached"
            }
            Regularity::AtMaximum => "no upper bound: no higher load was offered",
            Regularity::BelowMinimum => "no lower bound: the lowest load already fails",
            Regularity::Unfinished => ForwardResult::UNFINISHED,
        };
        Some(why.to_owned())
    }
}

/// The highest loss ratio of a goal.
fn tolerated(plan: &ForwardPlan) -> f64 {
    let losses = plan.goals.iter().map(|(_, goal)| goal.loss_ratio);
    losses.fold(0.0, f64::max)
}

/// Whether only the tester made the trial bad, or good: it was kept from sending what it otherwise sends, its receiver
/// dropped the frames that make the difference, or the load was interrupted and little enough lost.
fn is_spoilt(tolerated: f64, run: &TrialRun) -> bool {
    if run.sum(|one| one.unsent_frames) > 0 {
        return run.is_blocked;
    }
    if run.is_good_but_interrupted(tolerated) {
        return true;
    }
    let dropped = run.sum(|one| one.receiver_dropped_frames.unwrap_or(0));
    let lost = run.sum(|one| one.lost_frames);
    let by_device = lost.saturating_sub(dropped) as f64;
    let tolerated = tolerated * run.sum(|one| one.intended_frames) as f64;
    lost > 0 && dropped > 0 && by_device <= tolerated
}

/// Of the slower direction.
fn latency(trial: &Trial) -> Option<Quantiles> {
    let ways = trial.directions.iter().filter_map(|one| one.latency_ns);
    ways.max_by_key(|latency| latency.p99)
}

/// A device that forwarded this many times the load is clearly faster.
const CLEARLY: f64 = 1.2;
const REPEATS: u32 = 8;
const REPEATS_OF_LOAD: u32 = 2;

#[cfg(test)]
mod recorded;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Seen;
    use crate::plan::Way;
    use crate::trial;
    use linerate_method::frame_size::Mix;
    use linerate_model::output::TrialDirection;
    use proptest::prelude::*;

    fn run(stalled_ratio: f64, lost_frames: u64) -> TrialRun {
        TrialRun {
            trial: Trial {
                directions: vec![TrialDirection {
                    intended_frames: 10_000,
                    offered_frames: 10_000,
                    received_frames: 10_000 - lost_frames,
                    lost_frames,
                    ..TrialDirection::default()
                }],
                stalled_ratio,
                ..Trial::default()
            },
            seen: [Seen::default(); 2],
            arrivals: Vec::new(),
            sending_s: 1.0,
            is_blocked: false,
            elapsed_s: 1.0,
        }
    }

    proptest! {
        /// No trial is good for a goal if its mean load was off by more than the goal's width.
        #[test]
        fn an_interrupted_load_proves_nothing_good(
            stalled in 0.0..1.0_f64,
            lost in prop_oneof![Just(0), 0..100_u64],
            tolerated in prop_oneof![Just(0.0), Just(0.005)],
        ) {
            let is_good = lost as f64 <= tolerated * 10_000.0;
            let run = run(stalled, lost);
            prop_assert_eq!(is_spoilt(tolerated, &run), is_good && stalled > 0.005);
            // The record of the trial says the same.
            let sizes = Mix::custom(&[64]).unwrap();
            let request = TrialRequest {
                load_fps: Some(10_000.0),
                tolerated_loss_ratio: tolerated,
                ..TrialRequest::of(&sizes, Way::AToB)
            };
            let reason = trial::invalid(&request, &run);
            prop_assert_eq!(reason.is_some(), is_spoilt(tolerated, &run));
            let trial = Trial { invalid_reason: reason, ..run.trial };
            prop_assert_eq!(trial.is_interrupted(), trial.invalid_reason.is_some());
        }
    }
}
