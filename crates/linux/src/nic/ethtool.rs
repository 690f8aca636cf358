// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of `SIOCETHTOOL` that every driver since Linux 2.6 answers: driver, speed, statistics.
#![expect(unsafe_code, reason = "ioctls with a pointer in them")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType};

use super::malformed;

/// The driver's name (`ethtool -i`): `veth`, `igb`, `fec`…
///
/// # Errors
/// `ENODEV` without such an interface, `EOPNOTSUPP` where the driver has no ethtool (the loopback).
pub fn driver(interface: &str) -> io::Result<String> {
    // struct ethtool_drvinfo: cmd, driver[32], version[32], fw_version[32], bus_info[32], …
    let mut info = command(ETHTOOL_GDRVINFO, DRVINFO_BYTES);
    exchange(interface, &mut info)?;
    Ok(text(&info[4..36]))
}

/// The link speed in bit/s; `None` while the link is down or where there is no such thing.
///
/// # Errors
/// As [`driver`].
pub fn speed_bits_per_second(interface: &str) -> io::Result<Option<u64>> {
    let megabits = settings_speed(interface).or_else(|_| old_speed(interface))?;
    let known = megabits != 0 && megabits != SPEED_UNKNOWN && megabits != SPEED_UNKNOWN_16;
    Ok(known.then(|| u64::from(megabits) * 1_000_000))
}

/// All of `ethtool -S`, names and values as the driver gives them.
///
/// # Errors
/// As [`driver`]; `EOPNOTSUPP` for a driver without statistics.
pub fn ethtool_stats(interface: &str) -> io::Result<Vec<(String, u64)>> {
    let count = stats_count(interface)?;
    let mut names = command(ETHTOOL_GSTRINGS, 12 + count * STRING_BYTES);
    put(&mut names, 4, ETH_SS_STATS);
    put(&mut names, 8, count as u32);
    exchange(interface, &mut names)?;
    let mut values = command(ETHTOOL_GSTATS, 8 + count * 8);
    put(&mut values, 4, count as u32);
    exchange(interface, &mut values)?;
    // The driver may have changed its mind in between: pair what both answered.
    let count = count
        .min(get(&names, 8)? as usize)
        .min(get(&values, 4)? as usize);
    let names = names[12..].chunks_exact(STRING_BYTES).map(text);
    let values = values[8..]
        .chunks_exact(8)
        .map(|value| value.try_into().map_or(0, u64::from_ne_bytes));
    Ok(names
        .zip(values)
        .take(count)
        .filter(|(name, _)| !name.is_empty())
        .collect())
}

/// `ETHTOOL_GLINKSETTINGS` (Linux 4.6): the first call answers how long its bit maps are, negated.
fn settings_speed(interface: &str) -> io::Result<u32> {
    let mut request = command(ETHTOOL_GLINKSETTINGS, LINKSETTINGS_BYTES);
    exchange(interface, &mut request)?;
    let words = (request[LINK_MODE_WORDS] as i8).unsigned_abs();
    let mut request = command(
        ETHTOOL_GLINKSETTINGS,
        LINKSETTINGS_BYTES + 3 * 4 * usize::from(words),
    );
    request[LINK_MODE_WORDS] = words;
    exchange(interface, &mut request)?;
    get(&request, 4)
}

/// `ETHTOOL_GSET`: speed in two 16-bit halves.
fn old_speed(interface: &str) -> io::Result<u32> {
    let mut request = command(ETHTOOL_GSET, 44);
    exchange(interface, &mut request)?;
    let half = |at: usize| u32::from(u16::from_ne_bytes([request[at], request[at + 1]]));
    // struct ethtool_cmd: cmd, supported, advertising, speed, …, speed_hi.
    Ok(half(12) | half(28) << 16)
}

/// `ETHTOOL_GSSET_INFO`, else (before 2.6.34) the count of `ETHTOOL_GDRVINFO`; bounded against a driver gone wild.
fn stats_count(interface: &str) -> io::Result<usize> {
    // struct ethtool_sset_info: cmd, reserved, sset_mask (64 bits), data[].
    let mut request = command(ETHTOOL_GSSET_INFO, 24);
    request[8..16].copy_from_slice(&(1u64 << ETH_SS_STATS).to_ne_bytes());
    let count = match exchange(interface, &mut request) {
        Ok(()) if request[8..16] != [0; 8] => get(&request, 16)?,
        _ => {
            let mut info = command(ETHTOOL_GDRVINFO, DRVINFO_BYTES);
            exchange(interface, &mut info)?;
            get(&info, DRVINFO_N_STATS)?
        }
    };
    match usize::try_from(count) {
        Ok(0) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Ok(count) if count <= MOST_STATS => Ok(count),
        _ => Err(malformed()),
    }
}

/// A request of `bytes`, its first word the command.
fn command(command: u32, bytes: usize) -> Vec<u8> {
    let mut request = vec![0; bytes];
    put(&mut request, 0, command);
    request
}

fn put(request: &mut [u8], at: usize, value: u32) {
    request[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

fn get(request: &[u8], at: usize) -> io::Result<u32> {
    let bytes = request.get(at..at + 4).ok_or_else(malformed)?;
    Ok(u32::from_ne_bytes(
        bytes.try_into().map_err(|_| malformed())?,
    ))
}

/// Up to the first NUL.
fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// One `SIOCETHTOOL`. The commands used here write no more than the sizes that their callers allocate.
fn exchange(interface: &str, request: &mut [u8]) -> io::Result<()> {
    let socket: OwnedFd = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut name = [0; libc::IFNAMSIZ];
    if interface.len() >= name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    let data = request.as_mut_ptr().cast();
    let mut call = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data },
    };
    // SAFETY: `call` and the request that it points to outlive the call; the kernel writes what the command's
    // structure holds for the counts in the request, which is the length its caller allocated.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut call) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// include/uapi/linux/ethtool.h
const ETHTOOL_GSET: u32 = 0x01;
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
const ETH_SS_STATS: u32 = 1;
const STRING_BYTES: usize = 32;
/// cmd, driver, version, fw_version, bus_info, erom_version, reserved2 (12), then five counts.
const DRVINFO_BYTES: usize = 196;
const DRVINFO_N_STATS: usize = 180;
/// cmd, speed, then bytes; `link_mode_masks_nwords` the eighth of them.
const LINKSETTINGS_BYTES: usize = 48;
const LINK_MODE_WORDS: usize = 15;
const SPEED_UNKNOWN: u32 = u32::MAX;
const SPEED_UNKNOWN_16: u32 = 0xffff;
const MOST_STATS: usize = 65_536;
