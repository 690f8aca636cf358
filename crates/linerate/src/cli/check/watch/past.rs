// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runs before: those of the same check against the same host, also from before this watch.

use std::path::{Path, PathBuf};

use linerate_method::experiment::environment;
use linerate_method::trend::{Levels, SHORTEST_LEVEL_RUNS};
use linerate_model::output::{Output, StoredRun, Trend, TrendLevel};
use linerate_model::run::Run;
use linerate_report::watch;

use crate::cli::history::{series, then};
use crate::history;

/// What is known before the next run.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Complete runs with their main figures, the newest last.
    runs: Vec<StoredRun>,
    /// The newest record.
    record: Option<Run>,
    last: Option<StoredRun>,
    levels: Levels,
    /// The changes that were reported, or are older than this watch: the figure, and the run where its level begins.
    known: Vec<Known>,
    begun: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    name: String,
    started: String,
}

impl Past {
    /// The last run, complete or not.
    pub(super) fn last(&self) -> Option<&StoredRun> {
        self.last.as_ref()
    }

    /// Takes in a run; returns what is different from the runs before, a line each.
    pub(super) fn learn(&mut self, output: &Output) -> Vec<String> {
        self.last = None;
        let Some(directory) = output.run_dir.as_ref().map(PathBuf::from) else {
            return vec!["  not stored: it cannot be compared with other runs".to_owned()];
        };
        let (Ok(record), Ok(mut run)) = (history::record(&directory), history::summary(&directory))
        else {
            return Vec::new();
        };
        let mut news = Vec::new();
        if let Some(before) = &self.record {
            news = watch::differences(&then::changed(
                std::slice::from_ref(before),
                std::slice::from_ref(&record),
            ));
        }
        run.figures.retain(|figure| {
            watch::FIGURES.contains(&(figure.metric.as_str(), figure.name.as_str()))
        });
        self.last = Some(run.clone());
        if !self.begun {
            self.begun = true;
            self.runs = earlier(&directory, &run, &record);
            let _old = self.changes();
        }
        if !run.partial {
            self.record = Some(record);
            self.runs.push(run);
            news.extend(self.changes());
        }
        news
    }

    /// Changes of level that are new, and those that the later runs do not confirm.
    fn changes(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for trend in series::of(&self.runs) {
            let trend = series::levelled(trend, &mut self.levels);
            let found: Vec<&TrendLevel> = trend.levels.iter().skip(1).collect();
            let is_near = |known: &Known, level: &TrendLevel| {
                let at = trend
                    .points
                    .iter()
                    .position(|point| point.started == known.started);
                known.name == trend.name
                    && at.is_some_and(|at| at.abs_diff(level.first as usize) < SHORTEST_LEVEL_RUNS)
            };
            self.known.retain(|known| {
                let stays =
                    known.name != trend.name || found.iter().any(|level| is_near(known, level));
                if !stays {
                    lines.push(watch::withdrawn(&trend, &known.started));
                }
                stays
            });
            for level in found {
                if !self.known.iter().any(|known| is_near(known, level)) {
                    lines.push(watch::change(&trend, level));
                    self.known.extend(known(&trend, level));
                }
            }
        }
        lines
    }
}

fn known(trend: &Trend, level: &TrendLevel) -> Option<Known> {
    let point = trend.points.get(level.first as usize)?;
    Some(Known {
        name: trend.name.clone(),
        started: point.started.clone(),
    })
}

/// Complete runs of the same command and options, at most [`MOST`].
fn earlier(directory: &Path, run: &StoredRun, record: &Run) -> Vec<StoredRun> {
    let Some(all) = directory.parent() else {
        return Vec::new();
    };
    let listed = history::read(all)
        .map(|history| history.runs)
        .unwrap_or_default();
    let alike = |other: &StoredRun| {
        other.kind == run.kind && other.peer == run.peer && other.name != run.name && !other.partial
    };
    let same = |other: &StoredRun| {
        let other = history::record(&all.join(&other.name));
        other.is_ok_and(|other| is_same_check(&other, record))
    };
    let mut runs: Vec<StoredRun> = listed.into_iter().filter(alike).rev().take(MOST).collect();
    runs.reverse();
    runs.retain(same);
    for run in &mut runs {
        run.figures.retain(|figure| {
            watch::FIGURES.contains(&(figure.metric.as_str(), figure.name.as_str()))
        });
    }
    runs
}

/// Whether their options are the same.
fn is_same_check(one: &Run, other: &Run) -> bool {
    let all = environment::differences(&[one], &[other]);
    all.iter()
        .all(|difference| !difference.what.starts_with("--"))
}

const MOST: usize = 100;

#[cfg(test)]
mod tests;
