// SPDX-License-Identifier: MIT OR Apache-2.0
//! Joins the search with the trials: one size, one way, all goals.

use linerate_method::frame_size::{Layer, Mix};
use linerate_method::search::{Bounds, Circumstances, Controller, Measurement, Regularity, Step};
use linerate_model::output::{ForwardResult, Quantiles, Trial, TrialDirection};

use super::ceiling::Limit;
use super::plan::Way;
use super::rig::Rig;
use super::trial::{Ask, Tried, genome};
use super::{Event, Tell};
use linerate_model::failure::Failure;

/// The search of one size and way.
#[derive(Debug)]
pub(super) struct Hunt<'a> {
    pub sizes: &'a Mix,
    pub way: Way,
    pub limit: Limit,
    /// By which share of itself the device's rate varies.
    pub spread: f64,
    /// How long everything takes that comes later, seconds.
    pub later_s: f64,
}

impl Hunt<'_> {
    /// Searches; every trial is told as it ends.
    ///
    /// # Errors
    /// As [`Rig::trial`], or no search makes sense.
    pub(super) fn run(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
    ) -> Result<Vec<ForwardResult>, Failure> {
        let goals: Vec<_> = rig.plan.goals.iter().map(|(_, goal)| *goal).collect();
        let mut search = Controller::new(&goals, self.limit.least_fps(&goals), self.limit.load_fps)
            .map_err(|why| Failure::usage("search for the highest rate", why))?;
        if let Some(limit_s) = rig.plan.search_limit_s() {
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
            let tried = self.tried(rig, tell, (load_fps, duration_s), &mut repeats)?;
            latencies.push((load_fps, latency(&tried.trial)));
            if self.is_spoilt(rig, &tried) {
                unoffered.push(load_fps);
                search.report_unoffered(measurement(&tried));
            } else {
                search.report(measurement(&tried));
            }
            let known = Circumstances {
                per_trial_s: rig.overhead.per_trial_s(rig.plan),
                spread: self.spread,
            };
            tell(Event::Left(search.left_s(known) + self.later_s));
        }
        let bounds = search.results().into_iter().zip(&rig.plan.goals);
        let results = bounds.map(|(bounds, (name, _))| {
            let mut result = self.result(&bounds, name, &unoffered);
            result.trials = search.trials();
            let at_lower = |(load, _): &&(f64, Option<Quantiles>)| Some(*load) == bounds.lower_fps;
            result.latency_ns = latencies
                .iter()
                .rev()
                .find(at_lower)
                .and_then(|(_, ns)| *ns);
            result
        });
        Ok(results.collect())
    }

    /// A trial that the tester spoilt is no evidence: it is repeated, so many times at a load and in a search.
    fn tried(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
        (load_fps, duration_s): (f64, f64),
        repeats: &mut u32,
    ) -> Result<Tried, Failure> {
        let ask = Ask {
            purpose: "search",
            load_fps: Some(load_fps),
            duration_s,
            ..Ask::of(self.sizes, self.way)
        };
        let mut elapsed_s = 0.0;
        let mut left = REPEATS_OF_LOAD;
        loop {
            let mut tried = rig.trial(&ask)?;
            self.excuse(&mut tried);
            rig.trials += 1;
            tried.trial.id = rig.trials;
            tell(Event::Trial(&tried.trial));
            elapsed_s += tried.elapsed_s;
            let repeats_left = left.min(*repeats);
            if repeats_left == 0 || !self.is_spoilt(rig, &tried) {
                tried.elapsed_s = elapsed_s;
                return Ok(tried);
            }
            *repeats -= 1;
            left -= 1;
        }
    }

    /// Where the device's path holds the sender up, the tester did its part.
    fn excuse(&self, tried: &mut Tried) {
        if self.limit.holds_up(tried) {
            tried.trial.valid = true;
            tried.trial.invalid_reason = None;
        }
    }

    /// Whether the trial is bad for the tester's own reasons only: it was kept from sending what it otherwise sends, or
    /// lost itself what makes the difference.
    fn is_spoilt(&self, rig: &Rig<'_>, tried: &Tried) -> bool {
        let losses = rig.plan.goals.iter().map(|(_, goal)| goal.loss_ratio);
        let ways = &tried.trial.directions;
        let sum = |of: fn(&TrialDirection) -> u64| ways.iter().map(of).sum::<u64>();
        let unsent = sum(|one| one.unsent_frames);
        if unsent > 0 {
            return tried.is_kept;
        }
        let dropped = sum(|one| one.receiver_dropped_frames.unwrap_or(0));
        let lost = sum(|one| one.lost_frames);
        let by_device = lost.saturating_sub(dropped) as f64;
        let tolerated = losses.fold(0.0, f64::max) * sum(|one| one.intended_frames) as f64;
        lost > 0 && dropped > 0 && by_device <= tolerated
    }

    /// `unoffered`: the loads that the tester could not offer, however often it tried.
    fn result(&self, bounds: &Bounds, goal: &str, unoffered: &[f64]) -> ForwardResult {
        let held_up = bounds.upper_by_tester
            && bounds
                .upper_fps
                .is_some_and(|fps| self.limit.is_paths(fps) && !unoffered.contains(&fps));
        let throughput = bounds.conditional_throughput_fps;
        let bits = |layer| throughput.map(|fps| self.sizes.bits_per_second(layer, fps));
        ForwardResult {
            frame_bytes: self.sizes.frame_bytes(),
            genome: genome(self.sizes),
            goal: goal.to_owned(),
            direction: self.way.name().to_owned(),
            lower_fps: bounds.lower_fps,
            upper_fps: bounds.upper_fps,
            throughput_fps: throughput,
            l1_bits_per_second: bits(Layer::L1),
            l2_bits_per_second: bits(Layer::L2),
            line_rate_ratio: throughput
                .zip(self.limit.line_fps)
                .map(|(fps, line)| fps / line),
            held_up,
            tester_limited: (bounds.upper_by_tester && !held_up)
                || bounds
                    .lower_fps
                    .is_some_and(|fps| self.limit.is_testers(fps)),
            irregular: self.irregular(bounds),
            ..ForwardResult::default()
        }
    }

    fn irregular(&self, bounds: &Bounds) -> Option<String> {
        let why = match bounds.regularity {
            Regularity::Regular => return None,
            Regularity::AtMaximum if self.limit.line_fps == Some(self.limit.load_fps) => {
                "no upper bound: the line is full"
            }
            Regularity::AtMaximum => "no upper bound: more was not offered",
            Regularity::BelowMinimum => "no lower bound: the lowest load already fails",
            Regularity::Unfinished => "the search was not finished",
        };
        Some(why.to_owned())
    }
}

fn measurement(tried: &Tried) -> Measurement {
    let ways = &tried.trial.directions;
    Measurement {
        intended_frames: ways.iter().map(|one| one.intended_frames).sum(),
        offered_frames: ways.iter().map(|one| one.offered_frames).sum(),
        lost_frames: ways.iter().map(|one| one.lost_frames).sum(),
        effective_duration_s: None,
        elapsed_s: Some(tried.elapsed_s),
    }
}

/// Of the slower direction.
fn latency(trial: &Trial) -> Option<Quantiles> {
    let ways = trial.directions.iter().filter_map(|one| one.latency_ns);
    ways.max_by_key(|latency| latency.p99)
}

const REPEATS: u32 = 8;
const REPEATS_OF_LOAD: u32 = 2;
