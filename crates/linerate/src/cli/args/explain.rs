// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate explain`.

use std::path::PathBuf;

use clap::Args;

use super::ColorChoice;

/// Say where packets were lost and why: of a stored run, or of pasted text
///
/// A run is explained from its record alone, so that a later version with better rules explains old
/// runs anew. Pasted text is what people put into mails and forums: outputs of iperf, ifconfig,
/// ethtool, ip, netstat, dmesg and others, with prose between them.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate explain /tmp/sweep                         a stored run (-o, or what `stored in` named)
  linerate explain before.txt after.txt               outputs saved from a board
  linerate explain -                                  paste, then Ctrl-D
  linerate explain --facts /tmp/sweep                 with every fact that was known
  linerate explain --rules /etc/linerate/rules /tmp/sweep")]
pub(in crate::cli) struct ExplainArgs {
    /// Directory of a run, a file of text, or `-` for standard input
    #[arg(required = true, value_name = "RUN|FILE|-")]
    pub(in crate::cli) what: Vec<PathBuf>,
    /// Also print every fact, and what of a text was understood and ignored
    #[arg(long)]
    pub(in crate::cli) facts: bool,
    /// Rules of your own, *.toml; one of the same id replaces ours
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Option<PathBuf>,
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
