// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for the highest load that a device forwards: RFC 9971 (MLRsearch), several goals at once.
//!
//! [`Controller::next`] returns the next trial, [`Controller::report`] takes its result, until the search is
//! done; [`Controller::results`] may be read at any time. Loads are frames
//! per second **in each direction**; loss is counted over the sum of all directions.
//!
//! Classification and relevant bounds are exactly the RFC's ([`classify`]). The RFC leaves the choice of loads
//! open: this search begins at the maximum, continues from the forwarded rate, and then each goal narrows its own
//! interval with trials from short to full length. If several goals propose a trial, the lowest load goes first:
//! an upper bound there makes all trials above it unnecessary.
//!
//! ```
//! use linerate_method::search::{Controller, Goal, Measurement, Step};
//! let mut search = Controller::new(&[Goal::rfc2544()], 1e4, 1_488_095.0)?;
//! while let Step::Measure { load_fps, duration_s } = search.next() {
//!     let intended_frames = (load_fps * duration_s) as u64;
//!     let lost_frames = intended_frames.saturating_sub((1e6 * duration_s) as u64);
//!     search.report(Measurement::new(intended_frames, lost_frames));
//! }
//! let found = search.results()[0];
//! assert!(found.lower_fps.unwrap() <= 1e6 && 1e6 < found.upper_fps.unwrap());
//! # Ok::<(), linerate_method::search::GoalError>(())
//! ```

mod bounds;
pub mod classify;
mod estimate;
mod goal;
mod lattice;
mod loads;
mod measurement;
mod opening;
mod room;
mod selector;

pub use bounds::{Bounds, Ended, Regularity};
#[cfg(test)]
pub(crate) use estimate::wall_time_s;
pub use estimate::{Circumstances, Estimate, estimate};
pub use goal::{Goal, GoalError};
pub use measurement::Measurement;

use classify::{Trial, Verdict};
use lattice::Lattice;
use loads::{Bracket, Loads};
use opening::Opening;
use selector::{Proposal, Selector};

/// The search: a state machine without a clock.
#[derive(Debug, Clone)]
pub struct Controller {
    goals: Vec<Goal>,
    lattice: Lattice,
    loads: Loads,
    phase: Phase,
    /// The trial that is not yet reported.
    pending: Option<Pending>,
    time_limit_s: Option<f64>,
    elapsed_s: f64,
    /// The overhead of the last trial.
    overhead_s: f64,
    trials: u32,
    traffic_s: f64,
    last_tried: Option<usize>,
    last_forwarded_fps: Option<f64>,
}

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Send at `load_fps` frames per second in each direction for `duration_s` seconds.
    Measure { load_fps: f64, duration_s: f64 },
    /// The search is done: [`Controller::results`] and [`Controller::ended`] are final.
    Done,
}

#[derive(Debug, Clone)]
enum Phase {
    Opening(Opening),
    Main(Main),
    Ended(Ended),
}

#[derive(Debug, Clone)]
struct Main {
    selectors: Vec<Selector>,
    /// The minimum outward stride of all goals, so that two of them do not advance in small steps side by side.
    shared_stride: usize,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    step: usize,
    duration_s: f64,
    /// The goal that proposed it, and its stride, which becomes the shared one.
    winner: Option<(usize, usize)>,
}

impl Controller {
    /// Creates a search for all of `goals` between two loads in frames per second and direction. The maximum is
    /// line rate or the tester's limit.
    pub fn new(goals: &[Goal], min_load_fps: f64, max_load_fps: f64) -> Result<Self, GoalError> {
        goal::validate_all(goals, min_load_fps, max_load_fps)?;
        let widths: Vec<f64> = goals.iter().map(|goal| goal.width).collect();
        let lattice = Lattice::new(min_load_fps, max_load_fps, &widths);
        Ok(Self {
            phase: Phase::Opening(Opening::new(goals, &lattice)),
            goals: goals.to_vec(),
            lattice,
            loads: Loads::default(),
            pending: None,
            time_limit_s: None,
            elapsed_s: 0.0,
            overhead_s: 0.0,
            trials: 0,
            traffic_s: 0.0,
            last_tried: None,
            last_forwarded_fps: None,
        })
    }

    /// Sets a time limit: no trial begins that would end later, with the overhead of the last one.
    pub fn with_time_limit(mut self, limit_s: f64) -> Self {
        self.time_limit_s = Some(limit_s);
        self
    }

    /// Returns the next action. It is the same until a report: a trial that failed for the tester's own reasons
    /// is simply repeated.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator has no report between two items"
    )]
    pub fn next(&mut self) -> Step {
        if self.pending.is_none() {
            self.pending = self.plan();
        }
        match self.pending {
            Some(Pending {
                step, duration_s, ..
            }) => Step::Measure {
                load_fps: self.lattice.load_fps(step),
                duration_s,
            },
            None => Step::Done,
        }
    }

    /// Records the result of the trial from [`Self::next`]. Ignored without one.
    pub fn report(&mut self, measured: Measurement) {
        self.take(measured, |trial| trial);
    }

    /// As [`Self::report`], for a load that the tester cannot offer: it is at once an upper bound of every goal,
    /// caused by the tester.
    pub fn report_unoffered(&mut self, measured: Measurement) {
        let longest = |of: fn(&Goal) -> f64| self.goals.iter().map(of).fold(0.0, f64::max);
        let (full_s, whole_s) = (
            longest(|goal| goal.final_trial_s),
            longest(|goal| goal.duration_sum_s),
        );
        self.take(measured, |trial| Trial {
            duration_s: full_s,
            effective_duration_s: whole_s,
            under_run: true,
            ..trial
        });
    }

    fn take(&mut self, measured: Measurement, counted: impl FnOnce(Trial) -> Trial) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        self.account(&pending, &measured);
        let trial = counted(measured.trial(pending.duration_s));
        self.loads.add(pending.step, trial);
        self.last_tried = Some(pending.step);
        let load_fps = self.lattice.load_fps(pending.step);
        self.last_forwarded_fps = Some(load_fps * (1.0 - trial.loss_ratio));
        self.advance(&pending, &trial);
    }

    /// The bounds of each goal so far, in the order of the goals.
    pub fn results(&self) -> Vec<Bounds> {
        let of = |goal| Bounds::new(goal, &self.loads, &self.lattice);
        self.goals.iter().map(of).collect()
    }

    /// The classification of the last load for each goal; empty before the first trial.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let Some(step) = self.last_tried else {
            return Vec::new();
        };
        let trials = self.loads.at(step);
        let of = |goal: &Goal| goal.rule().classify(trials);
        self.goals.iter().map(of).collect()
    }

    /// Why the search ended; `None` while it is running.
    pub fn ended(&self) -> Option<Ended> {
        match self.phase {
            Phase::Ended(ended) => Some(ended),
            _ => None,
        }
    }

    /// The number of trials.
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// Seconds of traffic.
    pub fn traffic_s(&self) -> f64 {
        self.traffic_s
    }

    /// Seconds of all trials, waits included.
    pub fn elapsed_s(&self) -> f64 {
        self.elapsed_s
    }

    fn plan(&mut self) -> Option<Pending> {
        let pending = match &mut self.phase {
            Phase::Opening(opening) => Pending::of_search(opening.step(), opening.duration_s()),
            Phase::Main(main) => match main.propose(&self.loads) {
                Ok(pending) => pending,
                Err(ended) => return self.end(ended),
            },
            Phase::Ended(_) => return None,
        };
        if self.is_too_late_for(pending.duration_s) {
            return self.end(Ended::TimeLimit);
        }
        Some(pending)
    }

    fn end(&mut self, ended: Ended) -> Option<Pending> {
        self.phase = Phase::Ended(ended);
        None
    }

    fn is_too_late_for(&self, duration_s: f64) -> bool {
        self.time_limit_s
            .is_some_and(|limit_s| self.elapsed_s + duration_s + self.overhead_s > limit_s)
    }

    fn account(&mut self, pending: &Pending, measured: &Measurement) {
        let elapsed_s = measured.elapsed_s.unwrap_or(pending.duration_s);
        self.elapsed_s += elapsed_s;
        self.overhead_s = (elapsed_s - pending.duration_s).max(0.0);
        self.traffic_s += pending.duration_s;
        self.trials += 1;
    }

    fn advance(&mut self, pending: &Pending, trial: &Trial) {
        match &mut self.phase {
            Phase::Opening(opening) => {
                if let Some(interval) = opening.feed(trial.loss_ratio, &self.lattice) {
                    self.phase = Phase::Main(Main::new(&self.goals, &self.lattice, interval));
                }
            }
            Phase::Main(main) => main.tried(pending, &self.loads),
            Phase::Ended(_) => {}
        }
    }
}

impl Main {
    fn new(goals: &[Goal], lattice: &Lattice, initial: Bracket) -> Self {
        let selector = |goal: &Goal| {
            let width_steps = lattice.width_steps(goal.width);
            Selector::new(goal, width_steps, lattice.last(), initial)
        };
        Self {
            selectors: goals.iter().map(selector).collect(),
            shared_stride: initial.width_steps().unwrap_or(0),
        }
    }

    /// Returns the proposal that goes first: lowest load, then longest trial, then widest stride.
    fn propose(&mut self, loads: &Loads) -> Result<Pending, Ended> {
        let shared_stride = self.shared_stride;
        let mut best: Option<(usize, Proposal)> = None;
        for (goal, selector) in self.selectors.iter_mut().enumerate() {
            match selector.propose(loads, shared_stride) {
                None if selector.gives_up(loads) => return Err(Ended::BelowMinimum),
                Some(proposal) if best.is_none_or(|(_, best)| proposal.goes_before(&best)) => {
                    best = Some((goal, proposal));
                }
                _ => {}
            }
        }
        let (goal, proposal) = best.ok_or(Ended::Reached)?;
        Ok(Pending {
            step: proposal.step,
            duration_s: proposal.duration_s,
            winner: Some((goal, proposal.stride)),
        })
    }

    fn tried(&mut self, pending: &Pending, loads: &Loads) {
        let Some((goal, stride)) = pending.winner else {
            return;
        };
        self.shared_stride = self.selectors[goal]
            .tried(loads, pending.step)
            .unwrap_or(stride);
    }
}

impl Pending {
    fn of_search(step: usize, duration_s: f64) -> Self {
        Self {
            step,
            duration_s,
            winner: None,
        }
    }
}
