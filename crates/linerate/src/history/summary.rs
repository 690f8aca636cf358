// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stored run in a line: when, what, against whom, its figures.

use std::path::Path;

use linerate_method::experiment::{Figure, figures, recorded};
use linerate_model::compat;
use linerate_model::output::{ErrorReport, Experiment, StoredFigure, StoredRun};
use linerate_model::run::Run;
use linerate_report::sentence;
use linerate_wire::json;

use crate::input;
use crate::store::RUN;

/// Reads the run in a directory.
///
/// # Errors
/// Why it is none, or none of this version: a sentence.
pub(super) fn read(directory: &Path, name: &str) -> Result<StoredRun, String> {
    Ok(of(&record(directory)?, name))
}

/// Reads its record.
///
/// # Errors
/// As [`read`].
pub(super) fn record(directory: &Path) -> Result<Run, String> {
    let text = input::of_run(&directory.join(RUN)).map_err(|error| format!("{RUN}: {error}"))?;
    let run: Run = json::read(&text).map_err(|error| format!("{RUN} is damaged: {error}"))?;
    compat::run(run).map_err(|foreign| foreign.to_string())
}

fn of(run: &Run, name: &str) -> StoredRun {
    StoredRun {
        name: name.to_owned(),
        started: run.started.clone(),
        kind: run.kind.clone(),
        peer: peer(run),
        partial: run.partial,
        figures: figures(&run.measured()).into_iter().map(stored).collect(),
        verdict: run.experiment.as_ref().and_then(verdict),
        error: run.error.as_ref().map(failure),
    }
}

/// Of the figure that decides.
fn verdict(record: &Experiment) -> Option<String> {
    let judged = recorded::judged(record);
    judged.iter().find(|one| one.primary).map(sentence)
}

fn failure(error: &ErrorReport) -> String {
    format!("{}: {}", error.what, error.why)
}

fn stored(figure: Figure) -> StoredFigure {
    StoredFigure {
        metric: figure.key.metric,
        name: figure.key.name,
        unit: figure.key.unit,
        value: figure.value,
    }
}

/// As it was named on the command line.
fn peer(run: &Run) -> String {
    let option_value = |option: &str| run.plan.get(option).filter(|value| !value.is_empty());
    let lab = option_value("lab").filter(|lab| *lab != "false");
    match (option_value("host"), option_value("ports"), lab) {
        (Some(host), ..) => host.clone(),
        (None, Some(ports), _) => ports.replace(' ', "-"),
        (None, None, Some(kind)) if kind != "true" => format!("lab-{kind}"),
        (None, None, _) => "lab".to_owned(),
    }
}
