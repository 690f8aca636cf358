// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool --set-eee X eee`: energy-efficient Ethernet (IEEE 802.3 78), read and switched.

use std::io;

use super::super::request::{Card, get, put};

/// Whether it is enabled, whatever the partner can.
///
/// # Errors
/// EOPNOTSUPP if the driver or the PHY cannot.
pub fn read(card: &dyn Card) -> io::Result<bool> {
    let words = asked(card)?;
    Ok(get(&words, ENABLED)? != 0)
}

/// Switches it, and leaves its modes and times as they are. The link negotiates again.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, EOPNOTSUPP if the driver or the PHY cannot.
pub fn write(card: &dyn Card, on: bool) -> io::Result<()> {
    let mut words = asked(card)?;
    put(&mut words, 0, ETHTOOL_SEEE);
    put(&mut words, ENABLED, on.into());
    card.exchange(&mut words)
}

/// struct ethtool_eee: cmd, supported, advertised, lp_advertised, eee_active, eee_enabled, tx_lpi_enabled, tx_lpi_timer,
/// reserved.
fn asked(card: &dyn Card) -> io::Result<Vec<u8>> {
    let words = card.ask(ETHTOOL_GEEE, BYTES)?;
    match get(&words, SUPPORTED)? {
        0 => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        _ => Ok(words),
    }
}

const ETHTOOL_GEEE: u32 = 0x44;
const ETHTOOL_SEEE: u32 = 0x45;
const BYTES: usize = 40;
const SUPPORTED: usize = 4;
const ENABLED: usize = 20;
