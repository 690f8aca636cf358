// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trials that one goal proposes.
//!
//! A selector works through its goal's targets, coarsest first. For each it proposes by the first of these that
//! applies: halve the interval inherited from the target before, confirm its lower
//! end, confirm its upper end, go down or up from the only bound there is, bisect. A step outwards
//! that misses its bound widens the next one.

use super::goal::{Goal, Target};
use super::loads::{Bracket, Loads};
use super::room::{self, Room};

/// One goal's view of the search.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    targets: Vec<Target>,
    current: usize,
    expansion: usize,
    fail_fast: bool,
    last_step: usize,
    /// The ends of the interval that the target before left, or of the initial trials.
    initial: Bracket,
    /// The next step outwards, unless another goal's is wider.
    stride: usize,
    /// What the last proposal was for.
    waits_for: Option<Missing>,
}

/// A trial that some selector wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proposal {
    pub(super) step: usize,
    pub(super) duration_s: f64,
    /// The stride that all selectors keep to at least, if this is tried.
    pub(super) stride: usize,
}

impl Proposal {
    /// Whether this is tried before `other`: lowest load, then longest trial, then widest stride.
    pub(super) fn goes_before(&self, other: &Self) -> bool {
        let by_load = self.step.cmp(&other.step);
        let by_duration = other.duration_s.total_cmp(&self.duration_s);
        let by_stride = other.stride.cmp(&self.stride);
        by_load.then(by_duration).then(by_stride).is_lt()
    }
}

/// The bound that a step outwards looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Lower,
    Upper,
}

impl Selector {
    pub(super) fn new(goal: &Goal, width_steps: usize, last_step: usize, initial: Bracket) -> Self {
        let mut selector = Self {
            targets: goal.targets(width_steps),
            current: 0,
            expansion: goal.expansion as usize,
            fail_fast: goal.fail_fast,
            last_step,
            initial,
            stride: 0,
            waits_for: None,
        };
        selector.begin_target();
        selector
    }

    /// The trial wanted next; `None` when the goal is reached, or a limit of the search is.
    pub(super) fn propose(&mut self, loads: &Loads, shared_stride: usize) -> Option<Proposal> {
        loop {
            let bracket = loads.bracket(&self.target().rule);
            if let Some((step, stride)) = self.pick(bracket, shared_stride) {
                return Some(Proposal {
                    step,
                    duration_s: self.target().rule.full_trial_s,
                    stride,
                });
            }
            if self.current + 1 == self.targets.len() {
                return None;
            }
            self.current += 1;
            self.initial = bracket;
            self.begin_target();
        }
    }

    /// Whether no load meets the goal and the whole search must end.
    pub(super) fn gives_up(&self, loads: &Loads) -> bool {
        self.fail_fast && loads.bracket(&self.target().rule).lower.is_none()
    }

    /// Records that the proposed trial was made, and widens the stride if it missed its bound. Returns the new
    /// shared stride if it changed.
    pub(super) fn tried(&mut self, loads: &Loads, step: usize) -> Option<usize> {
        let bracket = loads.bracket(&self.target().rule);
        let missed = match self.waits_for? {
            Missing::Lower => bracket.upper == Some(step),
            Missing::Upper => bracket.lower == Some(step),
        };
        if !missed {
            return None;
        }
        self.widen();
        Some(self.stride)
    }

    fn begin_target(&mut self) {
        let inherited = self.initial.width_steps().unwrap_or(0);
        self.stride = self.target().width_steps.max(inherited);
        self.widen();
        self.waits_for = None;
    }

    fn pick(&mut self, bracket: Bracket, shared_stride: usize) -> Option<(usize, usize)> {
        self.waits_for = None;
        self.inherited(bracket)
            .or_else(|| self.outwards(bracket, shared_stride))
            .or_else(|| self.inwards(bracket, shared_stride))
    }

    /// Halve the inherited interval, or confirm one of its ends.
    fn inherited(&mut self, bracket: Bracket) -> Option<(usize, usize)> {
        let width = self.target().width_steps;
        let candidates = [self.half(), self.initial.lower, self.initial.upper];
        let step = candidates
            .into_iter()
            .flatten()
            .find(|&step| bracket.is_worth(step, width))?;
        self.limit_stride(width);
        Some((step, width))
    }

    /// The middle of an inherited interval of one to two widths.
    fn half(&self) -> Option<usize> {
        let (lower, upper) = (self.initial.lower?, self.initial.upper?);
        let width = self.target().width_steps;
        let halves = upper - lower > width && upper - lower <= 2 * width;
        halves.then(|| room::middle(lower, upper, width))
    }

    /// Go down or up from the only bound.
    fn outwards(&mut self, bracket: Bracket, shared_stride: usize) -> Option<(usize, usize)> {
        let width = self.target().width_steps;
        let stride = self.stride.max(shared_stride);
        let (wanted, missing) = match (bracket.lower, bracket.upper) {
            (None, Some(upper)) => (upper.saturating_sub(stride), Missing::Lower),
            (Some(lower), None) => (lower.saturating_add(stride), Missing::Upper),
            _ => return None,
        };
        let step = self.room(bracket)?.place(wanted, width)?;
        if !bracket.is_worth(step, width) {
            return None;
        }
        self.waits_for = Some(missing);
        Some((step, stride))
    }

    /// Bisect, or step outwards from a bound as if the other one were missing, where that stays
    /// nearer to the inherited interval: bounds that another goal made may be far from it.
    fn inwards(&mut self, bracket: Bracket, shared_stride: usize) -> Option<(usize, usize)> {
        let (lower, upper) = (bracket.lower?, bracket.upper?);
        let width = self.target().width_steps;
        if lower >= self.last_step || upper == 0 || upper - lower <= width {
            return None;
        }
        let middle = room::middle(lower, upper, width);
        let stride = self.stride.max(shared_stride);
        let room = self.room(bracket)?;
        let down = room.place(upper.saturating_sub(stride), width);
        if let Some(step) = down.filter(|&step| middle < step && below(step, self.initial.upper)) {
            self.waits_for = Some(Missing::Lower);
            return Some((step, stride));
        }
        let up = room.place(lower.saturating_add(stride), width);
        if let Some(step) = up.filter(|&step| step < middle && above(step, self.initial.lower)) {
            self.waits_for = Some(Missing::Upper);
            return Some((step, stride));
        }
        let part = (middle - lower).min(upper - middle);
        self.limit_stride(part);
        Some((middle, part))
    }

    fn room(&self, bracket: Bracket) -> Option<Room> {
        Room::between(bracket.lower, bracket.upper, self.last_step)
    }

    fn limit_stride(&mut self, steps: usize) {
        self.stride = steps.max(self.target().width_steps);
        self.widen();
    }

    fn widen(&mut self) {
        self.stride = self.stride.saturating_mul(self.expansion);
    }

    fn target(&self) -> &Target {
        &self.targets[self.current]
    }
}

fn below(step: usize, limit: Option<usize>) -> bool {
    limit.is_some_and(|limit| step < limit)
}

fn above(step: usize, limit: Option<usize>) -> bool {
    limit.is_some_and(|limit| limit < step)
}
