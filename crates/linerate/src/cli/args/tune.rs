// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use linerate_knowledge::Consent;

use super::{DocumentFlags, FarFlags, ServerFlags};
use crate::cli::tune::explore;
use crate::cli::values::{self, compare};

/// Try the changes that the findings propose, keep what is proven better, and undo the rest
///
/// Checks the link first. Then each change that a finding proposes for this host's settings is made and undone again
/// in blocks of runs in random order, as `ab` does. A change is kept if two trials prove it better; then a fresh check
/// shows whether the finding is gone. Each change is in a journal before it is made: `tune restore` undoes what a killed
/// process or a power failure left. Without --persist, a reboot undoes every change. `docs/tuning.md` describes what is
/// changed, and how to undo it.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(before_long_help = "Examples:
  linerate tune 192.0.2.7                    HOST runs `linerate serve`
  linerate tune 192.0.2.7 --dry-run          what would be tried, as commands
  linerate tune 192.0.2.7 --remote           also settings of HOST, through ssh
  linerate tune 192.0.2.7 -- udp -b 400M     find and judge by this measurement
  linerate tune --lab --quick --fault tcp-rmem
  linerate tune status
  linerate tune restore
  linerate tune restore --force              also what another program changed since
  linerate tune restore --kept               also what was kept
  linerate tune restore --forget 3           undo nothing, and list change 3 no more
  linerate tune persist                      what was kept, also after a reboot
  linerate tune persist --root image         the same for an image, or to read the files first")]
pub(in crate::cli) struct TuneArgs {
    #[command(subcommand)]
    pub(in crate::cli) action: Option<TuneAction>,
    #[command(flatten)]
    pub(in crate::cli) campaign: CampaignArgs,
}

/// What is tried, and how it is proven.
#[derive(Debug, Args)]
#[command(next_help_heading = "Campaign")]
pub(in crate::cli) struct CampaignArgs {
    /// Show what would be tried, and change nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Also try what harmed a host in an earlier campaign and was rolled back
    #[arg(long)]
    pub(in crate::cli) retry: bool,
    /// Also try what no finding proposes: tunables that can improve throughput or loss; with WORD only those
    /// whose name contains it, such as rmem or 'ethtool -K'
    #[arg(long, value_name = "WORD", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = explore::word)]
    pub(in crate::cli) explore: Option<String>,
    /// Allow a change with consequences beyond this host's speed: pause, mtu, addresses, firewall or power (repeatable)
    #[arg(long, value_name = "WHAT", value_parser = consent)]
    pub(in crate::cli) consent: Vec<Consent>,
    /// Write files that make permanent what is kept, as `linerate tune persist` does
    #[arg(long, conflicts_with_all = ["lab", "dry_run"])]
    pub(in crate::cli) persist: bool,
    /// Write these files below DIR, the root of an image, as `linerate tune persist --root` does
    #[arg(long, value_name = "DIR", requires = "persist")]
    pub(in crate::cli) root: Option<PathBuf>,
    /// Shorter check and fewer runs: --aa 2, --blocks 6, -t 1 and --settle 200ms, unless they are given
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Length of each run, unless MEASUREMENT has its own
    #[arg(short = 't', long, value_name = "TIME", default_value = "2", default_value_if("quick", "true", "1"), value_parser = run_length)]
    pub(in crate::cli) time: String,
    /// Maximum number of blocks of four runs for each trial, 6 … 200
    #[arg(long, value_name = "N", default_value_t = 12, default_value_if("quick", "true", "6"), value_parser = clap::value_parser!(u32).range(6..=200))]
    pub(in crate::cli) blocks: u32,
    /// Blocks without a change, run before the first trial of each measurement, 0 … 50
    #[arg(long, value_name = "N", default_value_t = 6, default_value_if("quick", "true", "2"), value_parser = clap::value_parser!(u32).range(0..=50))]
    pub(in crate::cli) aa: u32,
    /// Smaller improvements do not matter [default: 2%; 20% for loss]
    #[arg(long, value_name = "PERCENT", value_parser = compare::margin)]
    pub(in crate::cli) margin: Option<f64>,
    /// Wait after each change, such as 1, 500ms
    #[arg(long, value_name = "TIME", default_value = "1", default_value_if("quick", "true", "200ms"), value_parser = values::settle)]
    pub(in crate::cli) settle: u64,
    /// Seed of the order of the blocks [default: random, and stored]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) far: FarFlags,
    #[command(flatten)]
    pub(in crate::cli) server: ServerFlags,
    /// Measure this instead of a check, and decide by it: udp, tcp or sweep with its flags
    #[arg(last = true, value_name = "MEASUREMENT")]
    pub(in crate::cli) measurement: Vec<String>,
}

fn consent(text: &str) -> Result<Consent, String> {
    Consent::of_word(text).ok_or_else(|| format!("expected one of {}", Consent::WORDS.join(", ")))
}

/// As a measuring command takes it.
fn run_length(text: &str) -> Result<String, String> {
    values::duration(text).map(|_| text.to_owned())
}

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TuneAction {
    /// List changes that are not undone, also those that were kept, with the command that undoes each
    ///
    /// Changes nothing. The exit code is 1 if there is one that a killed process left behind.
    Status {
        #[command(flatten)]
        document: DocumentFlags,
    },
    /// Make a change that `tune restore` undoes: a command line that sets something
    #[command(hide = true)]
    Set {
        /// Such as 'ethtool -G eth0 rx 4096'
        line: String,
        /// It stays until `tune restore --kept`
        #[arg(long)]
        keep: bool,
        #[command(flatten)]
        document: DocumentFlags,
    },
    /// Undo them, the last one first
    ///
    /// Writes the old value, and reads it back. A setting that another program has changed since is left
    /// as it is, and so is what a running process has changed.
    Restore {
        /// Also undo what another program has changed since, and what a running process has changed
        #[arg(long)]
        force: bool,
        /// Also undo what was kept, and remove the files that make it permanent
        #[arg(long)]
        kept: bool,
        /// Undo nothing, and take change ID off the list: you undid it by hand, or it cannot be undone (repeatable)
        #[arg(long, value_name = "ID", conflicts_with_all = ["force", "kept"])]
        forget: Vec<u64>,
        #[command(flatten)]
        document: DocumentFlags,
    },
    /// Make permanent what was kept
    ///
    /// Writes a file for each setting that was kept and is still in force: for sysctl.d, a udev rule, a drop-in of a
    /// .link file or a systemd unit. Each is in the journal; `tune restore --kept` removes it. Where a file would have no
    /// effect, the reason is shown, and nothing is written.
    ///
    /// With --root the files are for the system below DIR: an image that is being built, or an empty directory, to read
    /// them first. What that system has installed, enabled and configured decides, not what runs on this host.
    Persist {
        /// Write the files below DIR, the root of an image, instead of /
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        #[command(flatten)]
        document: DocumentFlags,
    },
}
