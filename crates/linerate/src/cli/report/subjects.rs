// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs and documents to be shown: a run is explained again from its record; a document keeps the
//! conclusions it has.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_diagnose::explain::explain;
use linerate_diagnose::limit::line_rate;
use linerate_diagnose::rules::Rule;
use linerate_method::matrix;
use linerate_model::expect::Expect;
use linerate_model::output::{self, Output};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::series;
use linerate_model::{compat, credible};
use linerate_report::subject::Subject;

use crate::cli::ab::verdict;
use crate::cli::values::compare::fail_if;
use crate::{input, store};
use linerate_model::failure::Failure;

/// Reads each run or document in order; also returns the peers that the runs measured against.
///
/// # Errors
/// A file that cannot be read, is neither a run nor a document, or was written by a later version.
pub(in crate::cli) fn read(
    names: &[PathBuf],
    rules: &[Rule],
) -> Result<(Vec<Subject>, Vec<String>), Failure> {
    let mut peers = Vec::new();
    let subject = |name: &PathBuf| {
        if name.is_dir() {
            stored(name, rules, &mut peers)
        } else {
            document(name)
        }
    };
    let mut subjects: Vec<Subject> = names.iter().map(subject).collect::<Result<_, _>>()?;
    make_unique(&mut subjects);
    Ok((subjects, peers))
}

fn stored(name: &Path, rules: &[Rule], peers: &mut Vec<String>) -> Result<Subject, Failure> {
    let wrong = |error| {
        let hint = "the directory in the line `details` of a result, with run.json in it";
        Failure::usage(format!("read the run in {}", name.display()), error).hint(hint)
    };
    let (run, samples) = store::read(name).map_err(wrong)?;
    peers.extend(
        ["host", "bind"]
            .iter()
            .filter_map(|option| run.plan.get(*option).cloned()),
    );
    let mut output = run.measured();
    if let Some(record) = &mut output.experiment {
        verdict::complete(record, name);
    }
    output.trials = store::trials(name).map_err(wrong)?;
    if let Some(matrix) = &mut output.matrix {
        output.cells = matrix::cells(matrix, &store::cell_runs(name).map_err(wrong)?.runs);
    }
    output.run_dir = Some(name.display().to_string());
    output.expectations = expectations(&run, &output);
    let fail_if = run.plan.get("fail_if").and_then(|text| fail_if(text).ok());
    verdict::conclude(&mut output, fail_if);
    let (processors, interrupts) = (series::processors(&samples), series::interrupts(&samples));
    let record = Record::of_run(run, samples).with_trials(&output.trials);
    // Each run of an experiment, or of a matrix, is explained on its own.
    if output.experiment.is_none() && output.matrix.is_none() {
        output.knees.clear();
        explain(&record, rules).add_to(&mut output, false);
    }
    Ok(Subject {
        label: label(name),
        output,
        settings: record.run.settings,
        round_trips: store::round_trips(name).map_err(wrong)?,
        processors,
        interrupts,
    })
}

/// The expectations of the plan (`--expect`).
fn expectations(run: &Run, output: &Output) -> Vec<output::Expectation> {
    let asked = run.plan.get("expect").map_or("", String::as_str);
    let asked = asked
        .split(' ')
        .filter_map(|text| text.parse::<Expect>().ok());
    asked
        .map(|expect| expect.judge(output, |test| line_rate(&output.hosts, test)))
        .collect()
}

fn document(name: &Path) -> Result<Subject, Failure> {
    let what = || format!("read {}", name.display());
    let hint = "the directory of a run, or a document that --json wrote";
    let text = input::named(name).map_err(|error| Failure::usage(what(), error).hint(hint))?;
    let output: Output = linerate_wire::json::text(&text)
        .map_err(|error| Failure::usage(what(), error).hint(hint))?;
    let mut output = compat::output(output).map_err(|error| Failure::usage(what(), error))?;
    credible::settle(None, &mut output.hosts, &mut output.tests, &mut Vec::new());
    credible::moved(&mut output.moved);
    Ok(Subject {
        label: label(name),
        settings: output.settings.clone(),
        output,
        ..Subject::default()
    })
}

/// The last component of its path.
fn label(name: &Path) -> String {
    let name = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
    let last = name.file_name().unwrap_or(name.as_os_str());
    last.to_string_lossy().into_owned()
}

/// Gives runs of the same name a letter each.
fn make_unique(subjects: &mut [Subject]) {
    let labels: Vec<String> = subjects
        .iter()
        .map(|subject| subject.label.clone())
        .collect();
    for (subject, letter) in subjects.iter_mut().zip('A'..='Z') {
        if labels
            .iter()
            .filter(|label| **label == subject.label)
            .count()
            > 1
        {
            subject.label = format!("{letter}: {}", subject.label);
        }
    }
}
