// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the settings of the other host are reached, and which changes need consent.

use clap::Args;

use crate::cli::values;

/// The other host, and the path to it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hosts")]
pub(in crate::cli) struct FarFlags {
    /// Change settings of HOST as well, by `ssh SSH linerate agent --stdio --changes` [default: HOST]
    #[arg(long, value_name = "SSH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["lab", "remote_command"])]
    pub(in crate::cli) remote: Option<String>,
    /// The same by a command that runs `linerate agent --stdio --changes` there
    #[arg(long, value_name = "COMMAND", conflicts_with = "lab")]
    pub(in crate::cli) remote_command: Option<String>,
    /// Undo a change that cuts the path to the host after this time
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = values::duration)]
    pub(in crate::cli) confirm_within: u64,
    /// Also try changes that interrupt an interface of the management session (ssh)
    #[arg(long)]
    pub(in crate::cli) allow_management: bool,
}
