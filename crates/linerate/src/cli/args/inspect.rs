// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate inspect`.

use std::path::PathBuf;

use clap::Args;

use super::ColorChoice;

/// Show how this host's network is set up and what looks wrong, without sending a packet
///
/// Link, pause, rings, coalescing, offloads, queues, interrupts, queueing disciplines, buffers, TCP
/// memory, frequencies, PCI, kernel: what could be read, on one page.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate inspect
  linerate inspect eth0
  linerate inspect eth0 --facts --json > eth0.json")]
pub(in crate::cli) struct InspectArgs {
    /// Only this interface [default: all that are up, but the loopback]
    pub(in crate::cli) interface: Option<String>,
    /// Also print every fact
    #[arg(long)]
    pub(in crate::cli) facts: bool,
    /// Rules of your own, *.toml; one of the same id replaces ours
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Option<PathBuf>,
    /// One JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J')]
    pub(in crate::cli) json: bool,
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(in crate::cli) color: ColorChoice,
    /// Only ASCII characters
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
}
