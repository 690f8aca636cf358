// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grammar of the command line. Every flag's value is parsed into its range here;
//! [`super::plan`] turns the whole into a plan.

mod ab;
mod agent;
mod compare;
mod cost;
mod dataplane;
mod explain;
mod far;
mod forward;
mod history;
mod inspect;
mod lab;
mod load;
mod matrix;
mod nic_check;
mod output;
mod regs;
mod report;
mod search;
mod serve;
mod target;
mod tune;

pub(super) use ab::AbArgs;
pub(super) use agent::AgentArgs;
pub(super) use compare::CompareArgs;
pub(super) use cost::{CostArgs, CostProtocol};
pub(super) use dataplane::{DataplaneArgs, DataplaneCommand, DataplanePorts, XdpMode};
pub(super) use explain::ExplainArgs;
pub(super) use far::FarFlags;
pub(super) use forward::ForwardArgs;
pub(super) use history::{HistoryArgs, HistoryFormat};
pub(super) use inspect::InspectArgs;
pub(super) use lab::{LabFlags, LabShape};
pub(super) use load::{LoadFlags, TcpArgs, UdpArgs};
pub(super) use matrix::MatrixArgs;
pub(super) use nic_check::NicCheckArgs;
pub(super) use output::{ColorChoice, DocumentFlags, OutputFlags};
pub(super) use regs::RegsArgs;
pub(super) use report::{ReportArgs, ReportFormat};
pub(super) use search::SearchFlags;
pub(super) use serve::ServeArgs;
pub(super) use target::{ServerFlags, TargetFlags};
pub(super) use tune::{CampaignArgs, TuneAction, TuneArgs};

use super::values;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// Measure a network link in both directions and explain what limits it
#[derive(Debug, Parser)]
#[command(name = "linerate", version, long_version = long_version(), propagate_version = true)]
#[command(disable_help_subcommand = true, max_term_width = 100, after_help = EXIT_STATUS)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Check(CheckArgs),
    Tcp(TcpArgs),
    Udp(UdpArgs),
    Sweep(SweepArgs),
    Cost(CostArgs),
    Forward(ForwardArgs),
    Serve(ServeArgs),
    Agent(AgentArgs),
    NicCheck(NicCheckArgs),
    Inspect(InspectArgs),
    Explain(ExplainArgs),
    History(HistoryArgs),
    Report(ReportArgs),
    Ab(AbArgs),
    Compare(CompareArgs),
    Matrix(MatrixArgs),
    Tune(TuneArgs),
    Dataplane(DataplaneArgs),
    Lab(crate::cli::lab::LabArgs),
    Regs(RegsArgs),
    Doctor(DoctorArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Measure a link in both directions and report what limits it
///
/// Measures idle latency, TCP throughput up, down and in both directions, TCP with one stream per
/// CPU, the highest UDP rate without loss for full-size and 64-byte datagrams, each confirmed by a
/// longer trial, and latency under each load. HOST runs `linerate serve`; a stock `iperf3 -s` works too, but without the
/// counters of the far end.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate check --lab                      two hosts on this machine, no root needed
  linerate check 192.0.2.7                  HOST runs `linerate serve`
  linerate check 192.0.2.7 --quick --expect '>=940M'
  linerate check 192.0.2.7 --watch 10m      every 10 minutes: a row per run, and what changed
  linerate check 192.0.2.7 --goal-loss 0.5% --confirm 60   PDR, confirmed by trials of 60 s
  linerate check --lab --fault loss=0.5% --json")]
pub(super) struct CheckArgs {
    /// Take about 10 seconds instead of 30
    #[arg(long)]
    pub(super) quick: bool,
    /// Repeat the check at this interval until Ctrl-C: a row per run, and what changed
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    #[arg(conflicts_with_all = ["json", "json_stream", "output"])]
    pub(super) watch: Option<u64>,
    /// End --watch after this number of checks
    #[arg(long, value_name = "N", requires = "watch", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) count: Option<u32>,
    #[command(flatten)]
    pub(super) search: SearchFlags,
    #[command(flatten)]
    pub(super) server: ServerFlags,
}

/// Raise the UDP rate in steps, then search for the highest rate without loss
///
/// Prints a row per rate and direction with the counters that increased, then searches between the
/// highest rate without loss and the lowest rate with loss, and confirms the result by one longer
/// trial in each direction.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate sweep 192.0.2.7                            50M to 1000M in steps of 50M
  linerate sweep 192.0.2.7 --from 900M --to 1G --step 10M -t 5
  linerate sweep 192.0.2.7 -R -l 1400 -o /tmp/sweep   only down
  linerate sweep 192.0.2.7 --quick                    6 rates of half a second each
  linerate sweep 192.0.2.7 --goal-loss 0.5%           at most 0.5 % lost (PDR)
  linerate sweep --lab --quick --fault rate=300M")]
pub(super) struct SweepArgs {
    /// First rate
    #[arg(long, value_name = "RATE", default_value = "50M", value_parser = values::rate)]
    pub(super) from: u64,
    /// Last rate
    #[arg(long, value_name = "RATE", default_value = "1000M", value_parser = values::rate)]
    pub(super) to: u64,
    /// Take a tenth of the time: -t 500ms and --step 200M, unless they are given
    #[arg(long)]
    pub(super) quick: bool,
    /// Difference between two rates
    #[arg(long, value_name = "RATE", default_value = "50M", default_value_if("quick", "true", "200M"), value_parser = values::rate)]
    pub(super) step: u64,
    /// Duration of each rate and direction
    #[arg(short = 't', long, value_name = "TIME", default_value = "2", default_value_if("quick", "true", "500ms"), value_parser = values::duration)]
    pub(super) time: u64,
    /// Only down, from HOST to this host [default: both directions, one after the other]
    #[arg(short = 'R', long)]
    pub(super) reverse: bool,
    /// Both directions at once
    #[arg(long, conflicts_with = "reverse")]
    pub(super) bidir: bool,
    /// UDP payload, 16 … 65507 bytes [default: the control connection's MSS]
    #[arg(short = 'l', long, value_name = "BYTES", value_parser = values::udp_length)]
    pub(super) length: Option<u32>,
    #[command(flatten)]
    pub(super) search: SearchFlags,
    #[command(flatten)]
    pub(super) server: ServerFlags,
}

/// Check what works on this machine, and how to fix what does not
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate doctor
  linerate doctor --json > doctor.json")]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    pub(super) document: DocumentFlags,
}

/// Print shell completions
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate completions bash > ~/.local/share/bash-completion/completions/linerate
  linerate completions zsh > ~/.zfunc/_linerate
  linerate completions fish > ~/.config/fish/completions/linerate.fish")]
pub(super) struct CompletionsArgs {
    /// bash, zsh or fish
    #[arg(value_parser = shell)]
    pub(super) shell: Shell,
}

/// Print or write the manual pages
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate man | man -l -
  linerate man check | man -l -
  linerate man --dir ~/.local/share/man/man1")]
pub(super) struct ManArgs {
    /// Command whose page is printed [default: linerate]
    pub(super) command: Option<String>,
    /// Write all pages to this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(super) dir: Option<std::path::PathBuf>,
}

fn shell(text: &str) -> Result<Shell, String> {
    match text {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        _ => Err("expected bash, zsh or fish".to_owned()),
    }
}

fn long_version() -> String {
    format!(
        "{}\ntarget: {}-{}\nschema: {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        linerate_model::output::SCHEMA,
    )
}

const EXAMPLES: &str = "Examples:
  linerate check --lab             try it: two hosts created here, no root needed
  linerate serve                   on one machine …
  linerate check 192.0.2.7         … and on the other: what limits each direction
  linerate 192.0.2.7               the same: HOST alone is `check HOST`
  linerate udp 192.0.2.7 -b 500M   one test, with iperf3's options
  linerate -s                      as with iperf3: `linerate serve`
  linerate -c 192.0.2.7 -u -P4     as with iperf3: `linerate udp …` (docs/iperf3.md)";

pub(super) const EXIT_STATUS: &str = "Exit status:
  0 measured, every expectation met    1 an expectation failed, or nic-check found something wrong
  2 wrong command line                 3 could not measure
  4 measured but not valid             130 interrupted";
