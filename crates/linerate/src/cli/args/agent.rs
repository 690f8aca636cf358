// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate agent`.

use clap::Args;

/// Report this host's kernel counters to the tester that measures it
///
/// Answers requests on standard input with samples on standard output: processors, interrupts, queues,
/// drops and settings of the host. It only reads, changes nothing, and exits at the end of standard input.
/// `linerate forward --device ssh:…` starts it.
///
/// With --changes it changes settings instead, as `linerate tune` on another host wants it. It undoes what is
/// not kept when standard input ends, when it is asked to end, when it is killed, or when the other host is
/// silent. It runs no command.
///
/// With --frames it is the other end of `linerate nic-check`: it shows the frames between its interface and that of
/// the other host, and sends frames to it. It needs CAP_NET_RAW, and changes nothing.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate forward eth1 eth2 --device ssh:root@router
  linerate forward eth1 eth2 --device-command 'ssh -p 2222 router linerate agent --stdio'")]
pub(in crate::cli) struct AgentArgs {
    /// Use standard input and output
    #[arg(long, required = true)]
    pub(in crate::cli) stdio: bool,
    /// Change settings as the other host wants it, and undo them; without it, only read
    #[arg(long)]
    pub(in crate::cli) changes: bool,
    /// Show and send frames, as `linerate nic-check` on the other host wants it
    #[arg(long, conflicts_with_all = ["changes", "warden"])]
    pub(in crate::cli) frames: bool,
    /// Undo the changes of the process at standard input when it ends
    #[arg(long, hide = true, conflicts_with = "changes")]
    pub(in crate::cli) warden: bool,
}
