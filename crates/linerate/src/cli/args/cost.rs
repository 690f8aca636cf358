// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cost`: CPU time by packet and byte.

use clap::{Args, ValueEnum};

use super::ServerFlags;
use super::load::{Modes, udp_modes};
use crate::cli::values::{self, PacedRate};

/// Measure the CPU time that a packet and a byte cost each end
///
/// Sends datagrams, and TCP segments, of several sizes in both directions, over IPv4 and IPv6 where HOST has both.
/// Reports CPU time per packet and per KiB of payload at the sender and at the receiver, and the line time = a + b × bytes
/// through the sizes: is a full-size packet bound by packets or by bytes? The UDP rate is the same for all sizes, in
/// packets per second.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(before_long_help = "Examples:
  linerate cost 192.0.2.7                          HOST runs `linerate serve`
  linerate cost --lab --quick                      two hosts on this machine, no root needed
  linerate cost 192.0.2.7 --protocol udp -b 50kpps --sizes 64,1472
  linerate cost 192.0.2.7 -b 0 --mode gso/gro      unlimited, segmentation and coalescing
  linerate cost 192.0.2.7 -6 -t 5 --rounds 5 -o /tmp/driver-a")]
pub(in crate::cli) struct CostArgs {
    /// Take about 20 seconds instead of 2 minutes: 4 sizes, one round of 500 ms each, one IP version
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Payloads of a datagram in bytes; of a segment, as near as the MSS allows
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', value_parser = values::udp_length)]
    #[arg(
        default_value = "64,128,512,1024,1472",
        default_value_if("quick", "true", "64,256,1024,1472")
    )]
    pub(in crate::cli) sizes: Vec<u32>,
    /// Only this protocol [default: both]
    #[arg(long, value_name = "NAME", value_enum)]
    pub(in crate::cli) protocol: Option<CostProtocol>,
    /// Duration of each test
    #[arg(short = 't', long, value_name = "TIME", default_value = "1", default_value_if("quick", "true", "500ms"), value_parser = values::duration)]
    pub(in crate::cli) time: u64,
    /// How often each test is repeated; every other round in reverse order
    #[arg(long, value_name = "N", default_value = "2", default_value_if("quick", "true", "1"), value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(in crate::cli) rounds: u32,
    /// UDP rate of all sizes, such as 50kpps; bit/s are those of the largest; 0 = unlimited [default: half of what the largest reach]
    #[arg(short = 'b', long, value_name = "RATE", value_parser = values::paced_rate)]
    pub(in crate::cli) bitrate: Option<PacedRate>,
    /// How datagrams are sent (plain, mmsg, gso) and received (plain, mmsg, gro) [default: mmsg/mmsg]
    #[arg(long, value_name = "SEND[/RECEIVE]", value_parser = udp_modes)]
    pub(in crate::cli) mode: Option<Modes>,
    #[command(flatten)]
    pub(in crate::cli) server: ServerFlags,
}

/// `--protocol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum CostProtocol {
    Udp,
    Tcp,
}
