// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate matrix`.

use std::path::PathBuf;

use clap::Args;
use linerate_lab::{Fault, Topology};

use super::{DocumentFlags, FarFlags, OutputFlags};
use crate::cli::values;

/// Measure every combination of protocols, sizes, settings …: one grid per figure
///
/// Each round measures every cell once, in random order; cells with the same settings follow one another. MTU and
/// offloads are set on this host (in the lab on both), and restored at the end; `tune restore` restores them after a
/// crash. A combination that cannot be is reported with the reason. An interrupted matrix continues with --resume, and
/// repeats no run.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate matrix --lab --quick --axes 'protocol=tcp,udp size=64,1448 direction=up,down'
  linerate matrix 192.0.2.7 --axes 'family=4,6 mtu=1280,1500 protocol=tcp,udp' --rounds 6 -t 10
  linerate matrix 192.0.2.7 --axes 'size=64,1448 protocol=udp' --set 'driver: old=./use old; new=./use new'
  linerate matrix plan.toml 192.0.2.7 -o /tmp/qfe --dry-run   the plan, the time, what cannot be
  linerate matrix --resume /tmp/qfe                           after a crash or Ctrl-C
  linerate matrix 192.0.2.7 --axes 'congestion=cubic,bbr streams=1,4' -- -w 4M -p 5300")]
#[command(after_long_help = AXES)]
pub(in crate::cli) struct MatrixArgs {
    /// A plan in a file, and the server: a name or address, also HOST:PORT
    #[arg(value_name = "PLAN.toml|HOST", num_args = 0..=2)]
    pub(in crate::cli) words: Vec<String>,
    /// Axes with their values, such as 'protocol=tcp,udp mtu=100,1500' (repeatable)
    #[arg(long, value_name = "AXIS=VALUES")]
    pub(in crate::cli) axes: Vec<String>,
    /// An axis of settings by shell commands: 'NAME: VALUE=COMMAND; VALUE=COMMAND', and '; restore=COMMAND' [default: the first] (repeatable)
    #[arg(long, value_name = "SETTING")]
    pub(in crate::cli) set: Vec<String>,
    /// Axes whose values are the rows of the grids [default: all but the last]
    #[arg(long, value_name = "AXES", value_delimiter = ',')]
    pub(in crate::cli) rows: Vec<String>,
    /// Address of HOST for family 6, where HOST is an IPv4 address
    #[arg(long, value_name = "ADDRESS")]
    pub(in crate::cli) host6: Option<std::net::Ipv6Addr>,
    /// Runs of each cell, 1 … 200; fewer than 6 give no interval [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(in crate::cli) rounds: Option<u32>,
    /// Length of each run, such as 10, 500ms [default: 5]
    #[arg(short = 't', long, value_name = "TIME", value_parser = values::duration)]
    pub(in crate::cli) time: Option<u64>,
    /// Payload rate of each UDP stream; 0 = unlimited [default: 0]
    #[arg(short = 'b', long, value_name = "RATE", value_parser = rate)]
    pub(in crate::cli) bitrate: Option<String>,
    /// Fewer and shorter runs, for a first look: --rounds 3, -t 1 and --settle 200ms, unless they are given
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Seed of the order of the cells [default: random, and stored]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(in crate::cli) seed: Option<u64>,
    /// Wait after settings are changed, such as 1, 500ms [default: 1]
    #[arg(long, value_name = "TIME", value_parser = values::settle)]
    pub(in crate::cli) settle: Option<u64>,
    /// Name of the matrix [default: that of the plan]
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) name: Option<String>,
    /// Print the plan, what cannot be and the time, and measure nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Continue the matrix in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["words", "axes", "set", "rows", "host6", "rounds", "time", "bitrate", "quick", "seed", "settle", "name", "dry_run", "output", "lab", "flags"])]
    pub(in crate::cli) resume: Option<PathBuf>,
    /// Continue also where the name, kernel, driver or processors of a host are not those of the runs so far
    #[arg(long)]
    pub(in crate::cli) other_host: bool,
    /// Store the matrix in this directory; an unfinished one of the same plan continues
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
    /// Print only the result: no progress, no notes
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub(in crate::cli) quiet: bool,
    /// Also print each run's directory
    #[arg(short = 'v', long, action = clap::ArgAction::Count)]
    pub(in crate::cli) verbose: u8,
    /// Further flags of each test, such as -w 4M -p 5300
    #[arg(last = true, value_name = "FLAGS")]
    pub(in crate::cli) flags: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) far: FarFlags,
    /// Measure between two hosts created on this machine, without root
    #[arg(long, help_heading = "Lab")]
    pub(in crate::cli) lab: bool,
    /// Inject this fault into the lab, NAME[=VALUE] (repeatable; `linerate lab --help` lists them)
    #[arg(long, value_name = "FAULT", value_parser = fault, help_heading = "Lab")]
    pub(in crate::cli) fault: Vec<String>,
    /// What lies between the hosts: pair, bridge or route [default: pair]
    #[arg(long, value_name = "TOPOLOGY", help_heading = "Lab")]
    pub(in crate::cli) topology: Option<Topology>,
}

impl MatrixArgs {
    /// Returns where the result goes, if it goes to `directory`.
    pub(in crate::cli) fn output_flags(&self, directory: Option<PathBuf>) -> OutputFlags {
        OutputFlags {
            document: self.document,
            json_stream: false,
            expect: Vec::new(),
            output: directory,
            quiet: self.quiet,
            verbose: self.verbose,
            logfile: None,
            timestamps: None,
        }
    }
}

fn rate(text: &str) -> Result<String, String> {
    values::paced_rate(text).map(|_| text.to_owned())
}

fn fault(text: &str) -> Result<String, String> {
    text.parse::<Fault>().map(|_| text.to_owned())
}

const AXES: &str = "Axes:
  protocol    tcp, udp, udp-plain (one datagram per call), udp-gso (UDP_SEGMENT, UDP_GRO)
  family      4, 6                          direction   up, down, both
  size        UDP payload, or TCP write size, bytes
  mtu         of the measured interface     offload     on, off, or those that are on: tso+gso
  streams     1 … 128                       congestion  cubic, bbr …, or default
  mss         TCP maximum segment size, or default
  any other   a setting by commands: --set, or [[axis]] of the plan";
