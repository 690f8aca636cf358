// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiment as a state machine: [`Experiment::next`] returns the next run, [`Experiment::report`] takes its
//! result.

use super::order::{Arm, Order, RUNS};
use super::plan::Plan;
use super::rule::{self, Evidence, Stop};
use crate::rng::Rng;
use crate::stats::paired::{self, Effect};
use crate::stats::sign_flip;

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Apply the setting, measure, report.
    Run(Slot),
    /// The experiment is done.
    Done(Stop),
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// A/A first, then A/B.
    pub phase: Phase,
    /// Number within its phase, from 1.
    pub block: usize,
    /// Number within its block, from 1.
    pub run: usize,
    /// The arm it counts for.
    pub arm: Arm,
}

impl Slot {
    /// The configuration to apply: in the A/A phase always A.
    pub fn setting(&self) -> Arm {
        match self.phase {
            Phase::Noise => Arm::A,
            Phase::Question => self.arm,
        }
    }
}

/// The parts of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A/A.
    Noise,
    /// A/B.
    Question,
}

/// A running comparison.
#[derive(Debug, Clone)]
pub struct Experiment {
    plan: Plan,
    coin: Rng,
    order: Order,
    /// Values of the current block.
    values: Vec<f64>,
    /// Failed attempts at the current block.
    attempts: u32,
    /// Consecutive failures of each configuration.
    failures: [u32; 2],
    /// Log-ratios of the completed blocks, and their values.
    noise: Vec<f64>,
    blocks: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    stop: Option<Stop>,
}

impl Experiment {
    /// Creates an experiment, with at least as many blocks as a proof needs.
    pub fn new(plan: Plan) -> Self {
        let most_blocks = plan.most_blocks.max(super::FEWEST_BLOCKS);
        let mut coin = Rng::new(plan.seed);
        Self {
            plan: Plan {
                most_blocks,
                ..plan
            },
            order: Order::toss(&mut coin),
            coin,
            values: Vec::new(),
            attempts: 0,
            failures: [0; 2],
            noise: Vec::new(),
            blocks: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
            stop: None,
        }
    }

    /// Restores a completed experiment from the log-ratios of its blocks.
    pub(super) fn of_blocks(plan: Plan, noise: Vec<f64>, blocks: Vec<f64>) -> Self {
        Self {
            noise,
            blocks,
            ..Self::new(plan)
        }
    }

    /// Changes the margin, as long as no block of A and B is done: the deciding figure, which has a margin, may be
    /// known only after the first run.
    pub fn set_margin(&mut self, margin: f64) {
        if self.blocks.is_empty() {
            self.plan.margin = margin;
        }
    }

    /// Returns the next action; it is the same until a result is reported.
    pub fn next(&self) -> Step {
        if let Some(stop) = self.stop {
            return Step::Done(stop);
        }
        let (phase, done) = match self.phase() {
            Phase::Noise => (Phase::Noise, self.noise.len()),
            Phase::Question => (Phase::Question, self.blocks.len()),
        };
        Step::Run(Slot {
            phase,
            block: done + 1,
            run: self.values.len() + 1,
            arm: self.order.arm(self.values.len()).unwrap_or(Arm::A),
        })
    }

    /// Records the figure of the run from [`Experiment::next`]. Returns false, and the block must be repeated,
    /// if it is not a positive number.
    pub fn report(&mut self, value: f64) -> bool {
        if !(value.is_finite() && value > 0.0) {
            self.discard_block();
            return false;
        }
        if let Step::Run(slot) = self.next() {
            self.failures[slot.setting() as usize] = 0;
            self.values.push(value);
            if self.values.len() == RUNS {
                self.close_block();
            }
        }
        true
    }

    /// Discards the current block, which must be repeated in the same order.
    pub fn discard_block(&mut self) {
        if let Step::Run(slot) = self.next() {
            self.failures[slot.setting() as usize] += 1;
        }
        self.attempts += 1;
        self.values.clear();
    }

    /// Whether to give up: one configuration failed several times in succession, or a block was repeated too
    /// often.
    pub fn is_hopeless(&self) -> bool {
        self.attempts >= MOST_ATTEMPTS || self.failures.iter().any(|runs| *runs >= MOST_FAILURES)
    }

    /// The number of runs to come, if further blocks are like those so far; before the second block of A and B the
    /// maximum.
    pub fn runs_left(&self) -> usize {
        if self.stop.is_some() {
            return 0;
        }
        let noise = self.plan.aa_blocks.saturating_sub(self.noise.len());
        let most = self.plan.most_blocks.saturating_sub(self.blocks.len());
        let mut blocks = self.blocks.clone();
        let mut question = 0;
        let is_known = self.blocks.len() >= 2;
        let stops = |blocks: &[f64]| is_known && rule::stop(blocks, &self.plan).is_some();
        while question < most && (question == 0 || !stops(&blocks)) {
            let like = self.blocks.get(question % self.blocks.len().max(1));
            blocks.extend(like);
            question += 1;
        }
        RUNS * (noise + question) - self.values.len()
    }

    /// The plan in use.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The log-ratios of the A/A phase.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// The log-ratio of B over A of each block.
    pub fn blocks(&self) -> &[f64] {
        &self.blocks
    }

    /// The values of one arm in complete A/B blocks.
    pub fn figures(&self, arm: Arm) -> &[f64] {
        match arm {
            Arm::A => &self.a,
            Arm::B => &self.b,
        }
    }

    /// The p of a difference between A and A: repeatedly small values indicate a broken harness.
    pub fn noise_p(&self) -> Option<f64> {
        sign_flip::p(&self.noise, self.plan.seed)
    }

    /// The evidence of the completed blocks.
    pub fn evidence(&self) -> Option<Evidence> {
        Evidence::of(&self.blocks, &self.plan)
    }

    /// The minimal detectable effect as a ratio minus 1, from the noise of all blocks so far.
    pub fn minimal_effect(&self) -> Option<f64> {
        let parts = [Effect::of(&self.noise), Effect::of(&self.blocks)];
        let parts: Vec<(f64, f64)> = parts
            .into_iter()
            .flatten()
            .map(|effect| ((effect.n - 1) as f64, effect.sd))
            .collect();
        let df: f64 = parts.iter().map(|(df, _)| df).sum();
        let variance = parts.iter().map(|(df, sd)| df * sd * sd).sum::<f64>() / df;
        (df > 0.0).then(|| self.plan.minimal_effect(variance.sqrt(), df))?
    }

    fn phase(&self) -> Phase {
        if self.noise.len() < self.plan.aa_blocks {
            Phase::Noise
        } else {
            Phase::Question
        }
    }

    fn close_block(&mut self) {
        let [a, b] = [Arm::A, Arm::B].map(|arm| self.order.of(arm, &self.values));
        // Positive values only were taken.
        let log_ratio = paired::log_ratio(&a, &b).unwrap_or(0.0);
        match self.phase() {
            Phase::Noise => self.noise.push(log_ratio),
            Phase::Question => {
                self.blocks.push(log_ratio);
                self.a.extend(a);
                self.b.extend(b);
                self.stop = rule::stop(&self.blocks, &self.plan);
            }
        }
        self.values.clear();
        self.attempts = 0;
        self.order = Order::toss(&mut self.coin);
    }
}

/// Attempts at one block.
const MOST_ATTEMPTS: u32 = 10;
const MOST_FAILURES: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            aa_blocks: 2,
            most_blocks: 8,
            margin: 0.02,
            seed: 3,
        }
    }

    fn slot(experiment: &Experiment) -> Slot {
        match experiment.next() {
            Step::Run(slot) => slot,
            Step::Done(stop) => panic!("{stop:?}"),
        }
    }

    #[test]
    fn noise_comes_first_and_only_then_is_anything_changed() {
        let mut experiment = Experiment::new(plan());
        let mut settings = String::new();
        while let Step::Run(slot) = experiment.next() {
            settings += match slot.setting() {
                Arm::A => "A",
                Arm::B => "B",
            };
            experiment.report(if slot.setting() == Arm::B {
                103.0
            } else {
                100.0
            });
        }
        assert_eq!(settings.len(), 4 * (2 + 8));
        assert_eq!(&settings[..8], "AAAAAAAA");
        for block in settings.as_bytes()[8..].chunks(4) {
            assert!(block == b"ABBA" || block == b"BAAB", "{block:?}");
        }
        assert!(settings[8..].contains("ABBA") && settings[8..].contains("BAAB"));
        assert_eq!(experiment.next(), Step::Done(Stop::Proven));
        assert_eq!(experiment.figures(Arm::B), [103.0; 16]);
        let evidence = experiment.evidence().unwrap();
        assert!(evidence.different && (evidence.effect.ratio() - 1.03).abs() < 1e-12);
    }

    #[test]
    fn runs_to_come_follow_from_the_blocks_so_far() {
        let mut experiment = Experiment::new(plan());
        assert_eq!(experiment.runs_left(), 40, "the maximum");
        let mut left = Vec::new();
        while let Step::Run(slot) = experiment.next() {
            let faster = if slot.setting() == Arm::B { 1.5 } else { 1.0 };
            experiment.report(100.0 * faster);
            left.push(experiment.runs_left());
        }
        let took = left.len();
        assert_eq!(left[took - 1], 0);
        // From the second block of A and B on it knows when the proof is complete.
        let known = &left[16..];
        let wrong = known
            .iter()
            .zip(1..)
            .filter(|(left, done)| **left != took - 16 - done);
        assert_eq!(wrong.count(), 0, "{took} runs: {left:?}");
    }

    #[test]
    fn a_discarded_block_is_run_again_in_the_same_order() {
        let mut experiment = Experiment::new(plan());
        let first = slot(&experiment);
        experiment.report(100.0);
        experiment.report(100.0);
        assert_eq!(slot(&experiment).run, 3);
        assert!(!experiment.report(0.0));
        assert_eq!(slot(&experiment), first);
        experiment.report(100.0);
        experiment.discard_block();
        assert_eq!(slot(&experiment), first);
    }

    #[test]
    fn a_block_whose_second_run_never_succeeds_is_noticed() {
        let mut experiment = Experiment::new(Plan {
            aa_blocks: 0,
            ..plan()
        });
        let mut runs = 0;
        while !experiment.is_hopeless() {
            runs += 1;
            match slot(&experiment).setting() {
                Arm::A => assert!(experiment.report(100.0)),
                Arm::B => experiment.discard_block(),
            }
        }
        assert!((4..=8).contains(&runs), "{runs}");
    }

    #[test]
    fn a_block_that_is_begun_again_and_again_is_given_up() {
        let mut experiment = Experiment::new(plan());
        let mut blocks = 0;
        while !experiment.is_hopeless() {
            (0..3).for_each(|_| assert!(experiment.report(100.0)));
            experiment.discard_block();
            blocks += 1;
        }
        assert_eq!(blocks, 10);
        let mut experiment = Experiment::new(plan());
        for _ in 0..8 {
            (0..3).for_each(|_| experiment.discard_block());
            (0..4).for_each(|_| assert!(experiment.report(100.0)));
        }
        assert!(!experiment.is_hopeless(), "a block that succeeds forgives");
    }

    #[test]
    fn equal_arms_without_noise_are_equivalent_at_the_first_look() {
        let mut experiment = Experiment::new(plan());
        while let Step::Run(_) = experiment.next() {
            experiment.report(94.0);
        }
        assert_eq!(experiment.next(), Step::Done(Stop::Equivalent));
        assert_eq!(experiment.blocks().len(), 6);
        assert_eq!(experiment.noise_p(), Some(1.0));
    }

    #[test]
    fn the_same_seed_asks_for_the_same_runs() {
        let orders = |seed| {
            let mut experiment = Experiment::new(Plan { seed, ..plan() });
            let mut arms = Vec::new();
            while let Step::Run(slot) = experiment.next() {
                arms.push(slot.arm);
                experiment.report(100.0);
            }
            arms
        };
        assert_eq!(orders(5), orders(5));
        assert_ne!(orders(5), orders(6));
    }
}
