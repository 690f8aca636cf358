// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate dataplane`.

use clap::{Args, Subcommand, ValueEnum};

use super::DocumentFlags;
use crate::cli::values;

/// Forward between two interfaces of this host in one way, and undo it at the end
///
/// Sets up a bridge, routing or an XDP program, holds it until Ctrl-C, SIGTERM or -t, and restores every setting.
/// Each change is in the journal before it is made: after kill -9 a second process restores all, and after a crash of
/// the machine a reboot does; `linerate tune restore` restores what was left. Needs root (CAP_NET_ADMIN); `xdp` needs root
/// of the machine. `docs/dataplanes.md` describes what is changed.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate dataplane bridge eth1 eth2                  until Ctrl-C
  linerate dataplane route eth1 eth2 -t 60             for a minute; addresses and routes are yours
  linerate dataplane xdp eth1 eth2                     a wire between two ports
  linerate dataplane xdp --mode route eth1 eth2 --json
  linerate tune status                                 what is changed now
  linerate tune restore                                what a killed process left")]
pub(in crate::cli) struct DataplaneArgs {
    #[command(subcommand)]
    pub(in crate::cli) plane: DataplaneCommand,
}

/// A way of forwarding.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum DataplaneCommand {
    /// A bridge of the kernel with both interfaces as ports
    ///
    /// It has a name of its own, lr-br0. Spanning tree is off.
    #[command(disable_version_flag = true)]
    Bridge {
        #[command(flatten)]
        ports: DataplanePorts,
    },
    /// The kernel's routing, IPv4 and IPv6
    ///
    /// Only forwarding is switched on: addresses and routes are yours.
    #[command(disable_version_flag = true)]
    Route {
        #[command(flatten)]
        ports: DataplanePorts,
    },
    /// An XDP program on both interfaces, before the kernel's stack
    ///
    /// In the driver (native) where that works, else in the kernel (generic); which, and why, is printed. What the program
    /// does not understand passes to the kernel. Frames that it forwards skip firewall, taps and counters of IP.
    #[command(disable_version_flag = true)]
    Xdp {
        /// bridge: what arrives at one port leaves by the other; route: by the kernel's routes and neighbours
        #[arg(long, value_enum, value_name = "MODE", default_value_t)]
        mode: XdpMode,
        #[command(flatten)]
        ports: DataplanePorts,
    },
}

/// The interfaces, and for how long.
#[derive(Debug, Args)]
pub(in crate::cli) struct DataplanePorts {
    /// One interface
    #[arg(value_name = "IF1", value_parser = values::interface)]
    pub(in crate::cli) one: String,
    /// The other
    #[arg(value_name = "IF2", value_parser = values::interface)]
    pub(in crate::cli) other: String,
    /// End after this time [default: with Ctrl-C or SIGTERM]
    #[arg(short = 't', long, value_name = "TIME", value_parser = values::duration)]
    pub(in crate::cli) time: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) document: DocumentFlags,
}

/// How an XDP program forwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum XdpMode {
    #[default]
    Bridge,
    Route,
}

impl DataplaneCommand {
    /// The interfaces, and for how long.
    pub(in crate::cli) const fn ports(&self) -> &DataplanePorts {
        match self {
            Self::Bridge { ports } | Self::Route { ports } | Self::Xdp { ports, .. } => ports,
        }
    }
}
