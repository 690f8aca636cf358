// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of `ab` while it runs.

use linerate_method::experiment::{Experiment, Phase, Slot};
use linerate_model::output::{Arm, Experiment as Record, Output};
use linerate_model::units::Nanos;

/// Before the first run: how many, and how long. A run takes about `each_s` seconds, if that is known.
pub(super) fn announcement(experiment: &Experiment, each_s: Option<f64>) -> String {
    let plan = experiment.plan();
    let time = match each_s {
        Some(each) => {
            let all = time(each * plan.most_runs() as f64);
            format!("about {} each: at most {all}", time(each))
        }
        None => "the duration is known after the first run".to_owned(),
    };
    let noise = match 4 * plan.aa_blocks {
        0 => "no runs of A against A".to_owned(),
        runs => format!("{runs} runs of A against A"),
    };
    format!(
        "ab: {noise}, then up to {} of A against B, {time}; order by seed {}",
        4 * plan.most_blocks,
        plan.seed
    )
}

/// After the first run, where the duration was unknown.
pub(super) fn first(experiment: &Experiment, elapsed_s: f64) -> String {
    let all = elapsed_s * experiment.plan().most_runs() as f64;
    format!(
        "the first run took {}: at most {} in all",
        time(elapsed_s),
        time(all)
    )
}

/// Whether a sweep came to the end of its rates without a loss.
pub(super) fn is_beyond(output: &Output) -> bool {
    let mut knees = output.knees.iter();
    output.kind == "sweep" && knees.any(|knee| knee.limited_by == "range")
}

/// Before a run; `done` runs took `elapsed_s` seconds.
pub(super) fn status(experiment: &Experiment, slot: Slot, done: usize, elapsed_s: f64) -> String {
    let plan = experiment.plan();
    let (what, most) = match slot.phase {
        Phase::Noise => ("A against A", plan.aa_blocks),
        Phase::Question => ("A against B", plan.most_blocks),
    };
    let left = match done {
        0 => String::new(),
        done => {
            let left = plan.most_runs().saturating_sub(done) as f64;
            format!(
                ", at most {} remaining",
                time(elapsed_s / done as f64 * left)
            )
        }
    };
    let (block, run) = (slot.block, slot.run);
    format!("{what}: block {block} of {most}, run {run} of 4{left}")
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
    let found = found.map(|effect| {
        let percent = 100.0 * effect;
        format!("with this noise, effects of {percent:.2} % or more will probably be detected")
    });
    std::iter::once(done).chain(found).collect()
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

/// Said once.
pub(super) const BEYOND: &str =
    "a run carried the highest requested rate, so an improvement would not show; raise --to";

fn time(seconds: f64) -> String {
    match seconds {
        short if short < 100.0 => Nanos((short * 1e9) as u64).to_string(),
        long => format!("{:.0} min", (long / 60.0).ceil()),
    }
}
