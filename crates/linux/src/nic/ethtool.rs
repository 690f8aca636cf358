// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of `SIOCETHTOOL` that every driver since Linux 2.6 answers: driver, speed, statistics; and the
//! settings, in [`settings`].

pub mod cable;
mod family;
mod parameters;
pub mod physical;
pub(super) mod registers;
pub(crate) mod request;
pub mod settings;
mod statistics;
mod strings;
pub mod time_stamps;

use std::io;

pub use family::Family;
pub use parameters::Parameters;
pub use request::{Card, Ethtool};
use request::{command, get, text};
pub use settings::{energy, feature, flow_hash, receive_hash};
pub(crate) use statistics::Statistics;

/// The driver's name (`ethtool -i`): `veth`, `igb`, `fec`…
///
/// # Errors
/// `ENODEV` without such an interface, `EOPNOTSUPP` where the driver has no ethtool (the loopback).
pub fn driver(interface: &str) -> io::Result<String> {
    // struct ethtool_drvinfo: cmd, driver[32], version[32], fw_version[32], bus_info[32], …
    let info = Ethtool::of(interface)?.ask(ETHTOOL_GDRVINFO, DRVINFO_BYTES)?;
    Ok(text(&info[4..36]))
}

/// The address that the hardware has in its memory (`ethtool -P`); `None` where it has none.
///
/// # Errors
/// `ENODEV` without such an interface.
pub fn permanent_address(interface: &str) -> io::Result<Option<String>> {
    // struct ethtool_perm_addr: cmd, size, data.
    let mut answer = command(ETHTOOL_GPERMADDR, 8 + ADDRESS_BYTES);
    request::put(&mut answer, 4, ADDRESS_BYTES as u32);
    Ethtool::of(interface)?.exchange(&mut answer)?;
    let length = (get(&answer, 4)? as usize).min(ADDRESS_BYTES);
    let address = &answer[8..8 + length];
    let is_known = address.iter().any(|byte| *byte != 0);
    let digits: Vec<String> = address.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(is_known.then(|| digits.join(":")))
}

/// Its place on the bus (`ethtool -i`: `bus-info`); `None` for an interface that is on none.
///
/// # Errors
/// As [`driver`].
pub fn bus(interface: &str) -> io::Result<Option<String>> {
    let info = Ethtool::of(interface)?.ask(ETHTOOL_GDRVINFO, DRVINFO_BYTES)?;
    Ok(Some(text(&info[100..132])).filter(|place| !place.is_empty()))
}

/// The link speed in bit/s; `None` if the link is down or has no speed.
///
/// # Errors
/// As [`driver`].
pub fn speed_bits_per_second(interface: &str) -> io::Result<Option<u64>> {
    let link = settings::Link::read(&Ethtool::of(interface)?)?;
    Ok(link
        .megabits()
        .map(|megabits| u64::from(megabits) * 1_000_000))
}

/// The number of receive queues (`ethtool -l`), combined ones included.
///
/// # Errors
/// `ENODEV` without such an interface, `EOPNOTSUPP` if the driver does not report it.
pub(crate) fn receive_queues(interface: &str) -> io::Result<u32> {
    // struct ethtool_channels: cmd, four maxima, then the current numbers: receive, transmit, other, combined.
    let answer = Ethtool::of(interface)?.ask(ETHTOOL_GCHANNELS, 36)?;
    Ok(get(&answer, 20)? + get(&answer, 32)?)
}

/// All of `ethtool -S`, names and values as the driver gives them.
///
/// # Errors
/// As [`driver`]; `EOPNOTSUPP` for a driver without statistics.
pub fn ethtool_stats(interface: &str) -> io::Result<Vec<(String, u64)>> {
    let ethtool = Ethtool::of(interface)?;
    Statistics::of(&ethtool)?.read(&ethtool)
}

/// `ETHTOOL_GLINKSETTINGS` (Linux 4.6): the first call returns the negated length of its bit maps.
fn link_settings(card: &dyn Card) -> io::Result<Vec<u8>> {
    let request = card.ask(ETHTOOL_GLINKSETTINGS, LINKSETTINGS_BYTES)?;
    let words = (request[LINK_MODE_WORDS] as i8).unsigned_abs();
    let mut request = command(
        ETHTOOL_GLINKSETTINGS,
        LINKSETTINGS_BYTES + 3 * 4 * usize::from(words),
    );
    request[LINK_MODE_WORDS] = words;
    card.exchange(&mut request)?;
    Ok(request)
}

/// include/uapi/linux/ethtool.h
const ETHTOOL_GCHANNELS: u32 = 0x3c;
const ETHTOOL_GSET: u32 = 0x01;
const ETHTOOL_GPERMADDR: u32 = 0x20;
/// MAX_ADDR_LEN.
const ADDRESS_BYTES: usize = 32;
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
/// cmd, driver, version, fw_version, bus_info, erom_version, reserved2 (12), then five counts.
const DRVINFO_BYTES: usize = 196;
/// cmd, speed, then bytes; `link_mode_masks_nwords` the eighth of them.
const LINKSETTINGS_BYTES: usize = 48;
const LINK_MODE_WORDS: usize = 15;
