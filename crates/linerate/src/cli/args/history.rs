// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate history`: which of the stored runs are listed.

use std::path::PathBuf;

use clap::Args;

use super::ColorChoice;

/// List the stored runs, and show how one figure changed over them
///
/// Each run in a line: when, what, against whom, and the figure that tells most. With --figure the
/// runs that have that figure, in the order of time, and where its level changed.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate history
  linerate history --peer 192.0.2.7 --kind check -n 0
  linerate history --figure 'throughput tcp up' --peer 192.0.2.7
  linerate history --json /mnt/lab/runs")]
pub(in crate::cli) struct HistoryArgs {
    /// Where the runs are [default: where runs are stored]
    pub(in crate::cli) directory: Option<PathBuf>,
    /// Only runs against this host
    #[arg(long, value_name = "HOST")]
    pub(in crate::cli) peer: Option<String>,
    /// Only runs of this command
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) kind: Option<String>,
    /// One figure over the runs: words of its name, such as 'throughput tcp up'
    #[arg(long, value_name = "WORDS")]
    pub(in crate::cli) figure: Option<String>,
    /// Only so many runs, the newest; 0: all [default: 20, with --figure all]
    #[arg(short = 'n', long, value_name = "N")]
    pub(in crate::cli) number: Option<usize>,
    /// One JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J', help_heading = "Output")]
    pub(in crate::cli) json: bool,
    /// Colour: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub(in crate::cli) color: ColorChoice,
    /// Only ASCII characters
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) ascii: bool,
}
