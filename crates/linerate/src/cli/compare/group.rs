// SPDX-License-Identifier: MIT OR Apache-2.0
//! One side of a comparison: what its runs measured.

use std::error::Error;
use std::path::Path;

use linerate_method::experiment::{Figure, Key, figures};
use linerate_model::compat::{self, DocumentKind};
use linerate_model::credible;
use linerate_model::output::Excluded;
use linerate_model::run::Run;
use linerate_wire::json;
use serde_json::Value;

use crate::{input, store};
use linerate_model::failure::Failure;

/// Some runs, and their figures in the order of the first.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) label: String,
    /// Where the runs are.
    pub(super) names: Vec<String>,
    runs: Vec<Run>,
    figures: Vec<(Key, Vec<Figure>)>,
    pub(super) excluded: Vec<Excluded>,
}

impl Group {
    /// An empty one.
    pub(super) fn called(label: String) -> Self {
        Self {
            label,
            ..Self::default()
        }
    }

    /// Reads runs. What is partial or not valid is left out, and said to be.
    pub(super) fn read(names: &[String]) -> Result<Self, Failure> {
        let mut group = Self::default();
        for name in names {
            let run = read(Path::new(name))?;
            let document = run.measured();
            let figures = figures(&document);
            match unusable(&run, &figures) {
                Some(reason) => group.excluded.push(Excluded {
                    run: name.clone(),
                    reason,
                }),
                None => {
                    group.names.push(name.clone());
                    group.runs.push(run);
                    figures.into_iter().for_each(|figure| group.take(figure));
                }
            }
        }
        Ok(group)
    }

    /// Adds a figure of a run.
    pub(super) fn take(&mut self, figure: Figure) {
        match self.figures.iter_mut().find(|(key, _)| *key == figure.key) {
            Some((_, figures)) => figures.push(figure),
            None => self.figures.push((figure.key.clone(), vec![figure])),
        }
    }

    /// What was measured.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.figures.iter().map(|(key, _)| key)
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.keys().any(|known| known == key)
    }

    /// One a run.
    pub(super) fn figures(&self, key: &Key) -> &[Figure] {
        let found = self.figures.iter().find(|(known, _)| known == key);
        found.map_or(&[], |(_, figures)| figures)
    }

    pub(super) fn runs(&self) -> Vec<&Run> {
        self.runs.iter().collect()
    }
}

fn unusable(run: &Run, figures: &[Figure]) -> Option<String> {
    if run.experiment.is_some() {
        let why = "it is an experiment with its own verdict; its runs are in its `runs` directory";
        return Some(why.to_owned());
    }
    if run.matrix.is_some() {
        return Some("it is a matrix: `linerate compare A B` compares two".to_owned());
    }
    if run.partial {
        return Some("it ended early".to_owned());
    }
    let why = run
        .tests
        .iter()
        .find_map(|test| test.invalid_reason.clone());
    match figures.is_empty() {
        true => Some(why.unwrap_or_else(|| "it has no figure".to_owned())),
        false => None,
    }
}

/// A run's directory, its `run.json`, or a document of `--json`.
fn read(name: &Path) -> Result<Run, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("read the run {}", name.display()), why)
            .hint("the directory in the line `details` of a result, or a document of --json")
    };
    if name.is_dir() {
        let (run, _) = store::read(name).map_err(|error| wrong(error.to_string()))?;
        return Ok(run);
    }
    let text = input::named(name).map_err(|error| wrong(error.to_string()))?;
    let mut run = of_text(&text).map_err(|error| wrong(error.to_string()))?;
    credible::settle(None, &mut run.hosts, &mut run.tests, &mut Vec::new());
    Ok(run)
}

fn of_text(text: &str) -> Result<Run, Box<dyn Error>> {
    let value: Value = json::text(text)?;
    match value["schema"].as_str().and_then(DocumentKind::of) {
        Some(DocumentKind::Output) => {
            let output = compat::output(json::text(text)?)?;
            Ok(Run::of_document(&output))
        }
        _ => Ok(compat::run(json::text(text)?)?),
    }
}
