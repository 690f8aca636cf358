// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate history`.

use std::path::PathBuf;

use clap::Args;

use super::DocumentFlags;

/// List the stored runs, and show how one figure changed over time
///
/// Prints a line per run: time, command, peer and its main figure. With --figure, prints that figure
/// of all runs in chronological order, and where its level changed.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate history
  linerate history --peer 192.0.2.7 --kind check -n 0
  linerate history --figure 'throughput tcp up' --peer 192.0.2.7
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
    /// One figure over time: words of its name, such as 'throughput tcp up'
    #[arg(long, value_name = "WORDS")]
    pub(in crate::cli) figure: Option<String>,
    /// Number of runs, newest first; 0 = all [default: 20; all with --figure]
    #[arg(short = 'n', long, value_name = "N")]
    pub(in crate::cli) number: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
}
