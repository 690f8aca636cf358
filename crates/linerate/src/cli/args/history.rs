// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate history`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DocumentFlags;

/// List the stored runs, and show how one figure changed over time
///
/// Prints a line per run: time, command, peer and its main figure. With --figure, prints that figure
/// of all runs in chronological order, where its level changed, and what else changed then. A page
/// (-o FILE.html) has every figure. A run of `-o DIR` is listed if DIRECTORY contains DIR.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate history
  linerate history --peer 192.0.2.7 --kind check -n 0
  linerate history --figure 'throughput tcp up' --peer 192.0.2.7
  linerate history --peer 192.0.2.7 -o history.html   every figure over time
  linerate history --json /mnt/lab/runs")]
pub(in crate::cli) struct HistoryArgs {
    /// Directory of the runs [default: where runs are stored]
    pub(in crate::cli) directory: Option<PathBuf>,
    /// Only runs against this host
    #[arg(long, value_name = "HOST")]
    pub(in crate::cli) peer: Option<String>,
    /// Only runs of this command
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) kind: Option<String>,
    /// Only attempts that failed before they measured anything, with the reason
    #[arg(long, conflicts_with = "figure")]
    pub(in crate::cli) failed: bool,
    /// One figure over time: its name, or words in it, such as 'throughput tcp up'
    #[arg(long, value_name = "WORDS")]
    pub(in crate::cli) figure: Option<String>,
    /// Number of runs, newest first; 0 = all [default: 20; all with --figure or html]
    #[arg(short = 'n', long, value_name = "N")]
    pub(in crate::cli) number: Option<usize>,
    /// Format [default: from the suffix of -o, else term]
    #[arg(short = 'f', long, value_enum, conflicts_with = "json")]
    pub(in crate::cli) format: Option<HistoryFormat>,
    /// Write to this file, atomically; `-` is standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
}

/// In which form runs are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum HistoryFormat {
    /// For the terminal
    Term,
    /// A page with each figure over time
    Html,
    /// The document of `--json`
    Json,
}
