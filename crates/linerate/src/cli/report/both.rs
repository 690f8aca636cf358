// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two runs as before and after: their common figures. One run against one proves little.

use linerate_method::experiment::{Figure, environment, figures, groups};
use linerate_model::output::{Comparison, Difference, Output};
use linerate_model::run::Run;
use linerate_report::sentence;
use linerate_report::subject::Subject;

use crate::cli::compare::matrix;
use crate::cli::document::document;

/// Returns a comparison page; `None` unless there are two runs with a figure in common.
pub(super) fn of(subjects: &[Subject]) -> Option<Subject> {
    let [before, after] = subjects else {
        return None;
    };
    if let (Some(_), Some(_)) = (&before.output.matrix, &after.output.matrix) {
        let output = matrix::compared([before, after], &[], None).ok()?;
        return Some(page([before, after], output));
    }
    let comparison = compared([before, after]);
    let output = Output {
        comparison,
        ..document("compare")
    };
    (!output.comparison.is_empty()).then(|| page([before, after], output))
}

fn page([before, after]: [&Subject; 2], output: Output) -> Subject {
    Subject {
        label: format!("{} against {}", after.label, before.label),
        output: Output {
            command: Vec::new(),
            ..output
        },
        ..Subject::default()
    }
}

fn compared(subjects: [&Subject; 2]) -> Vec<Comparison> {
    let [first, second] = subjects.map(|subject| figures(&subject.output));
    let pair = |one: &Figure| {
        let other = second.iter().find(|other| other.key == one.key)?;
        let [before, after] = [one, other].map(std::slice::from_ref);
        let mut compared = groups::compare(&one.key, before, after, one.key.margin());
        (compared.before.label, compared.after.label) =
            subjects.map(|subject| subject.label.clone()).into();
        Some(compared)
    };
    let mut all: Vec<Comparison> = first.iter().filter_map(pair).collect();
    if let Some((first, others)) = all.split_first_mut() {
        first.primary = true;
        first.environment_diff = differences(subjects);
        groups::settle(&mut [first]);
        groups::settle(&mut others.iter_mut().collect::<Vec<_>>());
    }
    all.iter_mut().for_each(|one| one.sentence = sentence(one));
    all
}

/// Differences between their hosts and programs, as far as both report them.
pub(in crate::cli) fn differences(subjects: [&Subject; 2]) -> Vec<Difference> {
    let [before, after] = subjects.map(|subject| Run {
        tool: subject.output.tool.clone(),
        kind: subject.output.kind.clone(),
        hosts: subject.output.hosts.clone(),
        settings: subject.settings.clone(),
        ..Run::default()
    });
    environment::differences(&[&before], &[&after])
}
