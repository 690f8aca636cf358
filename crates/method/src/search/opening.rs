// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first trials: the maximum load, the rate that got through, and one more next to it.
//!
//! The rate that an overloaded device forwards is the best estimate of its rate without loss.

use super::goal::Goal;
use super::lattice::Lattice;
use super::loads::Bracket;
use super::room::Room;

/// Up to three trials, all as long as the longest initial trial of any goal.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    duration_s: f64,
    /// The smallest loss ratio of all goals.
    loss_ratio: f64,
    width_steps: usize,
    step: usize,
    /// The step of the second trial, once it is made.
    second: Option<usize>,
}

impl Opening {
    pub(super) fn new(goals: &[Goal], lattice: &Lattice) -> Self {
        let first_target = |goal: &Goal| goal.targets(lattice.width_steps(goal.width))[0];
        let targets = || goals.iter().map(first_target);
        let longest = |a: f64, b: f64| a.max(b);
        Self {
            duration_s: targets().map(|t| t.rule.full_trial_s).fold(0.0, longest),
            loss_ratio: targets().map(|t| t.rule.loss_ratio).fold(1.0, f64::min),
            width_steps: targets().map(|t| t.width_steps).max().unwrap_or(1),
            step: lattice.last(),
            second: None,
        }
    }

    pub(super) fn step(&self) -> usize {
        self.step
    }

    pub(super) fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// Records the loss ratio of the trial. Returns the last two loads when the opening is done; they need not be
    /// bounds.
    pub(super) fn feed(&mut self, loss_ratio: f64, lattice: &Lattice) -> Option<Bracket> {
        let tried = self.step;
        if let Some(second) = self.second {
            return Some(interval(second, tried));
        }
        let Some(step) = self.after(loss_ratio, lattice) else {
            return Some(interval(tried, tried));
        };
        if tried < lattice.last() {
            self.second = Some(tried);
        }
        self.step = step;
        None
    }

    fn after(&self, loss_ratio: f64, lattice: &Lattice) -> Option<usize> {
        let last = lattice.last();
        let is_first = self.step == last;
        if !is_first && loss_ratio <= self.loss_ratio {
            let room = Room::between(Some(self.step), Some(last), last)?;
            return room.place(self.step + self.width_steps, self.width_steps);
        }
        let forwarded = lattice.load_fps(self.step) * (1.0 - loss_ratio) / (1.0 - self.loss_ratio);
        let room = Room::between(None, Some(self.step), last)?;
        room.place(lattice.step_below(forwarded), self.width_steps)
    }
}

fn interval(one: usize, other: usize) -> Bracket {
    Bracket {
        lower: Some(one.min(other)),
        upper: Some(one.max(other)),
    }
}
