// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a change works by what it was proposed for: the finding, and the facts that it is made from, in the runs
//! without the change and in those with it.

use std::collections::BTreeMap;
use std::path::Path;

use linerate_diagnose::explain::explain;
use linerate_diagnose::rules;
use linerate_method::experiment::Arm;
use linerate_method::stats::describe::median;
use linerate_model::order::Gather as _;
use linerate_model::output::{Finding, Mechanism, MovedFact, Output};
use linerate_model::record::Record;

use crate::store;

/// The runs of a trial, as far as a finding is concerned.
#[derive(Debug)]
pub(super) struct Runs {
    finding: Finding,
    before: Vec<One>,
    after: Vec<One>,
}

/// One run.
#[derive(Debug)]
struct One {
    found: bool,
    facts: BTreeMap<String, f64>,
}

impl Runs {
    pub(super) fn about(finding: &Finding) -> Self {
        Self {
            finding: finding.clone(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Takes in a run; its facts are those of its record.
    pub(super) fn saw(&mut self, arm: Arm, run: &Output) {
        let one = One {
            found: is_found(&self.finding, run),
            facts: run.run_dir.as_deref().map_or_else(BTreeMap::new, |dir| {
                facts(&self.finding, Path::new(dir)).unwrap_or_default()
            }),
        };
        match arm {
            Arm::A => self.before.push(one),
            Arm::B => self.after.push(one),
        }
    }

    pub(super) fn mechanism(&self) -> Mechanism {
        let found = |runs: &[One]| runs.iter().filter(|run| run.found).count() as u32;
        Mechanism {
            runs_before: self.before.len() as u32,
            found_before: found(&self.before),
            runs_after: self.after.len() as u32,
            found_after: found(&self.after),
            facts: self.facts(),
        }
    }

    /// The numbers among the finding's evidence.
    fn facts(&self) -> Vec<MovedFact> {
        let numbers = self.finding.evidence.iter();
        let numbers = numbers.filter(|one| one.value.number().is_some());
        let moved = numbers.map(|one| MovedFact {
            name: one.fact.clone(),
            unit: one.unit.clone(),
            before: middle(&self.before, &one.fact),
            after: middle(&self.after, &one.fact),
        });
        moved.filter(|fact| fact.before.is_some()).collect()
    }
}

/// Whether a document has the same finding: of the same rule, about the same host.
pub(super) fn is_found(finding: &Finding, run: &Output) -> bool {
    let same = |one: &Finding| one.rule == finding.rule && one.host == finding.host;
    run.findings.iter().any(same)
}

fn middle(runs: &[One], name: &str) -> Option<f64> {
    let values: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.facts.get(name).copied())
        .collect();
    median(&values)
}

fn facts(finding: &Finding, directory: &Path) -> Option<BTreeMap<String, f64>> {
    let (run, samples) = store::read(directory).ok()?;
    let explanation = explain(&Record::of_run(run, samples), rules::embedded());
    let is_evidence = |name: &str| finding.evidence.iter().any(|one| one.fact == name);
    let of_host = explanation.facts.iter().filter(|fact| {
        is_evidence(&fact.name) && fact.host.is_none_or(|host| host == finding.host)
    });
    let numbers = of_host.filter_map(|fact| Some((fact.name.clone(), fact.value.number()?)));
    Some(numbers.gather())
}
