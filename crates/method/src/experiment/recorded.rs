// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stored experiment and its conclusions, which do not depend on when they are drawn.

use linerate_model::output::{self, Comparison, Excluded, ExperimentFigure, ExperimentRun};
use linerate_model::output::{ExperimentPhase, Side};

use super::blocks::{self, Runs};
use super::figure::{Figure, Key};
use super::guard::guard;
use super::margin::Margins;
use super::order::{Arm, RUNS};
use super::plan::Plan;
use super::run::{Experiment, Phase, Slot};
use crate::stats::paired;

/// Returns the comparisons of all figures, the primary one first; empty if no run has the primary figure or the
/// plan is impossible. The caller adds the sentences.
pub fn judged(record: &output::Experiment) -> Vec<Comparison> {
    let plan = plan(record);
    let Some(key) = deciding(record).filter(|_| plan.is_possible()) else {
        return Vec::new();
    };
    let [a, b] = [output::Arm::A, output::Arm::B].map(|arm| side(record, arm));
    let noise = block_ratios(record, &key, ExperimentPhase::Aa);
    let question = block_ratios(record, &key, ExperimentPhase::Ab);
    let experiment = Experiment::of_blocks(plan, noise, question);
    let of = |key: &Key| [&a, &b].map(|runs| figures_of(runs, key));
    let [of_a, of_b] = of(&key);
    let mut all = vec![blocks::primary(
        &key,
        Runs { a: &of_a, b: &of_b },
        &experiment,
    )];
    let margins = Margins::new(Some(record.margin), [&key]);
    for other in keys(&a).filter(|other| *other != key) {
        let [of_a, of_b] = of(&other);
        let runs = Runs { a: &of_a, b: &of_b };
        if of_a.len() == a.len() && of_b.len() == b.len() {
            let margin = margins.of(&other);
            all.push(blocks::secondary(
                &other,
                runs,
                &blocks::log_ratios(runs),
                margin,
            ));
        }
    }
    blocks::settle(&mut all[1..]);
    complete(&mut all, record, [&a, &b]);
    all
}

/// The record of a run that has begun.
pub fn begun(slot: Slot, id: String) -> ExperimentRun {
    let arm = |arm| match arm {
        Arm::A => output::Arm::A,
        Arm::B => output::Arm::B,
    };
    ExperimentRun {
        id,
        phase: match slot.phase {
            Phase::Noise => ExperimentPhase::Aa,
            Phase::Question => ExperimentPhase::Ab,
        },
        block: slot.block as u32,
        place: slot.run as u32,
        arm: arm(slot.arm),
        setting: arm(slot.setting()),
        ..ExperimentRun::default()
    }
}

/// The primary figure: the first with the requested name, of the first run that has one.
pub fn deciding(record: &output::Experiment) -> Option<Key> {
    let metric = record.metric.as_deref();
    record.runs.iter().find_map(|run| named(run, metric))
}

/// The first figure of a run with the requested name.
pub fn named(run: &ExperimentRun, metric: Option<&str>) -> Option<Key> {
    let mut keys = run.figures.iter().map(key);
    keys.find(|key| metric.is_none_or(|metric| key.is_named(metric)))
}

/// A figure of a run.
pub fn figure<'r>(run: &'r ExperimentRun, wanted: &Key) -> Option<&'r ExperimentFigure> {
    run.figures.iter().find(|figure| key(figure) == *wanted)
}

impl From<Figure> for ExperimentFigure {
    fn from(figure: Figure) -> Self {
        Self {
            metric: figure.key.metric,
            name: figure.key.name,
            unit: figure.key.unit,
            higher_is_better: figure.key.higher_is_better,
            value: figure.value,
            compared: figure.compared,
            flows: figure.flows,
        }
    }
}

fn plan(record: &output::Experiment) -> Plan {
    Plan {
        aa_blocks: record.aa_blocks as usize,
        most_blocks: record.blocks_planned as usize,
        margin: record.margin,
        seed: record.order_seed,
    }
}

/// Adds guards, environment and labels.
fn complete(all: &mut [Comparison], record: &output::Experiment, runs: [&[&ExperimentRun]; 2]) {
    let guards = all.iter().skip(1).map(guard).collect();
    if let Some(first) = all.first_mut() {
        first.guards = guards;
        first.stopped.clone_from(&record.stopped);
        first.environment_diff.clone_from(&record.environment_diff);
        first.excluded = record.runs.iter().filter_map(excluded).collect();
    }
    for one in all {
        describe(&mut one.before, &record.a, runs[0]);
        describe(&mut one.after, &record.b, runs[1]);
    }
}

fn describe(side: &mut Side, label: &str, runs: &[&ExperimentRun]) {
    label.clone_into(&mut side.label);
    side.runs = runs.iter().filter_map(|run| run.run_dir.clone()).collect();
}

fn excluded(run: &ExperimentRun) -> Option<Excluded> {
    let reason = run.invalid_reason.clone()?;
    Some(Excluded {
        run: run.id.clone(),
        reason,
    })
}

/// The counted A/B runs of one side, block by block.
fn side(record: &output::Experiment, arm: output::Arm) -> Vec<&ExperimentRun> {
    counting(record, ExperimentPhase::Ab)
        .filter(|run| run.arm == arm)
        .collect()
}

fn counting(
    record: &output::Experiment,
    phase: ExperimentPhase,
) -> impl Iterator<Item = &ExperimentRun> {
    let counts = move |run: &&ExperimentRun| run.counts && run.phase == phase;
    record.runs.iter().filter(counts)
}

fn block_ratios(record: &output::Experiment, key: &Key, phase: ExperimentPhase) -> Vec<f64> {
    let runs: Vec<&ExperimentRun> = counting(record, phase).collect();
    let of = |block: &[&ExperimentRun], arm| {
        let of_arm: Vec<&ExperimentRun> =
            block.iter().copied().filter(|run| run.arm == arm).collect();
        let figures = figures_of(&of_arm, key);
        figures
            .iter()
            .map(|figure| figure.compared)
            .collect::<Vec<_>>()
    };
    let ratio = |block: &[&ExperimentRun]| {
        paired::log_ratio(&of(block, output::Arm::A), &of(block, output::Arm::B))
    };
    runs.chunks_exact(RUNS).filter_map(ratio).collect()
}

/// The figures of the first run: a figure that it lacks cannot be in all runs.
fn keys(runs: &[&ExperimentRun]) -> impl Iterator<Item = Key> {
    let first = runs.first().map(|run| run.figures.as_slice());
    first.unwrap_or_default().iter().map(key)
}

fn figures_of(runs: &[&ExperimentRun], wanted: &Key) -> Vec<Figure> {
    let of = |run: &&ExperimentRun| {
        let figure = figure(run, wanted)?;
        Some(Figure {
            key: wanted.clone(),
            value: figure.value,
            compared: figure.compared,
            flows: figure.flows.clone(),
        })
    };
    runs.iter().filter_map(of).collect()
}

fn key(figure: &ExperimentFigure) -> Key {
    Key {
        metric: figure.metric.clone(),
        name: figure.name.clone(),
        unit: figure.unit.clone(),
        higher_is_better: figure.higher_is_better,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Step;
    use linerate_model::output::Judgement;

    /// An experiment whose B gives twice as much; the third run is invalid.
    fn record() -> (output::Experiment, Experiment) {
        let plan = Plan {
            aa_blocks: 1,
            most_blocks: 6,
            margin: 0.02,
            seed: 5,
        };
        let mut experiment = Experiment::new(plan);
        let mut record = output::Experiment {
            a: "old".to_owned(),
            b: "new".to_owned(),
            order_seed: 5,
            aa_blocks: 1,
            blocks_planned: 6,
            margin: 0.02,
            ..output::Experiment::default()
        };
        while let Step::Run(slot) = experiment.next() {
            let mut run = begun(slot, format!("{}", record.runs.len() + 1));
            if record.runs.len() == 2 {
                run.invalid_reason = Some("too late".to_owned());
                experiment.discard_block();
            } else {
                let nth = record.runs.len() as f64;
                let value = if slot.setting() == Arm::B {
                    200.0
                } else {
                    100.0
                } + nth / 50.0;
                run.figures = [("throughput", value), ("loss", 0.5)]
                    .map(named_value)
                    .into();
                experiment.report(value);
            }
            record.take(run);
        }
        (record, experiment)
    }

    fn named_value((metric, value): (&str, f64)) -> ExperimentFigure {
        ExperimentFigure {
            metric: metric.to_owned(),
            value,
            compared: value,
            ..ExperimentFigure::default()
        }
    }

    #[test]
    fn what_is_read_from_the_record_is_what_the_experiment_said() {
        let (record, experiment) = record();
        let all = judged(&record);
        let first = &all[0];
        assert_eq!(first.log_ratios, experiment.blocks());
        assert_eq!(first.aa_log_ratios, experiment.noise());
        assert_eq!(first.mde, experiment.minimal_effect());
        assert_eq!(
            first.e_value,
            experiment.evidence().map(|seen| seen.e_value)
        );
        assert_eq!(first.before.values, experiment.figures(Arm::A));
        assert_eq!(first.after.values, experiment.figures(Arm::B));
        assert_eq!((first.before.label.as_str(), first.after.n), ("old", 12));
        assert_eq!(first.excluded[0].run, "3");
        assert_eq!(first.guards[0].metric, "loss");
        assert_eq!((all.len(), all[1].metric.as_str()), (2, "loss"));
    }

    #[test]
    fn a_block_that_is_not_whole_does_not_count() {
        let (mut record, _) = record();
        let whole = judged(&record)[0].log_ratios.len();
        let last = record.runs.pop();
        record
            .runs
            .iter_mut()
            .rev()
            .take(3)
            .for_each(|run| run.counts = false);
        assert!(last.is_some_and(|run| run.counts));
        let first = &judged(&record)[0];
        assert_eq!(
            (first.log_ratios.len(), first.after.values.len()),
            (whole - 1, 10)
        );
        assert_eq!(first.verdict, Judgement::Inconclusive);
    }

    #[test]
    fn a_plan_that_nobody_made_is_not_judged() {
        type Damage = fn(&mut output::Experiment);
        let damages: [Damage; 4] = [
            |record| record.blocks_planned = u32::MAX,
            |record| record.aa_blocks = u32::MAX,
            |record| record.margin = -1.0,
            |record| record.margin = f64::NAN,
        ];
        for damage in damages {
            let (mut record, _) = record();
            damage(&mut record);
            assert_eq!(judged(&record), Vec::new());
        }
    }

    /// Eleven figures that B does not change: at 5 % each, some would become better or worse in every second
    /// experiment.
    #[test]
    fn secondary_figures_without_an_effect_stay_undecided_in_19_of_20_experiments() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
        let mut rng = crate::rng::Rng::new(12);
        let decided = (0..EXPERIMENTS).filter(|_| {
            let mut record = record().0;
            for run in &mut record.runs {
                let mut noisy = |name| (name, 100.0 + 20.0 * rng.unit());
                run.figures
                    .extend(names.map(|name| named_value(noisy(name))));
            }
            let all = judged(&record);
            assert_eq!(all.len(), 2 + names.len());
            all.iter().skip(1).any(|one| {
                assert!(one.p_adjusted >= one.p, "{one:?}");
                !matches!(one.verdict, Judgement::Equivalent | Judgement::Inconclusive)
            })
        });
        let share = decided.count() as f64 / f64::from(EXPERIMENTS);
        assert!(share <= 0.05, "{share}");
    }

    const EXPERIMENTS: u32 = 200;

    #[test]
    fn without_a_figure_there_is_nothing_to_judge() {
        let (mut record, _) = record();
        record.metric = Some("rtt-p99".to_owned());
        assert!(judged(&record).is_empty());
        record.metric = Some("loss".to_owned());
        assert_eq!(judged(&record)[0].metric, "loss");
        assert!(judged(&output::Experiment::default()).is_empty());
    }
}
