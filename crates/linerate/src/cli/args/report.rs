// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ColorChoice;

/// Convert a stored run: to HTML, Markdown, CSV, a spreadsheet, JSON, JUnit or OpenMetrics
///
/// All formats have the same numbers. Findings are computed from the record with this version's
/// rules; a document written by `--json` keeps its findings.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate report /tmp/run                            as the command printed it
  linerate report /tmp/run -o run.html                one page, for any browser
  linerate report before after -o both.xlsx           two runs, one sheet per table
  linerate report /tmp/run --format csv --table tests.intervals
  linerate report /tmp/run --redact -o for-the-forum.md")]
pub(in crate::cli) struct ReportArgs {
    /// Directory of a run, or a document of `--json`
    #[arg(required = true, value_name = "RUN")]
    pub(in crate::cli) runs: Vec<PathBuf>,
    /// Format [default: from the suffix of -o, else term]
    #[arg(short = 'f', long, value_enum)]
    pub(in crate::cli) format: Option<ReportFormat>,
    /// Write to this file, atomically; `-` is standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// csv: which table, such as tests.intervals [default: results of a device, else tests]
    #[arg(long, value_name = "TABLE")]
    pub(in crate::cli) table: Option<String>,
    /// Replace host names, MACs and IP addresses by host-1, mac-1, address-1 …, consistently
    #[arg(long)]
    pub(in crate::cli) redact: bool,
    /// Additional rules, *.toml; a rule with the id of a built-in one replaces it
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Option<PathBuf>,
    /// Print everything: streams, counters, loss ledger, modes, spacing, each trial (term)
    #[arg(short = 'v', long, action = clap::ArgAction::Count)]
    pub(in crate::cli) verbose: u8,
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(in crate::cli) color: ColorChoice,
    /// Print only ASCII characters (term)
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
}

/// In which form a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ReportFormat {
    /// As the command printed it
    Term,
    /// Markdown, for an issue or a wiki
    Md,
    /// One page for any browser, in one file
    Html,
    /// Only the before/after plot: of `ab`, `compare` or two runs
    Svg,
    /// One table, RFC 4180
    Csv,
    /// All tables, one per sheet, for a spreadsheet
    Xlsx,
    /// The document of `--json`
    Json,
    /// JUnit XML, for a CI server
    Junit,
    /// OpenMetrics, for a monitoring system
    Openmetrics,
}
