// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flags that say what is printed, and where the run is stored.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use linerate_model::expect::Expect;

/// What is printed, and where the run is stored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct OutputFlags {
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
    /// Print one JSON object per line while measuring
    #[arg(long, conflicts_with = "json")]
    pub(in crate::cli) json_stream: bool,
    /// Exit 1 if not met, such as '>=940M', 'loss<=0.1%', 'rtt<2ms' (repeatable)
    #[arg(long, value_name = "EXPRESSION")]
    pub(in crate::cli) expect: Vec<Expect>,
    /// Store the run in this directory
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Print one line per direction, and no progress
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub(in crate::cli) quiet: bool,
    /// Print everything: streams, counters, loss ledger, modes, spacing, each trial and step
    #[arg(short = 'v', long, visible_short_alias = 'V', action = clap::ArgAction::Count)]
    pub(in crate::cli) verbose: u8,
    /// Append all output to this file
    #[arg(long, value_name = "FILE", alias = "log-file")]
    pub(in crate::cli) logfile: Option<PathBuf>,
    /// Begin each line with the time, in a strftime(3) format [default: %c]
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "%c ")]
    pub(in crate::cli) timestamps: Option<String>,
}

/// In which form a document is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct DocumentFlags {
    /// Print one JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J')]
    pub(in crate::cli) json: bool,
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(in crate::cli) color: ColorChoice,
    /// Print only ASCII characters
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
}

impl DocumentFlags {
    /// Text, the default.
    pub(in crate::cli) const fn plain() -> Self {
        Self {
            json: false,
            color: ColorChoice::Auto,
            ascii: false,
        }
    }
}

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}
