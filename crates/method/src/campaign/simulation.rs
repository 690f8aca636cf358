// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole campaigns on simulated links. Seeds are fixed, so the counts are reproducible.

use super::*;
use crate::experiment::simulation::{Link, NOISES, Noise};
use crate::experiment::{Arm, Experiment, Plan, Step as Run};

/// All are judged by one measurement, or each by its own.
const GROUPS: [[usize; 5]; 2] = [[0; 5], [0, 1, 2, 3, 4]];

/// One trial by the real rule; whether B was proven better by more than the margin.
fn is_better(link: &mut Link, plan: Plan, [a, b]: [f64; 2]) -> bool {
    let mut experiment = Experiment::new(plan);
    while let Run::Run(slot) = experiment.next() {
        experiment.report(link.run(match slot.setting() {
            Arm::A => a,
            Arm::B => b,
        }));
    }
    experiment
        .evidence()
        .is_some_and(|found| found.different && !found.equivalent && found.effect.mean > 0.0)
}

struct Ended {
    /// After the first trial of each.
    tried: Vec<usize>,
    kept: Vec<usize>,
}

/// `effects`: what each change does to the logarithm of the rate.
fn campaign(noise: Noise, effects: &[f64], groups: &[usize], seed: u64) -> Ended {
    let mut link = Link::new(noise, seed);
    let mut campaign = Campaign::new(groups.to_vec());
    let mut tried = Vec::new();
    let mut trials = 0;
    let sum = |set: &[usize]| set.iter().map(|one| effects[*one]).sum::<f64>();
    loop {
        let step = campaign.next();
        let arms = match &step {
            Step::Try { candidate, with } | Step::Needed { candidate, with } => {
                [sum(with), sum(with) + effects[*candidate]]
            }
            Step::Whole { set, .. } => [0.0, sum(set)],
            Step::Done => break,
        };
        trials += 1;
        let plan = Plan {
            aa_blocks: if trials == 1 { 6 } else { 0 },
            most_blocks: 12,
            margin: 0.02,
            seed: seed * 100 + trials,
        };
        let better = is_better(&mut link, plan, arms);
        if let (Step::Try { candidate, .. }, true) = (&step, better) {
            tried.push(*candidate);
        }
        campaign.report(better);
    }
    let kept = campaign.kept().to_vec();
    Ended { tried, kept }
}

/// The bound: of 100 campaigns in which no change does anything, at most five keep one.
#[test]
fn of_a_hundred_campaigns_without_an_effect_at_most_five_keep_something() {
    for (noise, groups) in NOISES
        .into_iter()
        .flat_map(|noise| GROUPS.map(|groups| (noise, groups)))
    {
        let all: Vec<Ended> = (0..100)
            .map(|seed| campaign(noise, &[0.0; 5], &groups, seed))
            .collect();
        let first = all.iter().filter(|ended| !ended.tried.is_empty()).count();
        let kept = all.iter().filter(|ended| !ended.kept.is_empty()).count();
        println!("{noise:?}, {groups:?}: {first} of 100 by the first trial, {kept} kept");
        assert!(kept <= 5, "{noise:?}: {kept}");
    }
}

/// As with `--explore`: the more candidates, the more of them pass a first trial by chance; the bound is the same.
#[test]
fn of_a_hundred_campaigns_with_thirty_candidates_at_most_five_keep_something() {
    for noise in NOISES {
        let all = (0..100).map(|seed| campaign(noise, &[0.0; 30], &[0; 30], seed));
        let all: Vec<Ended> = all.collect();
        let first = all.iter().filter(|ended| !ended.tried.is_empty()).count();
        let kept = all.iter().filter(|ended| !ended.kept.is_empty()).count();
        println!("{noise:?}: {first} of 100 by the first trials, {kept} kept");
        assert!(first > 0 && kept <= 5, "{noise:?}: {first} {kept}");
    }
}

/// Over three kinds of noise, five candidates and a hundred campaigns each, chance alone passes first trials; what is
/// kept then has to pass a second one.
#[test]
fn a_second_trial_removes_what_chance_let_through_the_first() {
    let all = NOISES
        .iter()
        .flat_map(|noise| (0..100).map(|seed| campaign(*noise, &[0.0; 5], &GROUPS[0], seed)));
    let [mut first, mut kept] = [0, 0];
    for ended in all {
        first += ended.tried.len();
        kept += ended.kept.len();
    }
    assert!(first > 0 && kept < first, "{first} {kept}");
}

/// Two changes with an effect of 10 % each, in noise of 2 %, among three without.
#[test]
fn what_helps_is_kept() {
    for noise in NOISES {
        let effects = [0.0, 0.1, 0.0, 0.1, 0.0];
        let found =
            (0..100).filter(|seed| campaign(noise, &effects, &GROUPS[0], *seed).kept == [1, 3]);
        let found = found.count();
        println!("{noise:?}: {found} of 100 campaigns keep both and nothing else");
        assert!(found >= 80, "{noise:?}: {found}");
    }
}
