// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate regs`.

use clap::Args;

use super::values;

/// Decode registers of a MAC or PHY, read from an interface or pasted
///
/// For an interface, reads the driver's register dump (`ethtool -d`), then the PHY. With `--map`, or
/// where a name or address identifies the chip, decodes values read elsewhere: `NAME=0xVALUE` or
/// `NAME:0xADDRESS =0xVALUE`, as arguments, in a file, or on standard input. Never writes a register.
#[derive(Debug, Args)]
#[command(before_long_help = "Examples:
  linerate regs eth0                               every register of the driver and the PHY
  linerate regs eth0 RCR OPD                       two of them
  linerate regs --map nxp-enet RCR=0x05ee0264      a pasted value
  linerate regs --map nxp-enet dump.txt            all values in a text; prose is ignored
  linerate regs --map nxp-enet                     the registers of the map")]
pub(in crate::cli) struct RegsArgs {
    /// IFACE and register names; or NAME=VALUE, text files, `-` (standard input)
    #[arg(value_name = "IFACE|NAME=VALUE|FILE")]
    pub(in crate::cli) words: Vec<String>,
    /// Map to decode with: a name, or a TOML file [default: from the name or address]
    #[arg(long)]
    pub(in crate::cli) map: Option<String>,
    /// Link speed, to convert pause times [default: the interface's; pasted: 1G]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub(in crate::cli) speed: Option<u64>,
    /// Also read registers that the driver does not dump, from the device's memory (root; only
    /// registers without read side effects)
    #[arg(long, conflicts_with = "map")]
    pub(in crate::cli) device_memory: bool,
    /// Print one JSON document
    #[arg(short = 'j', long, visible_short_alias = 'J')]
    pub(in crate::cli) json: bool,
    /// Print only ASCII characters
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
}
