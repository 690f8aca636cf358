// SPDX-License-Identifier: MIT OR Apache-2.0
//! The string sets of a driver: the names of what it counts, of its features …

use std::io;

use super::super::malformed;
use super::request::{Card, command, get, put, text};

/// The names of the set, in order.
pub(super) fn names(card: &dyn Card, set: u32, count: usize) -> io::Result<Vec<String>> {
    let mut names = command(ETHTOOL_GSTRINGS, 12 + count * STRING_BYTES);
    put(&mut names, 4, set);
    put(&mut names, 8, count as u32);
    card.exchange(&mut names)?;
    // The driver may report another number by now.
    let count = count.min(get(&names, 8)? as usize);
    Ok(names[12..]
        .chunks_exact(STRING_BYTES)
        .take(count)
        .map(text)
        .collect())
}

/// How many strings the set has (`ETHTOOL_GSSET_INFO`, Linux 2.6.34); bounded against a driver gone wild.
///
/// # Errors
/// `EOPNOTSUPP` if the driver does not have the set.
pub(super) fn count(card: &dyn Card, set: u32) -> io::Result<usize> {
    // struct ethtool_sset_info: cmd, reserved, sset_mask (64 bits), data[].
    let mut request = command(ETHTOOL_GSSET_INFO, 24);
    request[8..16].copy_from_slice(&(1_u64 << set).to_ne_bytes());
    card.exchange(&mut request)?;
    if request[8..16] == [0; 8] {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    bounded(get(&request, 16)?)
}

/// A driver's count, if it is plausible.
pub(super) fn bounded(count: u32) -> io::Result<usize> {
    match usize::try_from(count) {
        Ok(0) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Ok(count) if count <= MOST_STRINGS => Ok(count),
        _ => Err(malformed()),
    }
}

const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const STRING_BYTES: usize = 32;
const MOST_STRINGS: usize = 65_536;
