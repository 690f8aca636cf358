// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of a search for one goal.

use super::classify::{Trial, Verdict};
use super::goal::Goal;
use super::lattice::Lattice;
use super::loads::Loads;

/// The relevant bounds of one goal (RFC 9971, Goal Result), in frames per second and direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The relevant lower bound: the goal is met here. `None` if no load met it.
    pub lower_fps: Option<f64>,
    /// The relevant upper bound: the goal is not met here. `None` if no load failed it.
    pub upper_fps: Option<f64>,
    /// Conditional throughput at the lower bound: equal to it where the goal allows no loss.
    pub conditional_throughput_fps: Option<f64>,
    pub regularity: Regularity,
    /// The upper bound exists only because the tester did not send all frames: it is not a limit of the device.
    pub upper_by_tester: bool,
}

/// Whether the bounds are as close as the goal requires, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regularity {
    /// Both bounds, as close as asked.
    Regular,
    /// The maximum load meets the goal: the device may forward more.
    AtMaximum,
    /// The minimum load does not meet the goal: the device forwards less.
    BelowMinimum,
    /// The search did not finish.
    Unfinished,
}

/// Why the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every goal is reached, or at a limit of the loads.
    Reached,
    /// A goal that fails fast is not met even at the minimum load.
    BelowMinimum,
    /// The next trial would not have ended in time.
    TimeLimit,
}

impl Bounds {
    pub(super) fn new(goal: &Goal, loads: &Loads, lattice: &Lattice) -> Self {
        let rule = goal.rule();
        let bracket = loads.bracket(&rule);
        let conditional = |step: usize| {
            lattice.load_fps(step) * (1.0 - rule.conditional_loss_ratio(loads.at(step)))
        };
        let fps = |step| lattice.load_fps(step);
        let close = bracket.width_steps();
        let close = close.is_some_and(|width| width <= lattice.width_steps(goal.width));
        Self {
            lower_fps: bracket.lower.map(fps),
            upper_fps: bracket.upper.map(fps),
            conditional_throughput_fps: bracket.lower.map(conditional),
            regularity: match (bracket.lower, bracket.upper) {
                (Some(lower), None) if lower == lattice.last() => Regularity::AtMaximum,
                (None, Some(0)) => Regularity::BelowMinimum,
                _ if close => Regularity::Regular,
                _ => Regularity::Unfinished,
            },
            upper_by_tester: bracket
                .upper
                .is_some_and(|step| is_by_tester(goal, loads.at(step))),
        }
    }
}

/// Whether the load is an upper bound only because of trials that the tester did not send completely.
fn is_by_tester(goal: &Goal, trials: &[Trial]) -> bool {
    let sent: Vec<Trial> = trials
        .iter()
        .copied()
        .filter(|trial| !trial.under_run)
        .collect();
    goal.rule().classify(&sent) != Verdict::Upper
}
