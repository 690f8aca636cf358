// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--lab`: measure between two hosts made on this machine.

use clap::Args;

use crate::cli::values;
use linerate_lab::{Fault, Topology};

/// `--lab` of a measuring command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lab")]
pub(in crate::cli) struct LabFlags {
    /// Measure between two hosts created on this machine, without root
    #[arg(long, conflicts_with = "host")]
    pub(in crate::cli) lab: bool,
    #[command(flatten)]
    pub(in crate::cli) shape: LabShape,
}

/// What the lab looks like.
#[derive(Debug, Args)]
pub(in crate::cli) struct LabShape {
    /// Inject this fault into the lab, NAME[=VALUE] (repeatable; `linerate lab --help` lists them)
    #[arg(long, value_name = "FAULT", requires = "lab")]
    pub(in crate::cli) fault: Vec<Fault>,
    /// What lies between the hosts: pair, bridge or route [default: pair]
    #[arg(long, value_name = "TOPOLOGY", requires = "lab")]
    pub(in crate::cli) topology: Option<Topology>,
    /// MTU of the lab's interfaces, 68 … 65535 bytes [default: 1500]
    #[arg(long, value_name = "BYTES", requires = "lab", value_parser = values::mtu)]
    pub(in crate::cli) mtu: Option<u32>,
}
