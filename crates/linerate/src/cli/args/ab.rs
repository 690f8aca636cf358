// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate ab`.

use std::path::PathBuf;

use clap::Args;

use super::{DocumentFlags, LabShape, OutputFlags};
use crate::cli::values::{
    self,
    compare::{self, FailIf},
};

/// Test whether setting B is better than setting A, in blocks of runs in random order
///
/// Measures A against A first, to find the noise and the smallest detectable effect. Then runs
/// blocks in the order A B B A or B A A B until a difference is proven, is shown to be smaller than
/// the margin, can no longer be proven, or the last block is done. --a and --b are shell commands
/// that set up a configuration; one of them runs before each run. The measurement is a linerate
/// command; each of its runs is kept. `docs/proving.md` explains the method.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate ab --a 'ethtool -K eth0 tso on' --b 'ethtool -K eth0 tso off' -- tcp 192.0.2.7
  linerate ab --a ./old-driver --b ./new-driver --settle 5 -- udp 192.0.2.7 -b 400M
  linerate ab --a ./before --b ./after --restore ./usual --blocks 20 -- sweep 192.0.2.7
  linerate ab --lab --quick --a ./before --b ./after -- tcp -t 2    on two hosts created here
  linerate ab --a ./before --b ./after --metric rtt-p99 --seed 7 -- tcp 192.0.2.7 -t 5")]
pub(in crate::cli) struct AbArgs {
    /// Shell command that sets up A, the current configuration
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) a: String,
    /// Shell command that sets up B, the change to test
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) b: String,
    /// Shell command that runs at the end, also after an error or Ctrl-C [default: the command of --a]
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) restore: Option<String>,
    /// Fewer runs, for a first look: --aa 2, --blocks 6 and --settle 200ms, unless they are given
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Maximum number of blocks of four runs, 6 … 200
    #[arg(long, value_name = "N", default_value_t = 12, default_value_if("quick", "true", "6"), value_parser = clap::value_parser!(u32).range(6..=200))]
    pub(in crate::cli) blocks: u32,
    /// Blocks of A against A run first, 0 … 50; fewer than 6 give a poor estimate of the noise
    #[arg(long, value_name = "N", default_value_t = 6, default_value_if("quick", "true", "2"), value_parser = clap::value_parser!(u32).range(0..=50))]
    pub(in crate::cli) aa: u32,
    /// Margin: smaller differences of the deciding metric do not matter [default: 2%; 10% for rtt-p99, 20% for loss]
    #[arg(long, value_name = "PERCENT", value_parser = compare::margin)]
    pub(in crate::cli) margin: Option<f64>,
    /// The figure that decides, such as throughput, loss:down, rtt-p99 [default: the first]
    #[arg(long, value_name = "FIGURE")]
    pub(in crate::cli) metric: Option<String>,
    /// Seed of the order of the blocks [default: random, and printed]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
    /// Wait between set-up and measurement, such as 1, 500ms
    #[arg(long, value_name = "TIME", default_value = "1", default_value_if("quick", "true", "200ms"), value_parser = values::settle)]
    pub(in crate::cli) settle: u64,
    /// Exit 1 if B is proven worse (by more than the given share), or if nothing is proven: worse, worse:3%, inconclusive
    #[arg(long, value_name = "WHAT", value_parser = compare::fail_if)]
    pub(in crate::cli) fail_if: Option<FailIf>,
    /// Store the runs in this directory
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
    /// Print only the result: no progress, no notes
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub(in crate::cli) quiet: bool,
    /// Also print the statistics
    #[arg(short = 'v', long, action = clap::ArgAction::Count)]
    pub(in crate::cli) verbose: u8,
    /// What to measure: udp, tcp, sweep, check or forward with its flags
    #[arg(last = true, required = true, value_name = "MEASUREMENT")]
    pub(in crate::cli) measurement: Vec<String>,
    /// Create two hosts on this machine for the whole comparison: --a, --b and the measurement run in the first; HOST of
    /// the measurement, omitted or written {peer}, is the second
    #[arg(long, help_heading = "Lab")]
    pub(in crate::cli) lab: bool,
    #[command(flatten, next_help_heading = "Lab")]
    pub(in crate::cli) shape: LabShape,
}

impl AbArgs {
    /// Returns where the result of `ab` goes.
    pub(in crate::cli) fn flags(&self) -> OutputFlags {
        OutputFlags {
            document: self.document,
            json_stream: false,
            expect: Vec::new(),
            output: self.output.clone(),
            quiet: self.quiet,
            verbose: self.verbose,
            logfile: None,
            timestamps: None,
        }
    }
}
