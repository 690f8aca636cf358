// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole procedure on simulated links: its rate of false effects, and its power at the effect that it states.
//! Seeds are fixed, so the counts are reproducible.

use super::*;
use crate::rng::Rng;

/// What the runs of an experiment are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Noise {
    /// Independent, normal.
    Normal,
    /// First-order autoregression of 0.9 from run to run, and a drift of a tenth of a deviation a run.
    Drifting,
    /// Student's t with three degrees of freedom.
    HeavyTails,
    /// Exponential, minus its mean: mostly a little faster, sometimes much slower.
    Skewed,
    /// As [`Noise::Drifting`], of skewed steps.
    SkewedDrift,
    /// As [`Noise::Drifting`], of heavy-tailed steps.
    HeavyDrift,
}

pub(crate) const NOISES: [Noise; 3] = [Noise::Normal, Noise::Drifting, Noise::HeavyTails];
/// Those, and skewed ones.
pub(crate) const EVERY_NOISE: [Noise; 6] = [
    Noise::Normal,
    Noise::Drifting,
    Noise::HeavyTails,
    Noise::HeavyDrift,
    Noise::Skewed,
    Noise::SkewedDrift,
];
/// The standard deviation of a run, about.
const SD: f64 = 0.02;

pub(crate) struct Link {
    rng: Rng,
    noise: Noise,
    last: f64,
    runs: f64,
}

impl Link {
    pub(crate) fn new(noise: Noise, seed: u64) -> Self {
        Self {
            rng: Rng::new(0x5eed_0000 + seed),
            noise,
            last: 0.0,
            runs: 0.0,
        }
    }

    pub(crate) fn run(&mut self, effect: f64) -> f64 {
        self.runs += 1.0;
        let step = match self.noise {
            Noise::Normal | Noise::Drifting => self.rng.normal(),
            Noise::HeavyTails | Noise::HeavyDrift => self.rng.heavy_tailed(),
            Noise::Skewed | Noise::SkewedDrift => 1.0 + (1.0 - self.rng.unit()).ln(),
        };
        let deviation = match self.noise {
            Noise::Normal | Noise::HeavyTails | Noise::Skewed => step,
            Noise::Drifting | Noise::HeavyDrift | Noise::SkewedDrift => {
                self.last = 0.9 * self.last + step;
                self.last + 0.1 * self.runs
            }
        };
        940.0 * (effect + SD * deviation).exp()
    }
}

/// One experiment; the effect may be what it states itself after its A/A phase.
fn experiment(plan: Plan, noise: Noise, effect: impl Fn(&Experiment) -> f64) -> Experiment {
    let mut experiment = Experiment::new(plan);
    let mut link = Link::new(noise, plan.seed);
    while let Step::Run(slot) = experiment.next() {
        let effect = match slot.setting() {
            Arm::A => 0.0,
            Arm::B => effect(&experiment),
        };
        experiment.report(link.run(effect));
    }
    experiment
}

fn plan(most_blocks: usize, seed: u64) -> Plan {
    Plan {
        aa_blocks: 6,
        most_blocks,
        margin: 0.02,
        seed,
    }
}

fn share(times: u64, is: impl Fn(u64) -> bool) -> f64 {
    (0..times).filter(|seed| is(*seed)).count() as f64 / times as f64
}

#[test]
fn what_is_not_there_is_seen_in_at_most_five_of_a_hundred() {
    for noise in NOISES {
        for most_blocks in [6, 8, 12] {
            let seen = share(EXPERIMENTS, |seed| {
                let done = experiment(plan(most_blocks, seed), noise, |_| 0.0);
                done.evidence().is_some_and(|evidence| evidence.different)
            });
            println!(
                "false positives, {noise:?}, {most_blocks} blocks: {:.2} %",
                100.0 * seen
            );
            assert!(seen <= 0.05, "{noise:?} {most_blocks}: {seen}");
        }
    }
}

/// The effect is what the A/A phase said would probably be found.
#[test]
fn the_effect_that_it_stated_is_found_in_at_least_eighty_of_a_hundred() {
    for noise in NOISES {
        for most_blocks in [6, 8, 12] {
            let per_sd = plan(most_blocks, 0)
                .minimal_effect(1.0, 5.0)
                .unwrap()
                .ln_1p();
            let stated = |experiment: &Experiment| {
                per_sd * crate::stats::describe::sd(experiment.noise()).unwrap()
            };
            let found = share(EXPERIMENTS, |seed| {
                let done = experiment(plan(most_blocks, seed), noise, stated);
                let evidence = done.evidence().unwrap();
                evidence.different && evidence.effect.mean > 0.0
            });
            println!(
                "power, {noise:?}, {most_blocks} blocks: {:.1} %",
                100.0 * found
            );
            assert!(found >= 0.8, "{noise:?} {most_blocks}: {found}");
        }
    }
}

/// A difference as large as the margin is called equivalent in at most five of a hundred.
#[test]
fn what_matters_is_not_called_equivalent() {
    for noise in NOISES {
        for sd in [0.25, 1.0] {
            let margin = 0.02 / sd;
            let called = share(EXPERIMENTS, |seed| {
                let plan = Plan {
                    margin,
                    ..plan(12, seed)
                };
                let done = experiment(plan, noise, |_| margin.ln_1p());
                done.evidence().is_some_and(|evidence| evidence.equivalent)
            });
            println!(
                "false equivalence, {noise:?}, margin {margin}: {:.2} %",
                100.0 * called
            );
            assert!(called <= 0.05, "{noise:?} {margin}: {called}");
        }
    }
}

#[test]
fn a_large_effect_needs_eight_blocks_and_none_is_seen_as_equal() {
    let blocks = |effect: f64, seed| {
        experiment(plan(20, seed), Noise::Normal, |_| effect)
            .blocks()
            .len()
    };
    let large: Vec<usize> = (0..50).map(|seed| blocks(0.1, seed)).collect();
    assert!(large.iter().all(|n| *n == 8), "{large:?}");
    let equal = share(100, |seed| {
        let quiet = Plan {
            margin: 0.1,
            ..plan(12, seed)
        };
        let done = experiment(quiet, Noise::Normal, |_| 0.0);
        done.evidence().is_some_and(|evidence| evidence.equivalent)
    });
    assert!(equal > 0.9, "{equal}");
}

const EXPERIMENTS: u64 = 2000;
