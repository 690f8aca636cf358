// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of `linerate regs`.

use clap::Args;

use super::values;

/// Decode the registers of a MAC or PHY: of an interface, or pasted values
///
/// Of an interface, the driver is asked first (what `ethtool -d` prints), then the PHY. With
/// `--map`, or for a value whose name or address tells which chip it is of, values are decoded
/// that somebody else read: `NAME=0xVALUE` or `NAME:0xADDRESS =0xVALUE`, as words, in a file, or
/// on standard input. Nothing is ever written to a register.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate regs eth0                               every register that the driver and the PHY tell
  linerate regs eth0 RCR OPD                       two of them
  linerate regs --map nxp-enet RCR=0x05ee0264      a value that somebody pasted
  linerate regs --map nxp-enet dump.txt            all values in a text, prose passed over
  linerate regs --map nxp-enet                     what the map knows")]
pub(in crate::cli) struct RegsArgs {
    /// IFACE and register names; or NAME=VALUE, text files, `-` (standard input)
    #[arg(value_name = "IFACE|NAME=VALUE|FILE")]
    pub(in crate::cli) words: Vec<String>,
    /// Map to decode with: a name, or a TOML file [default: told by the name or address]
    #[arg(long)]
    pub(in crate::cli) map: Option<String>,
    /// Speed of the link, for times of pause [default: the interface's; pasted: 1G]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub(in crate::cli) speed: Option<u64>,
    /// Also read from the device's memory what the driver does not tell; only registers that
    /// reading does not change, root only
    #[arg(long, conflicts_with = "map")]
    pub(in crate::cli) device_memory: bool,
    /// One JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J')]
    pub(in crate::cli) json: bool,
    /// Only ASCII characters
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
}
