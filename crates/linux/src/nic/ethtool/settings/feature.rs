// SPDX-License-Identifier: MIT OR Apache-2.0
//! One feature of `ethtool -k`, read and switched.

use std::io;

use super::super::request::{Card, command, put};
use super::features::{Bit, bits};

/// Whether a feature could have this name: net/ethtool/common.c has small letters, digits, dashes and underscores only.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_letter =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    !name.is_empty() && name.bytes().all(is_letter)
}

/// `on` or `off`. Of a group (`tcp-segmentation-offload`) `off` if none is on, and `on without NAME…` if some are not that
/// could be.
///
/// # Errors
/// `NotFound` if this interface has none of that name.
pub fn read(card: &dyn Card, name: &str) -> io::Result<String> {
    let (bits, _) = known(card, name)?;
    if !bits.iter().any(|bit| bit.is_on) {
        return Ok("off".to_owned());
    }
    let off = bits.iter().filter(|bit| !bit.is_on && !bit.is_fixed);
    let off: Vec<&str> = off.map(|bit| bit.name.as_str()).collect();
    Ok(match off.is_empty() {
        true => "on".to_owned(),
        false => format!("{ALL_BUT}{}", off.join(" ")),
    })
}

/// The value of a feature that the driver does not let be switched; nothing if it can be.
///
/// # Errors
/// As [`read`].
pub fn fixed(card: &dyn Card, name: &str) -> io::Result<Option<String>> {
    let (bits, _) = known(card, name)?;
    let is_on = bits.iter().any(|bit| bit.is_on);
    let value = if is_on { "on" } else { "off" };
    let is_fixed = bits.iter().all(|bit| bit.is_fixed);
    Ok(is_fixed.then(|| value.to_owned()))
}

/// Switches a feature, or each of a group that can be switched; `on without NAME…` switches those off.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN; EOPNOTSUPP if none of them can be switched; `InvalidInput` for another value.
pub fn write(card: &dyn Card, name: &str, value: &str) -> io::Result<()> {
    let (bits, count) = known(card, name)?;
    let without = value.strip_prefix(ALL_BUT);
    let off: Vec<&str> = without.map_or_else(Vec::new, |names| names.split(' ').collect());
    let is_on = match value {
        "on" => true,
        "off" => false,
        _ if without.is_some() => true,
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "neither on nor off",
            ));
        }
    };
    let free = bits.iter().filter(|bit| !bit.is_fixed);
    let switched = free.map(|bit| (bit.bit, is_on && !off.contains(&bit.name.as_str())));
    let switched: Vec<(usize, bool)> = switched.collect();
    match switched.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        // The kernel refuses any other number of blocks than its own.
        false => card.exchange(&mut request(&switched, count.div_ceil(32))),
    }
}

/// What is before the names.
const ALL_BUT: &str = "on without ";

/// `struct ethtool_sfeatures`: cmd, size, then blocks of two words: valid, requested.
fn request(bits: &[(usize, bool)], blocks: usize) -> Vec<u8> {
    let mut words = vec![[0_u32; 2]; blocks];
    for (bit, on) in bits {
        let mask = 1 << (bit % 32);
        words[bit / 32][0] |= mask;
        words[bit / 32][1] |= if *on { mask } else { 0 };
    }
    let mut request = command(ETHTOOL_SFEATURES, 8 + blocks * BLOCK_BYTES);
    put(&mut request, 4, blocks as u32);
    for (at, word) in words.as_flattened().iter().enumerate() {
        put(&mut request, 8 + 4 * at, *word);
    }
    request
}

fn known(card: &dyn Card, name: &str) -> io::Result<(Vec<Bit>, usize)> {
    let (bits, count) = bits(card, name)?;
    match bits.is_empty() {
        true => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("no feature `{name}`"),
        )),
        false => Ok((bits, count)),
    }
}

const ETHTOOL_SFEATURES: u32 = 0x3b;
const BLOCK_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::super::request::Ethtool;
    use super::*;

    #[test]
    fn only_what_is_named_is_valid() {
        let words = |on| {
            let request = request(&[(1, on), (33, on)], 2);
            let word = |piece: &[u8]| u32::from_ne_bytes(piece.try_into().unwrap());
            request.chunks(4).map(word).collect::<Vec<_>>()
        };
        assert_eq!(words(true), [0x3b, 2, 2, 2, 2, 2]);
        assert_eq!(words(false), [0x3b, 2, 2, 0, 2, 0]);
    }

    #[test]
    fn the_loopback_has_gro_and_no_feature_of_another_name() {
        let loopback = Ethtool::of("lo").unwrap();
        assert!(read(&loopback, "generic-receive-offload").is_ok());
        let missing = read(&loopback, "gro-of-gro").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert_eq!(fixed(&loopback, "loopback").unwrap().as_deref(), Some("on"));
        assert_eq!(fixed(&loopback, "generic-receive-offload").unwrap(), None);
        // Always on there.
        let refused = write(&loopback, "loopback", "off").unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EOPNOTSUPP));
    }
}
