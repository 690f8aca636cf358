// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate forward`.

use std::path::PathBuf;

use clap::Args;

use super::OutputFlags;
use crate::cli::values;
use crate::cli::values::device::DevicePlace;
use crate::cli::values::forward::{Gateways, Sizes, gateways, load};
use crate::cli::values::goal::GoalWord;
use linerate_forward::Procedure;
use linerate_lab::dut::{DeviceFault, DeviceKind};

/// Measure a device under test (DUT): the highest rate it forwards, for each frame size
///
/// Sends frames from port A through the DUT to port B and identifies each by a signature. Searches
/// for each frame size's highest rate without loss (RFC 9971; RFC 2544's throughput is one of the
/// goals). Connect the ports to an isolated network only: the DUT's addresses are 198.18.1.1 and
/// 198.19.1.1 (IPv6: 2001:2:0:1::1, 2001:2:0:8001::1), and the tester answers ARP and ND for
/// 198.18.0.0/15.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate forward --lab route --quick            try it: a router created here, no root needed
  linerate forward eth1 eth2                      a DUT between these two ports
  linerate forward eth1 eth2 --bidirectional --flows 5
  linerate forward eth1 eth2 --sizes 64,1518 --goal ndr --profile strict
  linerate forward eth1 eth2 --device ssh:root@router    with the DUT's own counters
  linerate forward eth1 eth2 --sizes imix --profile quick --tests loss-curve,back-to-back,latency
  linerate forward --lab bridge --vlan 7 --json")]
pub(in crate::cli) struct ForwardArgs {
    /// The two ports of this machine that are connected to the DUT
    #[arg(num_args = 2, value_names = ["PORT_A", "PORT_B"], required_unless_present = "lab")]
    pub(in crate::cli) ports: Vec<String>,
    /// Measure a DUT created on this machine, without root: bridge, route, flowtable, user-route
    #[arg(
        long,
        value_name = "KIND",
        conflicts_with = "ports",
        help_heading = "Lab"
    )]
    pub(in crate::cli) lab: Option<DeviceKind>,
    /// Inject this fault into the lab's DUT, NAME[=VALUE] (repeatable; docs/forwarding.md has the list)
    #[arg(long, value_name = "FAULT", requires = "lab", help_heading = "Lab")]
    pub(in crate::cli) fault: Vec<DeviceFault>,
    /// Frame sizes with FCS, such as 64,512,1518; imix, a mix 7:64,4:570,1:1518, or RFC 6985's imix:aaafg
    #[arg(long, value_name = "LIST", default_value_t)]
    pub(in crate::cli) sizes: Sizes,
    /// Number of flows; they differ in source port
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(in crate::cli) flows: u32,
    /// Also spread the flows over 190 networks on each side; the DUT needs routes to them (198.18.0.0/16, 198.19.0.0/16)
    #[arg(long)]
    pub(in crate::cli) networks: bool,
    /// Tag every frame, 1 … 4094
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u16).range(1..=4094))]
    pub(in crate::cli) vlan: Option<u16>,
    /// IPv6 frames (84 bytes or more) [default: IPv4]
    #[arg(short = '6', long)]
    pub(in crate::cli) version6: bool,
    /// After one direction alone, measure both at once
    #[arg(long, visible_alias = "bidir")]
    pub(in crate::cli) bidirectional: bool,
    /// From port B to port A
    #[arg(short = 'R', long)]
    pub(in crate::cli) reverse: bool,
    /// Same as --profile quick
    #[arg(long, conflicts_with = "profile")]
    pub(in crate::cli) quick: bool,
    /// Durations and goals: strict (those of RFC 2544), lab, quick
    #[arg(long, value_name = "NAME", default_value = "lab", default_value_if("quick", "true", "quick"), value_parser = ["strict", "lab", "quick"])]
    pub(in crate::cli) profile: String,
    /// Length of the final trials [default: the profile's]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(in crate::cli) trial: Option<u64>,
    /// What to measure: throughput, loss-curve, back-to-back, latency, recovery, reset [default: throughput; with lab and strict also loss-curve and back-to-back]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(in crate::cli) tests: Vec<Procedure>,
    /// Command that resets the DUT, for --tests reset [default: a prompt to reset it by hand]
    #[arg(long, value_name = "COMMAND")]
    pub(in crate::cli) reset_command: Option<String>,
    /// How long to observe a reset [default: the profile's]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(in crate::cli) reset_time: Option<u64>,
    /// What to search for: ndr (no loss), pdr (0.5 %), loss=RATIO, rfc2544, tst009; followed by ,exceed= ,trial= ,sum= ,width= if needed (repeatable) [default: the profile's]
    #[arg(long, value_name = "GOAL")]
    pub(in crate::cli) goal: Vec<GoalWord>,
    /// Maximum offered load: 100kpps, 50% of the line rate, 1G (L1)
    #[arg(long, value_name = "RATE", value_parser = load)]
    pub(in crate::cli) max_load: Option<linerate_forward::MaxLoad>,
    /// End unfinished searches after this time; their results are marked
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(in crate::cli) time_limit: Option<u64>,
    /// Backend for sending and receiving [default: the fastest that works]
    #[arg(long, value_name = "NAME", value_parser = ["af_xdp_zero_copy", "af_xdp_copy", "af_packet_ring", "af_packet_mmsg"])]
    pub(in crate::cli) backend: Option<String>,
    /// The DUT is a router with these addresses, A's side first: 192.168.7.1/24,10.0.7.1/24; the tester is the second host of each network, or HOST in ADDRESS/BITS@HOST [default: 198.18.1.1,198.19.1.1 if they answer]
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "", value_parser = gateways)]
    pub(in crate::cli) routed: Option<Gateways>,
    /// The DUT is a bridge [default: if it does not answer as a router]
    #[arg(long, conflicts_with = "routed")]
    pub(in crate::cli) bridged: bool,
    /// Measure although the ports have a default route or other addresses (RFC 6815 forbids it on networks in use)
    #[arg(long)]
    pub(in crate::cli) i_own_this_network: bool,
    /// Read the DUT's own counters: HOST[:PORT] of a `linerate serve` there, or ssh:USER@HOST
    #[arg(long, value_name = "WHERE", conflicts_with_all = ["lab", "device_command"], help_heading = "Device")]
    pub(in crate::cli) device: Option<DevicePlace>,
    /// Read the DUT's counters through this command, which runs `linerate agent --stdio` there
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with = "lab",
        help_heading = "Device"
    )]
    pub(in crate::cli) device_command: Option<String>,
    /// Token file of the DUT's server, for its full counters and settings [default: $LINERATE_TOKEN_FILE]
    #[arg(
        long,
        value_name = "FILE",
        requires = "device",
        help_heading = "Device"
    )]
    pub(in crate::cli) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: OutputFlags,
}
