// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool --show-fec X`: which codes of forward error correction are configured, and which is in use.

use std::io;

use super::super::request::{Card, get};
use super::{Values, pair};

/// struct ethtool_fecparam: cmd, active_fec, fec, reserved.
pub(super) fn codes(card: &dyn Card) -> io::Result<Values> {
    let answer = card.ask(ETHTOOL_GFECPARAM, 16)?;
    let (active, configured) = (get(&answer, 4)?, get(&answer, 8)?);
    let all = [
        ("Configured FEC encodings", configured),
        ("Active FEC encoding", active),
    ];
    let known = all.into_iter().filter(|(_, bits)| *bits != 0);
    Ok(known.map(|(name, bits)| pair(name, names(bits))).collect())
}

fn names(bits: u32) -> String {
    let set = NAMES
        .iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 == 1);
    let names: Vec<&str> = set.map(|(_, name)| *name).collect();
    names.join(" ")
}

const ETHTOOL_GFECPARAM: u32 = 0x50;
/// By bit: include/uapi/linux/ethtool.h `enum ethtool_fec_config_bits`, as `ethtool` prints them.
const NAMES: [&str; 6] = ["None", "Auto", "Off", "RS", "BaseR", "LLRS"];

#[cfg(test)]
mod tests {
    use super::*;

    struct Port([u32; 2]);

    impl Card for Port {
        fn exchange(&self, request: &mut [u8]) -> io::Result<()> {
            for (to, word) in request.chunks_exact_mut(4).skip(1).zip(self.0) {
                to.copy_from_slice(&word.to_ne_bytes());
            }
            Ok(())
        }
    }

    #[test]
    fn codes_in_the_words_of_ethtool() {
        let expected = [
            pair("Configured FEC encodings", "Auto RS BaseR"),
            pair("Active FEC encoding", "RS"),
        ];
        assert_eq!(codes(&Port([1 << 3, 0b01_1010])).unwrap(), expected);
        assert_eq!(codes(&Port([0, 0])).unwrap(), []);
    }
}
