// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate nic-check`.

use std::net::IpAddr;

use clap::Args;

use super::OutputFlags;
use crate::cli::values;
use linerate_lab::Fault;

/// Check that the offloads of a network interface are right
///
/// Checks checksums of every short size and around each boundary, segmentation, merging, VLAN tags, the
/// MTU, counters, receive queues and time stamps. This host sends and receives through IFACE. HOST, at the other
/// end of the link, sees each frame as it came from the wire, and sends frames with good and bad checksums;
/// ssh starts an agent there. Both need CAP_NET_RAW. Without --toggle nothing is changed: the offloads are
/// checked as they are set.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate nic-check --lab                        two hosts on this machine, no root needed
  sudo linerate nic-check eth0 192.0.2.7 --remote root@192.0.2.7
  linerate nic-check eth0 192.0.2.7 --remote-command 'ssh -p 2222 root@dut linerate agent --stdio --frames'
  linerate nic-check --lab --fault nic-udp-zero   a simulated interface that sends a UDP checksum of 0
  linerate nic-check --lab --toggle --json        each offload on and off")]
pub(in crate::cli) struct NicCheckArgs {
    /// Interface of this host
    #[arg(value_name = "IFACE", required_unless_present = "lab", value_parser = values::interface)]
    pub(in crate::cli) interface: Option<String>,
    /// Address of the host at the other end of the link
    #[arg(required_unless_present = "lab", requires = "interface")]
    pub(in crate::cli) host: Option<IpAddr>,
    /// Reach HOST by `ssh SSH linerate agent --stdio --frames` [default: HOST]
    #[arg(long, value_name = "SSH", conflicts_with_all = ["lab", "remote_command"])]
    pub(in crate::cli) remote: Option<String>,
    /// Reach HOST by a command that runs `linerate agent --stdio --frames` there
    #[arg(long, value_name = "COMMAND", conflicts_with = "lab")]
    pub(in crate::cli) remote_command: Option<String>,
    /// Check with each offload on and off; what is changed is restored
    #[arg(long)]
    pub(in crate::cli) toggle: bool,
    /// Check the interface of a host created on this machine, without root
    #[arg(long, help_heading = "Lab", conflicts_with = "interface")]
    pub(in crate::cli) lab: bool,
    /// Inject this fault into the lab, NAME[=VALUE] (repeatable; `linerate lab --help` lists them)
    #[arg(long, help_heading = "Lab", value_name = "FAULT", requires = "lab")]
    #[arg(conflicts_with = "interface")]
    pub(in crate::cli) fault: Vec<Fault>,
    /// Connect the hosts of the lab by a veth, without a wire: what is sent cannot be judged
    #[arg(
        long,
        help_heading = "Lab",
        requires = "lab",
        conflicts_with = "interface"
    )]
    pub(in crate::cli) veth: bool,
    #[command(flatten)]
    pub(in crate::cli) output: OutputFlags,
}
