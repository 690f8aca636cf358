// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -n X rx-flow-hash udp4`: the fields by which the card chooses a packet's queue.

use std::io;

use super::super::request::{Card, command, get, put};
use super::{Values, pair};

/// The hash fields of TCP and UDP flows; what the card does not report is absent.
///
/// # Errors
/// `EOPNOTSUPP` if the driver reports none.
pub(super) fn fields(card: &dyn Card) -> io::Result<Values> {
    let fields = KINDS.map(|(name, kind)| Ok(pair(name, words(of(card, kind)?))));
    let values: Values = fields.into_iter().filter_map(io::Result::ok).collect();
    match values.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        false => Ok(values),
    }
}

/// The fields of one kind of flow in the letters of `ethtool -N … rx-flow-hash`: `sdfn`.
///
/// # Errors
/// EOPNOTSUPP if the driver does not report them; `Unsupported` where no letters say what is in force.
pub fn read(card: &dyn Card, flow: &str) -> io::Result<String> {
    let fields = of(card, kind(flow)?)?;
    let known = LETTERS.iter().filter(|(bit, _)| fields >> bit & 1 == 1);
    let letters: String = known.clone().map(|(_, letter)| letter).collect();
    let said: u64 = known.map(|(bit, _)| 1_u64 << bit).sum();
    match said == fields && fields != 0 {
        true => Ok(letters),
        false => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("no letters for the hash fields {fields:#x}"),
        )),
    }
}

/// Sets the fields of one kind of flow.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, EINVAL for fields that the card does not hash.
pub fn write(card: &dyn Card, flow: &str, letters: &str) -> io::Result<()> {
    let bit = |letter| {
        let known = LETTERS.iter().find(|(_, known)| *known == letter);
        known.map(|(bit, _)| 1_u64 << bit)
    };
    let bits: Option<Vec<u64>> = letters.chars().map(bit).collect();
    let fields = bits
        .ok_or_else(|| unknown(letters))?
        .into_iter()
        .fold(0, |all, bit| all | bit);
    let mut request = command(ETHTOOL_SRXFH, RXNFC_BYTES);
    put(&mut request, 4, kind(flow)?);
    request[8..16].copy_from_slice(&fields.to_ne_bytes());
    card.exchange(&mut request)
}

/// Whether this is a kind of flow.
#[must_use]
pub fn is_flow(name: &str) -> bool {
    kind(name).is_ok()
}

fn kind(flow: &str) -> io::Result<u32> {
    let found = KINDS.iter().find(|(name, _)| *name == flow);
    found.map(|(_, kind)| *kind).ok_or_else(|| unknown(flow))
}

fn unknown(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("no `{what}`"))
}

/// struct ethtool_rxnfc: cmd, flow_type, data (64 bits: the fields), …
fn of(card: &dyn Card, kind: u32) -> io::Result<u64> {
    let mut request = command(ETHTOOL_GRXFH, RXNFC_BYTES);
    put(&mut request, 4, kind);
    card.exchange(&mut request)?;
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
const ETHTOOL_SRXFH: u32 = 0x2a;
/// RXH_… by bit, in the letters of ethtool(8).
const LETTERS: [(u32, char); 8] = [
    (1, 'm'),
    (2, 'v'),
    (3, 't'),
    (4, 's'),
    (5, 'd'),
    (6, 'f'),
    (7, 'n'),
    (31, 'r'),
];
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
    use super::super::super::request::Ethtool;
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
