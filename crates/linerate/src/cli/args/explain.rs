// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate explain`.

use std::path::PathBuf;

use clap::Args;

use super::DocumentFlags;

/// Show where packets were lost and why, from a stored run or pasted text
///
/// A run is explained from its record alone, so a later version with better rules also explains old runs
/// better. Pasted text is output of iperf, ifconfig, ethtool, ip, netstat, dmesg and others, as found
/// in mails and forums; prose in between is ignored.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate explain /tmp/sweep                         a stored run (the path in the line `details`)
  linerate explain before.txt after.txt               output saved on a board
  linerate explain -                                  paste, then Ctrl-D
  linerate explain --facts /tmp/sweep                 with all known facts
  linerate explain --rules /etc/linerate/rules /tmp/sweep")]
pub(in crate::cli) struct ExplainArgs {
    /// Directory of a run, a file of text, or `-` for standard input
    #[arg(required = true, value_name = "RUN|FILE|-")]
    pub(in crate::cli) what: Vec<PathBuf>,
    /// Also print every fact, and which parts of a text were parsed or ignored
    #[arg(long)]
    pub(in crate::cli) facts: bool,
    /// Additional rules, *.toml; a rule with the id of a built-in one replaces it
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
}
