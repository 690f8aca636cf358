// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate report RUN…`: a stored run in another format.

pub(super) mod both;
pub(super) mod file;
pub(super) mod subjects;

use std::path::Path;

use linerate_model::printable::Printable;
use linerate_report::sheets::{self, Sheet, matrix, throughput};
use linerate_report::subject::Subject;
use linerate_report::term::side_by_side;
use linerate_report::{csv, html, json, junit, markdown, openmetrics, redact, term, xlsx};
use linerate_wire::json as reader;

use super::args::{ReportArgs, ReportFormat};
use super::document::color;
use super::{session, site_rules};
use crate::exit::Exit;
use crate::output::Surroundings;
use file::Rendered::{self, Text};
use linerate_model::failure::Failure;

/// Runs the command.
pub(super) fn run(args: &ReportArgs) -> Exit {
    let written = format(args).and_then(|format| {
        let report = rendered(args, format)?;
        file::write(args.output.as_deref(), &report)
    });
    session::ended("report", false, written)
}

/// The requested format, else by the suffix of the file, else for the terminal.
fn format(args: &ReportArgs) -> Result<ReportFormat, Failure> {
    let by_name = || args.output.as_deref().map(of_ending).transpose();
    let format = match args.format {
        Some(format) => format,
        None => by_name()?.flatten().unwrap_or(ReportFormat::Term),
    };
    match (format, args.runs.as_slice()) {
        (ReportFormat::Json, [_, _, ..]) => Err(Failure::usage(
            "write several runs as one document",
            "json is the document of one run",
        )
        .hint("write one report per run, or use --format xlsx")),
        _ => Ok(format),
    }
}

/// The format of a file by its ending, if it has one.
fn of_ending(name: &Path) -> Result<Option<ReportFormat>, Failure> {
    let Some(ending) = name.extension() else {
        return Ok(None);
    };
    let known = ENDINGS
        .iter()
        .find(|(known, _)| ending.eq_ignore_ascii_case(known));
    let unknown = || {
        let names: Vec<String> = ENDINGS.iter().map(|(name, _)| format!(".{name}")).collect();
        Failure::usage(
            format!("write {}", name.display()),
            format!("no format has the suffix .{}", ending.display()),
        )
        .hint(format!("one of {}; or --format", names.join(" ")))
    };
    known.map(|(_, format)| Some(*format)).ok_or_else(unknown)
}

fn rendered(args: &ReportArgs, format: ReportFormat) -> Result<Rendered, Failure> {
    let rules = site_rules::with(args.rules.as_deref())?;
    let (subjects, peers) = subjects::read(&args.runs, &rules)?;
    let subjects = match args.redact {
        true => redact::redacted(subjects, &peers, READ).map_err(unreadable)?,
        false => subjects,
    };
    // People see first how the runs differ; programs get the numbers of each run.
    let shown = || {
        both::of(&subjects)
            .into_iter()
            .chain(subjects.iter().cloned())
            .collect::<Vec<_>>()
    };
    let wrong = |error| Failure::measuring("write the document", error);
    match format {
        ReportFormat::Term => Ok(Text(terminal(args, &shown()))),
        ReportFormat::Html => Ok(Text(Printable::of(&html::render(&shown())))),
        ReportFormat::Md => Ok(Text(Printable::of(&markdown::render(&shown())))),
        ReportFormat::Csv => {
            let sheets = sheets::of(&subjects).map_err(wrong)?;
            let wanted = args.table.as_deref();
            let sheet = table(&sheets, wanted.unwrap_or(sheets::main_of(&subjects)))?;
            Ok(Text(csv::render(sheet)))
        }
        ReportFormat::Xlsx => {
            let mut all: Vec<Sheet> = throughput::of(&subjects).into_iter().collect();
            all.extend(matrix::grids(&subjects));
            all.extend(sheets::of(&subjects).map_err(wrong)?);
            Ok(Rendered::Binary(xlsx::render(&all)))
        }
        ReportFormat::Junit => Ok(Text(Printable::of(&junit::render(&subjects)))),
        ReportFormat::Openmetrics => Ok(Text(openmetrics::render(&subjects))),
        ReportFormat::Svg => {
            let drawn = shown()
                .iter()
                .find_map(|subject| html::standalone(&subject.output));
            drawn
                .map(|picture| Text(Printable::of(&picture)))
                .ok_or_else(nothing_compared)
        }
        // One run: `format` refuses more.
        ReportFormat::Json => match subjects.first() {
            Some(subject) => json::document(&subject.output).map(Text).map_err(wrong),
            None => Ok(Text(Printable::default())),
        },
    }
}

fn unreadable(error: serde_json::Error) -> Failure {
    Failure::measuring("redact every name", error)
        .hint("a host name equals a word of the document, such as `up`")
}

fn nothing_compared() -> Failure {
    Failure::usage(
        "draw a picture",
        "svg shows a comparison, and this is not one",
    )
    .hint("a run of `ab`, a document of `compare --json`, or two runs; else --format html")
}

fn terminal(args: &ReportArgs, subjects: &[Subject]) -> Printable {
    let mut surroundings = Surroundings::read();
    surroundings.stdout_terminal &= args.output.is_none();
    let look = term::Style {
        detail: session::detail(false, args.verbose),
        ..surroundings.look(color(args.color), args.ascii)
    };
    let text = |subject: &Subject, style: &term::Style| match subjects {
        [_] => term::render(&subject.output, style),
        _ => Printable::coloured(&format!(
            "{}\n{}",
            Printable::of(&subject.label),
            term::render(&subject.output, style)
        )),
    };
    let (first, columns) = match (subjects, side_by_side::half(look.width)) {
        ([first @ .., one, other], Some(width)) if first.len() < 2 => {
            let style = term::Style { width, ..look };
            let [one, other] = [one, other].map(|subject| text(subject, &style));
            (first, Some(side_by_side::join(&one, &other, width)))
        }
        _ => (subjects, None),
    };
    let texts = first
        .iter()
        .map(|subject| text(subject, &look))
        .chain(columns);
    let texts: Vec<String> = texts.map(Printable::into_string).collect();
    Printable::coloured(&texts.join("\n"))
}

fn table<'s>(sheets: &'s [Sheet], name: &str) -> Result<&'s Sheet, Failure> {
    sheets
        .iter()
        .find(|sheet| sheet.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = sheets.iter().map(|sheet| sheet.name.as_str()).collect();
            Failure::usage(
                format!("find the table {name}"),
                "the run has no such table",
            )
            .hint(format!("--table one of {}", names.join(", ")))
        })
}

const ENDINGS: &[(&str, ReportFormat)] = &[
    ("csv", ReportFormat::Csv),
    ("htm", ReportFormat::Html),
    ("html", ReportFormat::Html),
    ("json", ReportFormat::Json),
    ("md", ReportFormat::Md),
    ("prom", ReportFormat::Openmetrics),
    ("svg", ReportFormat::Svg),
    ("txt", ReportFormat::Term),
    ("xlsx", ReportFormat::Xlsx),
    ("xml", ReportFormat::Junit),
];

/// The program's one way to read each type.
const READ: redact::Readers = redact::Readers {
    output: |text| reader::text(text),
    settings: |text| reader::text(text),
};
