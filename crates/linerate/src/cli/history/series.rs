// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures over runs: runs of one command against one peer measured the same.

use std::collections::BTreeMap;

use linerate_method::trend::{Levels, SHORTEST_LEVEL_RUNS};
use linerate_model::failure::Failure;
use linerate_model::output::{StoredFigure, StoredRun, Trend, TrendPoint};

/// Returns each figure of the complete runs, in the order of its first run.
pub(in crate::cli) fn of(runs: &[StoredRun]) -> Vec<Trend> {
    let mut all: Vec<Trend> = Vec::new();
    let mut places: BTreeMap<[&str; 4], usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.partial) {
        for figure in &run.figures {
            let key = [&run.peer, &run.kind, &figure.metric, &figure.name].map(String::as_str);
            let at = *places.entry(key).or_insert(all.len());
            if at == all.len() {
                all.push(begun(run, figure));
            }
            all[at].points.push(TrendPoint {
                run: run.name.clone(),
                started: run.started.clone(),
                value: figure.value,
            });
        }
    }
    all
}

fn begun(run: &StoredRun, figure: &StoredFigure) -> Trend {
    Trend {
        metric: figure.metric.clone(),
        name: figure.name.clone(),
        unit: figure.unit.clone(),
        kind: run.kind.clone(),
        peer: run.peer.clone(),
        shortest_level_runs: u32::try_from(SHORTEST_LEVEL_RUNS).unwrap_or(u32::MAX),
        ..Trend::default()
    }
}

/// Sets the levels.
pub(in crate::cli) fn levelled(trend: Trend, levels: &mut Levels) -> Trend {
    let values: Vec<f64> = trend.points.iter().map(|point| point.value).collect();
    Trend {
        levels: levels.of(&values),
        ..trend
    }
}

/// The figure of this name; else the only one whose name has all these words.
///
/// # Errors
/// There is none, or more than one.
pub(super) fn named(all: Vec<Trend>, wanted: &str) -> Result<Trend, Failure> {
    let wanted_words = words(wanted);
    let mut found = all;
    found.retain(|trend| {
        let name = words(&title(trend));
        wanted_words.iter().all(|word| name.contains(word))
    });
    let is_exact = |trend: &Trend| words(&title(trend)) == wanted_words;
    if found.iter().any(is_exact) {
        found.retain(is_exact);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(refusal(wanted, "no run has this figure".to_owned())
            .hint("`linerate history --json` names them all")),
        _ => Err(ambiguous(wanted, &found)),
    }
}

fn ambiguous(wanted: &str, found: &[Trend]) -> Failure {
    let flags = |trend: &Trend| {
        let (kind, peer) = (&trend.kind, &trend.peer);
        format!("--figure '{}' --kind {kind} --peer {peer}", title(trend))
    };
    let first: Vec<String> = found.iter().take(MOST_NAMED).map(flags).collect();
    let more = match found.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    let why = format!("{} figures have these words", found.len());
    refusal(wanted, why).hint(first.join("; ") + &more)
}

fn refusal(wanted: &str, why: String) -> Failure {
    Failure::usage(format!("show `{wanted}` over the runs"), why)
}

/// As it is printed.
fn title(trend: &Trend) -> String {
    format!("{} {}", trend.metric, trend.name)
}

/// In lower case, without the commas.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

const MOST_NAMED: usize = 6;
