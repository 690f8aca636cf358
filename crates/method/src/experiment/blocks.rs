// SPDX-License-Identifier: MIT OR Apache-2.0
//! An experiment as a comparison: the primary figure and the secondary ones.

use linerate_model::output::{Comparison, Judgement};

use super::figure::{Figure, Key};
use super::groups::side;
use super::plan::ALPHA;
use super::rule::{Evidence, Stop};
use super::run::Experiment;
use super::together;
use super::verdict::judge;
use crate::stats::paired::{self, Effect};
use crate::stats::sign_flip;

/// One figure of all runs of the complete blocks.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// With A.
    pub a: &'a [Figure],
    /// With B.
    pub b: &'a [Figure],
}

/// Compares the primary figure.
pub fn primary(key: &Key, runs: Runs<'_>, experiment: &Experiment) -> Comparison {
    let plan = experiment.plan();
    let evidence = experiment.evidence();
    let noise = Effect::of(experiment.noise());
    let verdict = |evidence: Evidence| {
        let ratio = evidence.effect.ratio();
        judge(
            evidence.different,
            evidence.equivalent,
            ratio,
            key.higher_is_better,
        )
    };
    Comparison {
        primary: true,
        blocks_planned: Some(plan.most_blocks as u32),
        order_seed: Some(plan.seed),
        aa_log_ratios: experiment.noise().to_vec(),
        aa_sigma: noise.map(|noise| noise.sd),
        aa_p: noise.and(experiment.noise_p()),
        alpha: plan.last_alpha(),
        e_value: evidence.map(|evidence| evidence.e_value),
        mde: experiment.minimal_effect(),
        verdict: evidence.map_or(Judgement::Inconclusive, verdict),
        ..secondary(key, runs, experiment.blocks(), plan.margin)
    }
}

/// Compares a secondary figure by the log-ratios of its blocks, once at the end. [`settle`] adds the verdict.
pub fn secondary(key: &Key, runs: Runs<'_>, log_ratios: &[f64], margin: f64) -> Comparison {
    let effect = Effect::of(log_ratios);
    let needed = sign_flip::needed_blocks(ALPHA);
    Comparison {
        name: key.name.clone(),
        metric: key.metric.clone(),
        unit: key.unit.clone(),
        higher_is_better: key.higher_is_better,
        before: side(runs.a, margin),
        after: side(runs.b, margin),
        blocks: Some(log_ratios.len() as u32),
        log_ratios: log_ratios.to_vec(),
        ratio: effect.map(|effect| effect.ratio()),
        ci95: effect.map(|effect| effect.interval(ALPHA)),
        ci90: effect.map(|effect| effect.interval(2.0 * ALPHA)),
        margin,
        p: sign_flip::p(log_ratios, 0),
        alpha: ALPHA,
        smallest_p: Some(sign_flip::smallest_p(log_ratios.len())),
        needed: (log_ratios.len() < needed).then_some(needed as u32),
        ..Comparison::default()
    }
}

/// Adds the verdicts of the secondary figures, which share one error of 5 %.
pub fn settle(together: &mut [Comparison]) {
    let mut together: Vec<&mut Comparison> = together.iter_mut().collect();
    together::settle(&mut together, sign_flip::needed_blocks);
}

/// Returns the log-ratio of a figure in each block; a block has two runs of each arm.
pub fn log_ratios(runs: Runs<'_>) -> Vec<f64> {
    let pairs = runs.a.chunks_exact(2).zip(runs.b.chunks_exact(2));
    let compared = |pair: &[Figure]| pair.iter().map(|run| run.compared).collect::<Vec<_>>();
    pairs
        .filter_map(|(a, b)| paired::log_ratio(&compared(a), &compared(b)))
        .collect()
}

/// The name in documents of why an experiment ended.
pub fn word(stop: Stop) -> &'static str {
    match stop {
        Stop::Proven => "proven",
        Stop::Equivalent => "equivalent",
        Stop::Futile => "futile",
        Stop::AllBlocks => "all-blocks",
    }
}
