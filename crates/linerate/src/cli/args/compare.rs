// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate compare`.

use std::path::PathBuf;

use clap::Args;

use super::ColorChoice;
use crate::cli::values::compare::{self as values, FailIf};

/// Say whether runs that exist differ, and by how much
///
/// One run is one observation: one against one is no result, and below four against four nothing can
/// be proven at 5 %. Figures are matched by test, direction and asked rate. In what else the two groups
/// differ (kernel, settings, driver) is said, too. Runs that are still to be made are better compared by
/// `linerate ab`, which interleaves them.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate compare --before old-1 old-2 old-3 old-4 --after new-1 new-2 new-3 new-4
  linerate compare --before old-* --after new-* --metric throughput --fail-if worse:3%
  linerate compare --table figures.csv --before qfe --after hme --margin 1%")]
pub(in crate::cli) struct CompareArgs {
    /// Runs without the change: directories, or documents of --json (a setting's name with --table)
    #[arg(long, value_name = "RUN", num_args = 1.., required = true)]
    pub(in crate::cli) before: Vec<String>,
    /// Runs with it
    #[arg(long, value_name = "RUN", num_args = 1.., required = true)]
    pub(in crate::cli) after: Vec<String>,
    /// Compare two settings of a table instead: CSV with the columns metric, setting, value
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) table: Option<PathBuf>,
    /// What differs by less does not matter
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::margin)]
    pub(in crate::cli) margin: f64,
    /// The figure that decides, such as throughput, loss:down, rtt-p99 (repeatable) [default: the first]
    #[arg(long, value_name = "FIGURE")]
    pub(in crate::cli) metric: Vec<String>,
    /// Exit 1 when the figure that decides is proven worse by more, or nothing is proven: worse, worse:3%, inconclusive
    #[arg(long, value_name = "WHAT", value_parser = values::fail_if)]
    pub(in crate::cli) fail_if: Option<FailIf>,
    /// One JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J')]
    pub(in crate::cli) json: bool,
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(in crate::cli) color: ColorChoice,
    /// Only ASCII characters
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
}
