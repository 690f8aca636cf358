// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -n X rx-flow-hash udp4`: the fields by which the card chooses a packet's queue.

use std::io;

use super::super::request::{Ethtool, command, get, put};
use super::{Values, pair};

/// The hash fields of TCP and UDP flows; what the card does not report is absent.
///
/// # Errors
/// `EOPNOTSUPP` if the driver reports none.
pub(super) fn fields(ethtool: &Ethtool) -> io::Result<Values> {
    let fields = KINDS.map(|(name, kind)| Ok(pair(name, words(of(ethtool, kind)?))));
    let values: Values = fields.into_iter().filter_map(io::Result::ok).collect();
    match values.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        false => Ok(values),
    }
}

/// struct ethtool_rxnfc: cmd, flow_type, data (64 bits: the fields), …
fn of(ethtool: &Ethtool, kind: u32) -> io::Result<u64> {
    let mut request = command(ETHTOOL_GRXFH, RXNFC_BYTES);
    put(&mut request, 4, kind);
    ethtool.exchange(&mut request)?;
    // A 64-bit number in the machine's order, word by word.
    let words = [get(&request, 8)?, get(&request, 12)?].map(u32::to_ne_bytes);
    let bytes: [u8; 8] = words.concat().try_into().unwrap_or_default();
    Ok(u64::from_ne_bytes(bytes))
}

/// As ethtool prints them, a comma for each end of line.
fn words(fields: u64) -> String {
    let set = FIELDS.iter().filter(|(bit, _)| fields & (1 << bit) != 0);
    let names: Vec<&str> = set.map(|(_, name)| *name).collect();
    names.join(", ")
}

/// include/uapi/linux/ethtool.h
const ETHTOOL_GRXFH: u32 = 0x29;
const KINDS: [(&str, u32); 4] = [
    ("tcp4", 0x01),
    ("udp4", 0x02),
    ("tcp6", 0x05),
    ("udp6", 0x06),
];
const FIELDS: [(u32, &str); 7] = [
    (1, "L2DA"),
    (2, "VLAN tag"),
    (3, "L3 proto"),
    (4, "IP SA"),
    (5, "IP DA"),
    (6, "L4 bytes 0 & 1 [TCP/UDP src port]"),
    (7, "L4 bytes 2 & 3 [TCP/UDP dst port]"),
];
/// `struct ethtool_rxnfc` with its flow specification, generously.
const RXNFC_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_alone_and_with_ports() {
        assert_eq!(words(0x30), "IP SA, IP DA");
        assert!(words(0xf0).contains("L4 bytes 2 & 3"));
        assert_eq!(words(0), "");
    }

    #[test]
    fn the_loopback_has_no_hash() {
        let loopback = Ethtool::of("lo").unwrap();
        assert!(fields(&loopback).is_err());
    }
}
