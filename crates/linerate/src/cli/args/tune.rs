// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune`.

use clap::{Args, Subcommand};

use super::DocumentFlags;

/// Show and undo changes of settings that a test left behind
///
/// Before a command of linerate changes a setting, it records in a journal how to restore it. If it is
/// killed, or the machine loses power, the change is still in the journal.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate tune status
  linerate tune restore
  linerate tune restore --force   also what another program changed since")]
pub(in crate::cli) struct TuneArgs {
    #[command(subcommand)]
    pub(in crate::cli) action: TuneAction,
}

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TuneAction {
    /// List changes that are not undone, with the command that undoes each
    ///
    /// Changes nothing. The exit code is 1 if there is one that a killed process left behind.
    Status {
        #[command(flatten)]
        document: DocumentFlags,
    },
    /// Undo them, the last one first
    ///
    /// Writes the old value, and reads it back. A setting that another program has changed since is left
    /// as it is, and so is what a running process has changed.
    Restore {
        /// Undo also what another program has changed since, and what a running process has changed
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        document: DocumentFlags,
    },
}
