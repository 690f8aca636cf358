// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiment as a state machine: [`Experiment::next`] says what to run, [`Experiment::report`] takes
//! what it gave.

use super::order::{Arm, Order, RUNS};
use super::plan::Plan;
use super::rule::{self, Evidence, Stop};
use crate::rng::Rng;
use crate::stats::paired::{self, Effect};
use crate::stats::sign_flip;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Apply the setting, measure, report.
    Run(Slot),
    /// Nothing: it is over.
    Done(Stop),
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Noise first, then the question.
    pub phase: Phase,
    /// From 1, in its phase.
    pub block: usize,
    /// From 1, in its block.
    pub run: usize,
    /// Which arm it counts for.
    pub arm: Arm,
}

impl Slot {
    /// Which configuration is to be applied: in the A/A phase always A.
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

/// A comparison under way.
#[derive(Debug, Clone)]
pub struct Experiment {
    plan: Plan,
    coin: Rng,
    order: Order,
    /// Of the block that is being run.
    values: Vec<f64>,
    /// So often it could not be finished.
    spoilt: u32,
    /// So often in a row each configuration gave nothing.
    in_row: [u32; 2],
    /// Log-ratios of the blocks done, and their runs.
    noise: Vec<f64>,
    blocks: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    stop: Option<Stop>,
}

impl Experiment {
    /// One that has not begun. Fewer blocks than needed for a proof are raised to that.
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
            spoilt: 0,
            in_row: [0; 2],
            noise: Vec::new(),
            blocks: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
            stop: None,
        }
    }

    /// One that was carried out, by the log-ratios of its blocks. It goes no further.
    pub(super) fn of_blocks(plan: Plan, noise: Vec<f64>, blocks: Vec<f64>) -> Self {
        Self {
            noise,
            blocks,
            ..Self::new(plan)
        }
    }

    /// What to do now; the same until something is reported.
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

    /// Takes the figure of the run that [`Experiment::next`] named: a positive number. False, and the block
    /// is to be run again, if it is none.
    pub fn report(&mut self, value: f64) -> bool {
        if !(value.is_finite() && value > 0.0) {
            self.spoil();
            return false;
        }
        if let Step::Run(slot) = self.next() {
            self.in_row[slot.setting() as usize] = 0;
            self.values.push(value);
            if self.values.len() == RUNS {
                self.close_block();
            }
        }
        true
    }

    /// The block cannot be used: it is run again from its beginning, in the same order.
    pub fn spoil(&mut self) {
        if let Step::Run(slot) = self.next() {
            self.in_row[slot.setting() as usize] += 1;
        }
        self.spoilt += 1;
        self.values.clear();
    }

    /// Whether to give up: one configuration gave nothing several times in a row, whatever the other gave
    /// meanwhile, or a block was begun often.
    pub fn is_hopeless(&self) -> bool {
        self.spoilt >= MOST_SPOILT || self.in_row.iter().any(|runs| *runs >= MOST_IN_ROW)
    }

    /// The plan, as it is carried out.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The log-ratios of the A/A phase.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// The log-ratios of B over A, a block each.
    pub fn blocks(&self) -> &[f64] {
        &self.blocks
    }

    /// The figures of one arm, of complete blocks of the A/B phase.
    pub fn figures(&self, arm: Arm) -> &[f64] {
        match arm {
            Arm::A => &self.a,
            Arm::B => &self.b,
        }
    }

    /// The p of a difference between A and A: small once in a while, or the harness is broken.
    pub fn noise_p(&self) -> Option<f64> {
        sign_flip::p(&self.noise, self.plan.seed)
    }

    /// What the blocks done so far say.
    pub fn evidence(&self) -> Option<Evidence> {
        Evidence::of(&self.blocks, &self.plan)
    }

    /// The ratio minus 1 that would probably be found, by the noise of all blocks so far.
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
        self.spoilt = 0;
        self.order = Order::toss(&mut self.coin);
    }
}

/// Attempts at one block.
const MOST_SPOILT: u32 = 10;
const MOST_IN_ROW: u32 = 4;

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
    fn a_spoilt_block_is_run_again_in_the_same_order() {
        let mut experiment = Experiment::new(plan());
        let first = slot(&experiment);
        experiment.report(100.0);
        experiment.report(100.0);
        assert_eq!(slot(&experiment).run, 3);
        assert!(!experiment.report(0.0));
        assert_eq!(slot(&experiment), first);
        experiment.report(100.0);
        experiment.spoil();
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
                Arm::B => experiment.spoil(),
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
            experiment.spoil();
            blocks += 1;
        }
        assert_eq!(blocks, 10);
        let mut experiment = Experiment::new(plan());
        for _ in 0..8 {
            (0..3).for_each(|_| experiment.spoil());
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
