// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate compare`.

use std::path::PathBuf;

use clap::Args;

use super::DocumentFlags;
use crate::cli::values::compare::{self as values, FailIf};

/// Compare two groups of stored runs, or two matrices
///
/// Two matrices of the same axes are compared cell by cell, A first: each cell is better, worse, equivalent, or has not
/// enough runs, judged as one of all cells. The rest is about groups of runs.
///
/// One run is one observation: one against one gives no result, and fewer than four against four can
/// prove nothing at 5 %. Figures are matched by test, direction and requested rate. Other differences
/// between the groups (kernel, settings, driver) are reported as well. To make the runs, use
/// `linerate ab`, which interleaves them.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate compare --before old-1 old-2 old-3 old-4 --after new-1 new-2 new-3 new-4
  linerate compare --before old-* --after new-* --metric throughput --fail-if worse:3%
  linerate compare --table figures.csv --before qfe --after hme --margin 1%
  linerate compare qfe.matrix hme.matrix --margin 2%
  linerate compare --axis driver drivers.matrix")]
pub(in crate::cli) struct CompareArgs {
    /// Two runs of `matrix`, A and B (with --axis one): directories, or documents of --json
    #[arg(value_name = "MATRIX", num_args = 1..=2, conflicts_with_all = ["before", "after", "table"])]
    pub(in crate::cli) matrices: Vec<PathBuf>,
    /// Runs without the change: directories, or documents of --json (a setting's name with --table)
    #[arg(long, value_name = "RUN", num_args = 1.., required_unless_present = "matrices")]
    pub(in crate::cli) before: Vec<String>,
    /// Runs with the change
    #[arg(long, value_name = "RUN", num_args = 1.., required_unless_present = "matrices")]
    pub(in crate::cli) after: Vec<String>,
    /// Compare two values of an axis of one matrix, whose runs were interleaved: driver, or driver=qfe,hme
    #[arg(long, value_name = "AXIS", requires = "matrices")]
    pub(in crate::cli) axis: Option<String>,
    /// Compare two settings of a table instead: CSV with the columns metric, setting, value
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) table: Option<PathBuf>,
    /// Margin: smaller differences of the deciding metric do not matter [default: 2%; 10% for rtt-p99, 20% for loss]
    #[arg(long, value_name = "PERCENT", value_parser = values::margin)]
    pub(in crate::cli) margin: Option<f64>,
    /// The figure that decides, such as throughput, loss:down, rtt-p99 (repeatable) [default: the first]
    #[arg(long, value_name = "FIGURE")]
    pub(in crate::cli) metric: Vec<String>,
    /// Exit 1 if the deciding figure is proven worse (by more than the given share), or if nothing is proven: worse, worse:3%, inconclusive
    #[arg(long, value_name = "WHAT", value_parser = values::fail_if)]
    pub(in crate::cli) fail_if: Option<FailIf>,
    /// Also print the statistics
    #[arg(short = 'v', long, action = clap::ArgAction::Count)]
    pub(in crate::cli) verbose: u8,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
}
