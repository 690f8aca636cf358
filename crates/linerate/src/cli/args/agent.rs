// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate agent`.

use clap::Args;

/// Report this host's kernel counters to the tester that measures it
///
/// Answers requests on standard input with samples on standard output: processors, interrupts, queues,
/// drops and settings of the host. It only reads, changes nothing, and exits at the end of standard input.
/// `linerate forward --device ssh:…` starts it.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate forward eth1 eth2 --device ssh:root@router
  linerate forward eth1 eth2 --device-command 'ssh -p 2222 router linerate agent --stdio'")]
pub(in crate::cli) struct AgentArgs {
    /// Use standard input and output
    #[arg(long, required = true)]
    pub(in crate::cli) stdio: bool,
}
