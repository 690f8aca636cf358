// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flags that say how the server is reached.

use std::path::PathBuf;

use clap::Args;

use super::{LabFlags, OutputFlags};
use crate::cli::values::{self, BindTo};

/// Against whom a command measures, and where the result goes.
#[derive(Debug, Args)]
pub(in crate::cli) struct ServerFlags {
    /// Name or address of the server, also HOST:PORT, [ADDRESS]:PORT, HOST%INTERFACE
    #[arg(required_unless_present = "lab")]
    pub(in crate::cli) host: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) lab: LabFlags,
    #[command(flatten)]
    pub(in crate::cli) target: TargetFlags,
    #[command(flatten)]
    pub(in crate::cli) output: OutputFlags,
}

/// How the server is reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reaching the server")]
pub(in crate::cli) struct TargetFlags {
    /// Port of the server [default: 5201]
    #[arg(short = 'p', long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) port: Option<u16>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "version6")]
    pub(in crate::cli) version4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    pub(in crate::cli) version6: bool,
    /// Local address, or ADDRESS%INTERFACE
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = values::bind_to)]
    pub(in crate::cli) bind: Option<BindTo>,
    /// Local interface
    #[arg(long, value_name = "INTERFACE", value_parser = values::interface)]
    pub(in crate::cli) bind_dev: Option<String>,
    /// How long to wait for the server, such as 2s; a bare number is ms [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = values::timeout)]
    pub(in crate::cli) connect_timeout: Option<u64>,
    /// Token file of the server, for its full counters and settings [default: $LINERATE_TOKEN_FILE]
    #[arg(long, value_name = "FILE", conflicts_with = "lab")]
    pub(in crate::cli) token_file: Option<PathBuf>,
}
