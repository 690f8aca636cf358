// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register dumps of drivers: `ETHTOOL_GREGS`, as `ethtool -d`.

use std::io;

use super::request::{command, get, put};
use super::{Card as _, Ethtool};
use crate::nic::malformed;

/// A driver's registers, in a layout that only the driver knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterDump {
    /// The driver's version of the layout.
    pub version: u32,
    /// The dump as 32-bit words in native order; an incomplete last word is left out.
    pub words: Vec<u32>,
}

/// Reads the driver's register dump, which has no side effects.
///
/// # Errors
/// `EOPNOTSUPP` for a driver without a dump, `EPERM` without `CAP_NET_ADMIN`, `ENODEV` without
/// such an interface.
pub fn register_dump(interface: &str) -> io::Result<RegisterDump> {
    let ethtool = Ethtool::of(interface)?;
    let bytes = dump_bytes(&ethtool)?;
    // struct ethtool_regs: cmd, version, len, data[].
    let mut request = command(ETHTOOL_GREGS, HEADER_BYTES + bytes);
    put(
        &mut request,
        8,
        u32::try_from(bytes).map_err(|_| malformed())?,
    );
    ethtool.exchange(&mut request)?;
    let length = usize::try_from(get(&request, 8)?).map_err(|_| malformed())?;
    let words = request[HEADER_BYTES..][..length.min(bytes)].chunks_exact(4);
    Ok(RegisterDump {
        version: get(&request, 4)?,
        words: words
            .map(|word| word.try_into().map_or(0, u32::from_ne_bytes))
            .collect(),
    })
}

/// The length of the dump: the last word of `ETHTOOL_GDRVINFO`.
fn dump_bytes(ethtool: &Ethtool) -> io::Result<usize> {
    let info = ethtool.ask(ETHTOOL_GDRVINFO, DRVINFO_BYTES)?;
    match usize::try_from(get(&info, DRVINFO_REGDUMP_LEN)?) {
        Ok(0) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Ok(bytes) if bytes <= MOST_BYTES => Ok(bytes),
        _ => Err(malformed()),
    }
}

/// include/uapi/linux/ethtool.h
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GREGS: u32 = 0x04;
const HEADER_BYTES: usize = 12;
const DRVINFO_BYTES: usize = 196;
const DRVINFO_REGDUMP_LEN: usize = 192;
/// The longest dumps of drivers are some hundred KiB.
const MOST_BYTES: usize = 16 << 20;
