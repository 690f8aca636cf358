// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate agent`.

use clap::Args;

/// Report this host's kernel counters to the tester that measures it
///
/// Answers requests on standard input with samples on standard output: processors, interrupts, queues,
/// drops and how the host is set up. Reads and never changes anything; ends when standard input does.
/// `linerate forward --device ssh:…` starts it.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate forward eth1 eth2 --device ssh:root@router
  linerate forward eth1 eth2 --device-command 'ssh -p 2222 router linerate agent --stdio'")]
pub(in crate::cli) struct AgentArgs {
    /// Over standard input and output
    #[arg(long, required = true)]
    pub(in crate::cli) stdio: bool,
}
