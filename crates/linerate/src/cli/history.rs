// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate history`: the stored runs, and one figure over them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linerate_method::trend::{SHORTEST_LEVEL_RUNS, levels};
use linerate_model::output::{History, StoredFigure, StoredRun, Trend, TrendPoint};
use linerate_report::Detail;

use super::args::HistoryArgs;
use super::document::document;
use super::session;
use crate::exit::Exit;
use crate::history;
use crate::store::Destination;
use linerate_model::failure::Failure;

/// Runs the command.
pub(super) fn run(args: &HistoryArgs) -> Exit {
    let listed = listed(args).and_then(|history| {
        let mut output = document("history");
        output.history = Some(history);
        args.document.print(&output, Detail::Full)
    });
    session::ended("history", args.document.json, listed)
}

fn listed(args: &HistoryArgs) -> Result<History, Failure> {
    let directory = directory(args)?;
    let mut history = history::read(&directory).map_err(|error| {
        Failure::usage(format!("list the runs in {}", directory.display()), error)
            .hint("measure something first, or name the directory that holds runs")
    })?;
    history.runs.retain(|run| asked_for(args, run));
    shorten(&mut history, args.number.unwrap_or(usual_number(args)));
    if let Some(words) = &args.figure {
        history.trend = Some(trend(&history.runs, words)?);
    }
    Ok(history)
}

/// A change shows over many runs.
fn usual_number(args: &HistoryArgs) -> usize {
    if args.figure.is_some() { 0 } else { LISTED }
}

fn directory(args: &HistoryArgs) -> Result<PathBuf, Failure> {
    match args
        .directory
        .clone()
        .map_or_else(|| Destination::chosen(None), Destination::Runs)
    {
        Destination::Runs(directory) | Destination::Directory(directory) => Ok(directory),
        Destination::Nowhere(why) => {
            Err(Failure::usage("find the stored runs", why).hint("linerate history DIR"))
        }
    }
}

fn asked_for(args: &HistoryArgs, run: &StoredRun) -> bool {
    args.peer.as_ref().is_none_or(|peer| run.peer == *peer)
        && args.kind.as_ref().is_none_or(|kind| run.kind == *kind)
}

/// Keeps the newest runs.
fn shorten(history: &mut History, number: usize) {
    let older = match number {
        0 => 0,
        number => history.runs.len().saturating_sub(number),
    };
    history.runs.drain(..older);
    history.more = older as u64;
}

/// Peer, command, metric and name of the test: runs that share them measured the same.
type Series = (String, String, String, String);

fn trend(runs: &[StoredRun], words: &str) -> Result<Trend, Failure> {
    let mut found: BTreeMap<Series, Trend> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.partial) {
        for figure in run.figures.iter().filter(|figure| is_called(figure, words)) {
            let of = |text: &String| text.clone();
            let series = (
                of(&run.peer),
                of(&run.kind),
                of(&figure.metric),
                of(&figure.name),
            );
            let trend = found.entry(series).or_insert_with(|| begun(run, figure));
            trend.points.push(TrendPoint {
                run: run.name.clone(),
                started: run.started.clone(),
                value: figure.value,
            });
        }
    }
    only(found, words).map(levelled)
}

fn levelled(trend: Trend) -> Trend {
    let values: Vec<f64> = trend.points.iter().map(|point| point.value).collect();
    Trend {
        levels: levels(&values),
        shortest_level_runs: u32::try_from(SHORTEST_LEVEL_RUNS).unwrap_or(u32::MAX),
        ..trend
    }
}

fn begun(run: &StoredRun, figure: &StoredFigure) -> Trend {
    Trend {
        metric: figure.metric.clone(),
        name: figure.name.clone(),
        unit: figure.unit.clone(),
        peer: run.peer.clone(),
        ..Trend::default()
    }
}

/// Whether each word is one of the figure's name.
fn is_called(figure: &StoredFigure, words: &str) -> bool {
    let name = format!("{} {}", figure.metric, figure.name).to_lowercase();
    let name: Vec<&str> = name.split([' ', ',']).collect();
    words
        .to_lowercase()
        .split_whitespace()
        .all(|word| name.contains(&word))
}

fn only(found: BTreeMap<Series, Trend>, words: &str) -> Result<Trend, Failure> {
    let describe =
        |(peer, kind, metric, name): &Series| format!("`{metric} {name}` of {kind} against {peer}");
    let names: Vec<String> = found.keys().take(MOST_NAMED).map(describe).collect();
    let (why, hint) = match found.len() {
        1 => return Ok(found.into_values().next().unwrap_or_default()),
        0 => (
            "no run has this figure".to_owned(),
            "`linerate history --json` names them all",
        ),
        _ => (
            format!("the name is ambiguous: {}", names.join("; ")),
            "add words, --peer or --kind",
        ),
    };
    Err(Failure::usage(format!("show `{words}` over the runs"), why).hint(hint))
}

/// On a screen.
const LISTED: usize = 20;
const MOST_NAMED: usize = 6;
