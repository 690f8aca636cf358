// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate inspect`.

use std::path::PathBuf;

use clap::Args;

use super::DocumentFlags;

/// Show this host's network settings and what looks wrong, without sending a packet
///
/// Prints the interfaces with their addresses, and what looks wrong. With -v, prints all that can be
/// read about link, pause, rings, coalescing, offloads, queues, interrupts, qdiscs, buffers, TCP memory,
/// CPU frequencies, PCI, PHY, module and kernel. A module's readings need root (CAP_NET_ADMIN).
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate inspect
  linerate inspect eth0 -v
  linerate inspect eth0 --facts --json > eth0.json")]
pub(in crate::cli) struct InspectArgs {
    /// Only this interface [default: all that are up, except loopback]
    pub(in crate::cli) interface: Option<String>,
    /// Let the PHY test the cable first: the link is down for some seconds; with tdr it measures the reflections along
    /// each pair
    #[arg(long, value_name = "KIND", requires = "interface", num_args = 0..=1, require_equals = true, default_missing_value = "pairs", value_parser = ["pairs", "tdr"])]
    pub(in crate::cli) cable_test: Option<String>,
    /// Allow that for the interface that carries this session
    #[arg(long, requires = "cable_test")]
    pub(in crate::cli) allow_management: bool,
    /// Print each setting, the evidence, and what cannot be decided
    #[arg(short = 'v', long)]
    pub(in crate::cli) verbose: bool,
    /// Also print every fact; implies -v
    #[arg(long)]
    pub(in crate::cli) facts: bool,
    /// Additional rules, *.toml; a rule with the id of a built-in one replaces it
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
}
