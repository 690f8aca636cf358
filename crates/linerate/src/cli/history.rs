// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate history`: the stored runs, one figure over them, or a page with every figure.

pub(super) mod series;
pub(super) mod then;

use std::path::{Path, PathBuf};

use linerate_method::trend::Levels;
use linerate_model::output::{History, StoredRun, Trend};
use linerate_model::printable::Printable;
use linerate_report::{html, json, term};

use super::args::{HistoryArgs, HistoryFormat};
use super::document::document;
use super::report::file::{self, Rendered};
use super::session;
use crate::exit::Exit;
use crate::history;
use crate::store::Destination;
use linerate_model::failure::Failure;

/// Runs the command.
pub(super) fn run(args: &HistoryArgs) -> Exit {
    let written = format(args).and_then(|format| {
        let text = rendered(args, format)?;
        file::write(args.output.as_deref(), &Rendered::Text(text))
    });
    session::ended("history", args.document.json, written)
}

/// The requested format, else by the suffix of the file, else for the terminal.
fn format(args: &HistoryArgs) -> Result<HistoryFormat, Failure> {
    let name = args
        .output
        .as_deref()
        .filter(|name| *name != Path::new("-"));
    let ending = name.map(|name| name.extension().unwrap_or_default().to_string_lossy());
    match (args.format, args.document.json, ending.as_deref()) {
        (Some(format), ..) => Ok(format),
        (None, true, _) | (None, false, Some("json")) => Ok(HistoryFormat::Json),
        (None, false, Some("html")) => Ok(HistoryFormat::Html),
        (None, false, None | Some("txt")) => Ok(HistoryFormat::Term),
        (None, false, Some(other)) => Err(Failure::usage(
            "choose the format of the history",
            format!("no format has the suffix `.{other}`"),
        )
        .hint("-o FILE.html, .json or .txt; or --format html")),
    }
}

fn rendered(args: &HistoryArgs, format: HistoryFormat) -> Result<Printable, Failure> {
    let directory = directory(args.directory.as_deref())?;
    let mut history = listed(args, &directory, format)?;
    let mut levels = Levels::default();
    let chosen = match &args.figure {
        Some(words) => vec![series::named(series::of(&history.runs), words)?],
        None if format == HistoryFormat::Html => series::of(&history.runs),
        None => Vec::new(),
    };
    let complete = |trend| then::explained(&directory, series::levelled(trend, &mut levels));
    let mut trends: Vec<Trend> = chosen.into_iter().map(complete).collect();
    let mut output = document("history");
    if format != HistoryFormat::Html {
        history.trend = trends.pop();
    }
    output.history = Some(history);
    let wrong = |error| Failure::measuring("write the document", error);
    match format {
        HistoryFormat::Html => Ok(Printable::of(&html::history(&output, &trends))),
        HistoryFormat::Json => json::document(&output).map_err(wrong),
        HistoryFormat::Term => Ok(term::render(&output, &look(args))),
    }
}

/// A file has no colours.
fn look(args: &HistoryArgs) -> term::Style {
    let look = args.document.look();
    let color = look.color && args.output.is_none();
    term::Style { color, ..look }
}

fn listed(args: &HistoryArgs, directory: &Path, format: HistoryFormat) -> Result<History, Failure> {
    let mut history = history::read(directory).map_err(|error| {
        Failure::usage(format!("list the runs in {}", directory.display()), error)
            .hint("measure something first, or name the directory that holds runs")
    })?;
    history.runs.retain(|run| is_asked_for(args, run));
    // A change shows over many runs.
    let whole = args.figure.is_some() || format == HistoryFormat::Html;
    let usual = if whole { 0 } else { LISTED };
    shorten(&mut history, args.number.unwrap_or(usual), args.failed);
    Ok(history)
}

/// The directory of the runs: a named one, or that of all runs.
///
/// # Errors
/// There is none.
fn directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let place = named.map_or_else(
        || Destination::chosen(None),
        |named| Destination::Runs(named.to_owned()),
    );
    match place {
        Destination::Runs(directory)
        | Destination::Directory(directory)
        | Destination::Again(directory) => Ok(directory),
        Destination::Nowhere(why) => {
            Err(Failure::usage("find the stored runs", why).hint("linerate history DIR"))
        }
    }
}

fn is_asked_for(args: &HistoryArgs, run: &StoredRun) -> bool {
    args.peer.as_ref().is_none_or(|peer| run.peer == *peer)
        && args.kind.as_ref().is_none_or(|kind| run.kind == *kind)
        && (!args.failed || run.measured_nothing())
}

/// Keeps the newest runs, and the failed attempts between them, which count only where they are what is listed.
fn shorten(history: &mut History, number: usize, failed: bool) {
    let counts = |run: &&StoredRun| failed || !run.measured_nothing();
    let all = history.runs.iter().filter(counts).count();
    let older = match number {
        0 => 0,
        number => all.saturating_sub(number),
    };
    let mut kept = 0;
    history.runs.retain(|run| {
        kept += usize::from(counts(&run));
        older == 0 || kept > older
    });
    history.more = older as u64;
}

/// On a screen.
const LISTED: usize = 20;

#[cfg(test)]
mod tests;
