// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -k`: every feature by the kernel's name, and the groups by `ethtool`'s.

use std::io;

use super::super::request::{Ethtool, command, get, put};
use super::super::strings;
use super::{Values, on_off, pair};

/// Feature → on or off.
pub(super) fn all(ethtool: &Ethtool) -> io::Result<Values> {
    let count = strings::count(ethtool, ETH_SS_FEATURES)?;
    let names = strings::names(ethtool, ETH_SS_FEATURES, count)?;
    let blocks = count.div_ceil(32);
    // struct ethtool_gfeatures: cmd, size, then blocks: available, requested, active, never_changed.
    let mut request = command(ETHTOOL_GFEATURES, 8 + blocks * 16);
    put(&mut request, 4, blocks as u32);
    ethtool.exchange(&mut request)?;
    let mut features = Vec::new();
    for (bit, name) in names.into_iter().enumerate() {
        let active = get(&request, 8 + bit / 32 * 16 + 8)?;
        if !name.is_empty() {
            features.push((name, active >> (bit % 32) & 1 == 1));
        }
    }
    Ok(values(&features))
}

fn values(features: &[(String, bool)]) -> Values {
    let groups = GROUPS.iter().filter_map(|(long, prefix)| {
        let mut members = features
            .iter()
            .filter(|(name, _)| belongs(name, prefix))
            .peekable();
        members.peek()?;
        Some(pair(long, on_off(members.any(|(_, on)| *on))))
    });
    let each = features.iter().map(|(name, on)| pair(name, on_off(*on)));
    groups.chain(each).collect()
}

/// A prefix that ends in a dash begins the names of a group.
fn belongs(name: &str, prefix: &str) -> bool {
    name == prefix
        || (prefix.ends_with('-') && name.starts_with(prefix))
        || (prefix == "tx-tcp" && name.starts_with("tx-tcp") && name.ends_with("-segmentation"))
}

/// `ethtool`'s long names: on if any of these is.
const GROUPS: [(&str, &str); 12] = [
    ("rx-checksumming", "rx-checksum"),
    ("tx-checksumming", "tx-checksum-"),
    ("scatter-gather", "tx-scatter-gather"),
    ("tcp-segmentation-offload", "tx-tcp"),
    ("udp-fragmentation-offload", "tx-udp-fragmentation"),
    ("generic-segmentation-offload", "tx-generic-segmentation"),
    ("generic-receive-offload", "rx-gro"),
    ("large-receive-offload", "rx-lro"),
    ("rx-vlan-offload", "rx-vlan-hw-parse"),
    ("tx-vlan-offload", "tx-vlan-hw-insert"),
    ("ntuple-filters", "rx-ntuple-filter"),
    ("receive-hashing", "rx-hashing"),
];
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETH_SS_FEATURES: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_on_if_one_of_it_is() {
        let features = [
            ("tx-tcp-segmentation", false),
            ("tx-tcp6-segmentation", true),
            ("rx-gro", false),
            ("rx-gro-list", true),
        ];
        let values = values(&features.map(|(name, on)| (name.to_owned(), on)));
        let of = |name: &str| {
            values
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, value)| value.as_str())
        };
        assert_eq!(of("tcp-segmentation-offload"), Some("on"));
        assert_eq!(of("generic-receive-offload"), Some("off"));
        assert_eq!(of("tx-checksumming"), None, "this driver has none");
        assert_eq!(of("rx-gro-list"), Some("on"));
    }
}
