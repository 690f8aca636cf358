// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an experiment says, by its record: the same when it ends and whenever it is read again.

use std::path::Path;

use linerate_method::experiment::{environment, recorded};
use linerate_model::output::{Arm, Difference, Experiment, ExperimentPhase, Output, Restored};
use linerate_model::run::Run;
use linerate_report::sentence;

use crate::cli::values::compare::FailIf;
use crate::store;

/// The comparison and what was expected of it, put into the document of an experiment; nothing into others.
pub(in crate::cli) fn conclude(output: &mut Output, fail_if: Option<FailIf>) {
    let Some(record) = &output.experiment else {
        return;
    };
    output.comparison = recorded::judged(record);
    for one in &mut output.comparison {
        one.sentence = sentence(one);
    }
    let expected = fail_if.map(|what| what.expectation(&output.comparison));
    output.expectations.extend(expected);
}

/// One that was cut off came neither to put back what was there, nor to compare what its runs read: they are
/// next to its record.
pub(in crate::cli) fn complete(record: &mut Experiment, directory: &Path) {
    if record.stopped.is_some() {
        return;
    }
    record.stopped = Some("interrupted".to_owned());
    record.environment_diff = environment(record, &directory.join(RUNS));
    record.restored = record.restored.take().or_else(|| {
        Some(Restored {
            command: record.restore.clone(),
            error: Some("`ab` ended before it ran; run it now".to_owned()),
        })
    });
}

/// In what the stored runs of A and B differ.
pub(super) fn environment(record: &Experiment, runs: &Path) -> Vec<Difference> {
    let of = |arm: Arm| {
        let counts = |run: &&_| is_of(run, arm);
        let counting = record.runs.iter().filter(counts);
        let read = |id: &str| Some(store::read(&runs.join(id)).ok()?.0);
        counting
            .filter_map(|run| read(&run.id))
            .collect::<Vec<Run>>()
    };
    let [a, b] = [of(Arm::A), of(Arm::B)];
    let [a, b] = [&a, &b].map(|runs| runs.iter().collect::<Vec<_>>());
    environment::differences(&a, &b)
}

fn is_of(run: &linerate_model::output::ExperimentRun, arm: Arm) -> bool {
    run.counts && run.phase == ExperimentPhase::Ab && run.arm == arm
}

/// In the directory of the experiment: a directory a run.
pub(super) const RUNS: &str = "runs";
