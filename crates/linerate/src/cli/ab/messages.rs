// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of `ab` while it runs.

use linerate_method::experiment::{Experiment, FEWEST_BLOCKS, Phase, Slot};
use linerate_model::output::{
    Arm, Experiment as Record, ExperimentFigure, ExperimentPhase, ExperimentRun, Output,
};
use linerate_report::figure_text;
use linerate_report::live::duration;

/// Before the first run: how many, and how long. A run takes about `each_s` seconds, if that is known.
pub(super) fn announcement(name: &str, experiment: &Experiment, each_s: Option<f64>) -> String {
    let plan = experiment.plan();
    let time = match each_s {
        Some(each_s) => format!(
            "about {} each: {}",
            duration(each_s),
            span(experiment, each_s)
        ),
        None => "the duration is known after the first run".to_owned(),
    };
    let noise = match 4 * plan.aa_blocks {
        0 => "no runs of A against A".to_owned(),
        runs => format!("{runs} runs of A against A"),
    };
    format!(
        "{name}: {noise}, then up to {} of A against B, {time}; order by seed {}",
        4 * plan.most_blocks,
        plan.seed
    )
}

/// After these runs, where the duration of one was unknown or wrong.
pub(super) fn corrected(experiment: &Experiment, runs: usize, each_s: f64) -> String {
    let (took, all) = (duration(each_s), span(experiment, each_s));
    match runs {
        1 => format!("the first run took {took}: {all} in all"),
        _ => format!("the first {runs} runs took {took} each: {all} in all"),
    }
}

/// The duration of all runs: a comparison may end after the fewest blocks.
fn span(experiment: &Experiment, each_s: f64) -> String {
    let plan = experiment.plan();
    let least = 4 * (plan.aa_blocks + FEWEST_BLOCKS);
    let [least, most] = [least, plan.most_runs()].map(|runs| duration(each_s * runs as f64));
    match least == most {
        true => format!("about {most}"),
        false => format!("{least} to {most}"),
    }
}

/// Whether a sweep came to the end of its rates without a loss.
pub(super) fn is_beyond(output: &Output) -> bool {
    let mut knees = output.knees.iter();
    output.kind == "sweep" && knees.any(|knee| knee.limited_by == "range")
}

/// The run under way.
pub(super) fn status(
    experiment: &Experiment,
    slot: Slot,
    elapsed_s: f64,
    left_s: Option<f64>,
) -> String {
    let plan = experiment.plan();
    let (what, most) = match slot.phase {
        Phase::Noise => ("A against A", plan.aa_blocks),
        Phase::Question => ("A against B", plan.most_blocks),
    };
    let left = left_s.map_or_else(String::new, |left_s| {
        format!(", about {} left", duration(left_s))
    });
    let (block, run, elapsed) = (slot.block, slot.run, duration(elapsed_s));
    format!("{what}: block {block} of {most}, run {run} of 4  {elapsed}{left}")
}

/// A run that has ended: number, phase, block, configuration, the deciding figure.
pub(super) fn run(
    run: &ExperimentRun,
    figure: Option<&ExperimentFigure>,
    number: usize,
    all: usize,
) -> String {
    let phase = match run.phase {
        ExperimentPhase::Aa => "A/A",
        ExperimentPhase::Ab => "A/B",
    };
    let (block, setting) = (run.block, run.setting);
    let ended = match (&run.invalid_reason, figure) {
        (Some(why), _) => format!("not valid: {why}"),
        (None, Some(one)) => {
            let value = figure_text(one.value, &one.unit);
            format!("{value:>12}  {} {}", one.metric, one.name)
        }
        (None, None) => String::new(),
    };
    format!("run {number:>3} of {all:<3}  {phase} block {block:>2}  {setting:?}  {ended}")
}

/// A block is done; after the last one of the noise also how small an effect will be found.
pub(super) fn block(experiment: &Experiment, slot: Slot) -> Vec<String> {
    let (what, ratios) = match slot.phase {
        Phase::Noise => ("A against A", experiment.noise()),
        Phase::Question => ("A against B", experiment.blocks()),
    };
    let percent = 100.0 * ratios.last().map_or(0.0, |ratio| ratio.exp_m1());
    let done = format!("{what}, block {}: {percent:+.2} %", slot.block);
    let is_last = slot.phase == Phase::Noise && slot.block == experiment.plan().aa_blocks;
    let found = experiment.minimal_effect().filter(|_| is_last);
    let texts = found.into_iter().flat_map(|effect| {
        let percent = 100.0 * effect;
        let text =
            format!("with this noise, effects of {percent:.2} % or more will probably be detected");
        let is_noisy = effect > NOISY.max(experiment.plan().margin);
        [Some(text), is_noisy.then(|| LESS_NOISE.to_owned())]
    });
    std::iter::once(done).chain(texts.flatten()).collect()
}

/// How many of the runs with one configuration gave figures.
pub(super) fn yield_of(record: &Record, setting: Arm) -> String {
    let of_it = || record.runs.iter().filter(|run| run.setting == setting);
    let valid = of_it().filter(|run| run.invalid_reason.is_none()).count();
    format!(
        "{valid} of {} runs with {setting:?} are valid",
        of_it().count()
    )
}

/// From this effect on, or from the margin where that is larger, what hides it is worth reducing.
const NOISY: f64 = 0.05;
const LESS_NOISE: &str = "  smaller ones will be missed. Less noise: longer runs (-t 10), more blocks (--blocks 24), nothing \
    else on both machines, a fixed frequency (governor performance), tests pinned to a processor (-A)";

/// Said once.
pub(super) const BEYOND: &str =
    "a run carried the highest requested rate, so an improvement would not show; raise --to";

#[cfg(test)]
mod tests {
    use linerate_method::experiment::{Plan, Step};

    use super::*;

    /// What is said after the blocks of A against A, whose runs are these, again and again.
    fn after_noise(margin: f64, runs: &[f64]) -> Vec<String> {
        let mut experiment = Experiment::new(Plan {
            aa_blocks: 4,
            most_blocks: 12,
            margin,
            seed: 1,
        });
        let mut said = Vec::new();
        for value in runs.iter().cycle().take(16) {
            let Step::Run(slot) = experiment.next() else {
                panic!("16 runs")
            };
            experiment.report(*value);
            if slot.run == 4 {
                said = block(&experiment, slot);
            }
        }
        said
    }

    #[test]
    fn much_noise_is_said_before_a_change_is_tried_with_what_reduces_it() {
        let noisy = [1.0, 1.3, 0.9, 1.2, 1.4, 1.0, 0.8];
        let said = after_noise(0.02, &noisy);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[1].contains("will probably be detected"));
        assert_eq!(said[2], LESS_NOISE);
        let quiet = [1.0, 1.001, 0.999, 1.002, 1.0, 0.998, 1.0];
        assert_eq!(after_noise(0.02, &quiet).len(), 2);
        assert_eq!(after_noise(5.0, &noisy).len(), 2, "below the margin");
    }
}
