// SPDX-License-Identifier: MIT OR Apache-2.0
//! One feature of `ethtool -k`, read and switched.

use std::io;

use super::super::request::{Ethtool, command, put};
use super::features::{Bit, bits};

/// Whether a feature, or one of a group (`tcp-segmentation-offload`), is on.
///
/// # Errors
/// `NotFound` if this interface has none of that name.
pub fn read(interface: &str, name: &str) -> io::Result<bool> {
    let (bits, _) = known(&Ethtool::of(interface)?, name)?;
    Ok(bits.iter().any(|bit| bit.is_on))
}

/// Switches a feature, or each of a group that can be switched.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN; EOPNOTSUPP if none of them can be switched.
pub fn switch(interface: &str, name: &str, on: bool) -> io::Result<()> {
    let ethtool = Ethtool::of(interface)?;
    let (bits, count) = known(&ethtool, name)?;
    let free = bits.iter().filter(|bit| !bit.is_fixed);
    let free: Vec<usize> = free.map(|bit| bit.bit).collect();
    match free.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        // The kernel refuses any other number of blocks than its own.
        false => ethtool.exchange(&mut request(&free, count.div_ceil(32), on)),
    }
}

/// `struct ethtool_sfeatures`: cmd, size, then blocks of two words: valid, requested.
fn request(bits: &[usize], blocks: usize, on: bool) -> Vec<u8> {
    let mut words = vec![[0_u32; 2]; blocks];
    for bit in bits {
        let mask = 1 << (bit % 32);
        words[bit / 32][0] |= mask;
        words[bit / 32][1] |= if on { mask } else { 0 };
    }
    let mut request = command(ETHTOOL_SFEATURES, 8 + blocks * BLOCK_BYTES);
    put(&mut request, 4, blocks as u32);
    for (at, word) in words.as_flattened().iter().enumerate() {
        put(&mut request, 8 + 4 * at, *word);
    }
    request
}

fn known(ethtool: &Ethtool, name: &str) -> io::Result<(Vec<Bit>, usize)> {
    let (bits, count) = bits(ethtool, name)?;
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
    use super::*;

    #[test]
    fn only_what_is_named_is_valid() {
        let words = |on| {
            let request = request(&[1, 33], 2, on);
            let word = |piece: &[u8]| u32::from_ne_bytes(piece.try_into().unwrap());
            request.chunks(4).map(word).collect::<Vec<_>>()
        };
        assert_eq!(words(true), [0x3b, 2, 2, 2, 2, 2]);
        assert_eq!(words(false), [0x3b, 2, 2, 0, 2, 0]);
    }

    #[test]
    fn the_loopback_has_gro_and_no_feature_of_another_name() {
        assert!(read("lo", "generic-receive-offload").is_ok());
        let missing = read("lo", "gro-of-gro").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        // Always on there.
        let fixed = switch("lo", "loopback", false).unwrap_err();
        assert_eq!(fixed.raw_os_error(), Some(libc::EOPNOTSUPP));
    }
}
