// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bit maps of supported, advertised and partner's link modes, in the words of
//! `ethtool` (include/uapi/linux/ethtool.h, `enum ethtool_link_mode_bit_indices`; IEEE 802.3 annex 28B for pause).

/// The speeds of a map, joined by blanks: `100baseT/Full 1000baseT/Full`; none if it has none.
#[must_use]
pub fn modes(map: &[u32]) -> Option<String> {
    let set = NAMES
        .iter()
        .enumerate()
        .filter(|(bit, name)| !name.is_empty() && is_set(map, *bit));
    let words: Vec<&str> = set.map(|(_, name)| *name).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The kinds of plugs of a map: `TP MII`.
#[must_use]
pub fn ports(map: &[u32]) -> String {
    let set = PORTS.iter().filter(|(bit, _)| is_set(map, *bit));
    let words: Vec<&str> = set.map(|(_, name)| *name).collect();
    words.join(" ")
}

/// Which pause frames a map stands for.
#[must_use]
pub fn pause(map: &[u32]) -> &'static str {
    match (is_set(map, PAUSE), is_set(map, ASYMMETRIC)) {
        (true, true) => "Symmetric Receive-only",
        (true, false) => "Symmetric",
        (false, true) => "Transmit-only",
        (false, false) => "No",
    }
}

/// Whether a map has autonegotiation.
#[must_use]
pub fn negotiates(map: &[u32]) -> bool {
    is_set(map, AUTONEGOTIATION)
}

/// What both maps agree on: whether this end obeys pause frames, and whether it sends them.
#[must_use]
pub fn resolved_pause(own: &[u32], partner: &[u32]) -> (bool, bool) {
    let both = |bit| is_set(own, bit) && is_set(partner, bit);
    if both(PAUSE) {
        return (true, true);
    }
    let asymmetric = both(ASYMMETRIC);
    (
        asymmetric && is_set(own, PAUSE),
        asymmetric && is_set(partner, PAUSE),
    )
}

fn is_set(map: &[u32], bit: usize) -> bool {
    map.get(bit / 32)
        .is_some_and(|word| word >> (bit % 32) & 1 == 1)
}

const AUTONEGOTIATION: usize = 6;
const PAUSE: usize = 13;
const ASYMMETRIC: usize = 14;
const PORTS: [(usize, &str); 6] = [
    (7, "TP"),
    (8, "AUI"),
    (9, "MII"),
    (10, "FIBRE"),
    (11, "BNC"),
    (16, "Backplane"),
];
/// By bit; empty where the bit is no speed.
const NAMES: [&str; 93] = [
    "10baseT/Half",
    "10baseT/Full",
    "100baseT/Half",
    "100baseT/Full",
    "1000baseT/Half",
    "1000baseT/Full",
    "",
    "",
    "",
    "",
    "",
    "",
    "10000baseT/Full",
    "",
    "",
    "2500baseX/Full",
    "",
    "1000baseKX/Full",
    "10000baseKX4/Full",
    "10000baseKR/Full",
    "10000baseR_FEC",
    "20000baseMLD2/Full",
    "20000baseKR2/Full",
    "40000baseKR4/Full",
    "40000baseCR4/Full",
    "40000baseSR4/Full",
    "40000baseLR4/Full",
    "56000baseKR4/Full",
    "56000baseCR4/Full",
    "56000baseSR4/Full",
    "56000baseLR4/Full",
    "25000baseCR/Full",
    "25000baseKR/Full",
    "25000baseSR/Full",
    "50000baseCR2/Full",
    "50000baseKR2/Full",
    "100000baseKR4/Full",
    "100000baseSR4/Full",
    "100000baseCR4/Full",
    "100000baseLR4_ER4/Full",
    "50000baseSR2/Full",
    "1000baseX/Full",
    "10000baseCR/Full",
    "10000baseSR/Full",
    "10000baseLR/Full",
    "10000baseLRM/Full",
    "10000baseER/Full",
    "2500baseT/Full",
    "5000baseT/Full",
    "",
    "",
    "",
    "50000baseKR/Full",
    "50000baseSR/Full",
    "50000baseCR/Full",
    "50000baseLR_ER_FR/Full",
    "50000baseDR/Full",
    "100000baseKR2/Full",
    "100000baseSR2/Full",
    "100000baseCR2/Full",
    "100000baseLR2_ER2_FR2/Full",
    "100000baseDR2/Full",
    "200000baseKR4/Full",
    "200000baseSR4/Full",
    "200000baseLR4_ER4_FR4/Full",
    "200000baseDR4/Full",
    "200000baseCR4/Full",
    "100baseT1/Full",
    "1000baseT1/Full",
    "400000baseKR8/Full",
    "400000baseSR8/Full",
    "400000baseLR8_ER8_FR8/Full",
    "400000baseDR8/Full",
    "400000baseCR8/Full",
    "",
    "100000baseKR/Full",
    "100000baseSR/Full",
    "100000baseLR_ER_FR/Full",
    "100000baseCR/Full",
    "100000baseDR/Full",
    "200000baseKR2/Full",
    "200000baseSR2/Full",
    "200000baseLR2_ER2_FR2/Full",
    "200000baseDR2/Full",
    "200000baseCR2/Full",
    "400000baseKR4/Full",
    "400000baseSR4/Full",
    "400000baseLR4_ER4_FR4/Full",
    "400000baseDR4/Full",
    "400000baseCR4/Full",
    "100baseFX/Half",
    "100baseFX/Full",
    "10baseT1L/Full",
];

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: [u32; 3] = [0x62ef, 0, 0];

    #[test]
    fn a_gigabit_port_in_the_words_of_ethtool() {
        let modes = modes(&GIGABIT).unwrap();
        assert_eq!(
            modes,
            "10baseT/Half 10baseT/Full 100baseT/Half 100baseT/Full 1000baseT/Full"
        );
        assert_eq!(
            (ports(&GIGABIT).as_str(), pause(&GIGABIT)),
            ("TP MII", "Symmetric Receive-only")
        );
        assert!(negotiates(&GIGABIT));
        assert_eq!(
            super::modes(&[0, 1 << 15 | 1 << 16]).as_deref(),
            Some("2500baseT/Full 5000baseT/Full")
        );
        assert_eq!((super::modes(&[]), pause(&[0])), (None, "No"));
    }

    #[test]
    fn pause_is_resolved_as_the_annex_says() {
        let (none, symmetric, asymmetric, both) = ([0], [1 << 13], [1 << 14], [3 << 13]);
        assert_eq!(resolved_pause(&symmetric, &both), (true, true));
        assert_eq!(resolved_pause(&both, &asymmetric), (true, false));
        assert_eq!(resolved_pause(&asymmetric, &both), (false, true));
        assert_eq!(resolved_pause(&symmetric, &asymmetric), (false, false));
        assert_eq!(resolved_pause(&both, &none), (false, false));
    }
}
