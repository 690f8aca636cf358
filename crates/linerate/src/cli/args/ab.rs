// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate ab`.

use std::path::PathBuf;

use clap::Args;

use super::{ColorChoice, OutputFlags};
use crate::cli::values::{
    self,
    compare::{self, FailIf},
};

/// Say whether B is better than A, in blocks of runs whose order a coin draws
///
/// First A against A: the noise, and with it the smallest effect that will be found. Then blocks of
/// A B B A or B A A B, until a difference is proven, or shown to be smaller than matters, or no proof is in
/// sight, or the last block is done. --a and --b are shell commands that set up a configuration; one of
/// them runs before each run. The measurement is a linerate command of its own; each of its runs is kept.
/// `docs/proving.md` explains the method.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate ab --a 'ethtool -K eth0 tso on' --b 'ethtool -K eth0 tso off' -- tcp 192.0.2.7
  linerate ab --a ./old-driver --b ./new-driver --settle 5 -- udp 192.0.2.7 -b 400M
  linerate ab --a ./before --b ./after --restore ./usual --blocks 20 -- sweep 192.0.2.7
  linerate ab --a ./before --b ./after --metric rtt-p99 --seed 7 -- tcp 192.0.2.7 -t 5")]
pub(in crate::cli) struct AbArgs {
    /// Shell command that sets up A, what is there
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) a: String,
    /// Shell command that sets up B, what may be better
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) b: String,
    /// Shell command for the end, however it comes [default: that of A]
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) restore: Option<String>,
    /// At most so many blocks of four runs, 6 … 200
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(6..=200))]
    pub(in crate::cli) blocks: u32,
    /// Blocks of A against A before, 0 … 50; fewer than 6 know the noise badly
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=50))]
    pub(in crate::cli) aa: u32,
    /// What differs by less does not matter
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = compare::margin)]
    pub(in crate::cli) margin: f64,
    /// The figure that decides, such as throughput, loss:down, rtt-p99 [default: the first]
    #[arg(long, value_name = "FIGURE")]
    pub(in crate::cli) metric: Option<String>,
    /// Of the coin that draws the order of each block [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
    /// Between setting up and measuring, such as 1, 500ms
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = values::warm_up)]
    pub(in crate::cli) settle: u64,
    /// Exit 1 when B is proven worse by more, or nothing is proven: worse, worse:3%, inconclusive
    #[arg(long, value_name = "WHAT", value_parser = compare::fail_if)]
    pub(in crate::cli) fail_if: Option<FailIf>,
    /// One JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J')]
    pub(in crate::cli) json: bool,
    /// Store the runs in this directory
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(in crate::cli) color: ColorChoice,
    /// Only ASCII characters
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
    /// Only the result: no progress, no notes
    #[arg(short = 'q', long)]
    pub(in crate::cli) quiet: bool,
    /// What to measure: udp, tcp, sweep, check or forward with its flags
    #[arg(last = true, required = true, value_name = "MEASUREMENT")]
    pub(in crate::cli) measurement: Vec<String>,
}

impl AbArgs {
    /// Where its own result goes.
    pub(in crate::cli) fn flags(&self) -> OutputFlags {
        OutputFlags {
            json: self.json,
            json_stream: false,
            expect: Vec::new(),
            output: self.output.clone(),
            color: self.color,
            ascii: self.ascii,
            quiet: self.quiet,
            verbose: 0,
        }
    }
}
