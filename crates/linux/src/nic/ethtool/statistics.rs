// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -S`: the driver's own counters. Names are read once, values each time.

use std::io;

use super::request::{Card as _, Ethtool, command, get, put};
use super::strings;

/// The statistics of one interface, read again and again.
#[derive(Debug)]
pub(crate) struct Statistics {
    names: Vec<String>,
    values: Vec<u8>,
}

impl Statistics {
    /// Asks for the names.
    ///
    /// # Errors
    /// `EOPNOTSUPP` for a driver without statistics.
    pub(crate) fn of(ethtool: &Ethtool) -> io::Result<Self> {
        let count = count(ethtool)?;
        Ok(Self {
            names: strings::names(ethtool, ETH_SS_STATS, count)?,
            values: command(ETHTOOL_GSTATS, 8 + count * 8),
        })
    }

    /// Reads the values. If the number of counters has changed, such as with the channels, the names are read again.
    ///
    /// # Errors
    /// Those of the driver.
    pub(crate) fn read(&mut self, ethtool: &Ethtool) -> io::Result<Vec<(String, u64)>> {
        if count(ethtool)? != self.names.len() {
            *self = Self::of(ethtool)?;
        }
        put(&mut self.values, 4, self.names.len() as u32);
        ethtool.exchange(&mut self.values)?;
        let count = self.names.len().min(get(&self.values, 4)? as usize);
        let values = self.values[8..]
            .chunks_exact(8)
            .map(|value| value.try_into().map_or(0, u64::from_ne_bytes));
        let named = self.names.iter().cloned().zip(values).take(count);
        Ok(named.filter(|(name, _)| !name.is_empty()).collect())
    }
}

/// `ETHTOOL_GSSET_INFO`, else (before 2.6.34) the count of `ETHTOOL_GDRVINFO`.
fn count(ethtool: &Ethtool) -> io::Result<usize> {
    strings::count(ethtool, ETH_SS_STATS).or_else(|_| {
        let info = ethtool.ask(super::ETHTOOL_GDRVINFO, super::DRVINFO_BYTES)?;
        strings::bounded(get(&info, DRVINFO_N_STATS)?)
    })
}

const ETHTOOL_GSTATS: u32 = 0x1d;
const ETH_SS_STATS: u32 = 1;
const DRVINFO_N_STATS: usize = 180;
