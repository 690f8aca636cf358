// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -k`: every feature by the kernel's name, and the groups by `ethtool`'s.

use std::io;

use super::super::request::{Card, command, get, put};
use super::super::strings;
use super::{Values, pair};

/// A feature as it is in force, as it was requested, and whether it can be switched at all.
#[derive(Debug, Clone, Copy)]
struct State {
    is_on: bool,
    /// Differs from `is_on` where another feature that it depends on is off.
    is_requested: bool,
    is_fixed: bool,
}

impl State {
    /// As `ethtool` prints it.
    const fn text(self) -> &'static str {
        match (self.is_on, self.is_fixed, self.is_requested) {
            (true, true, _) => "on [fixed]",
            (false, true, _) => "off [fixed]",
            (true, false, true) => "on",
            (true, false, false) => "on [requested off]",
            (false, false, true) => "off [requested on]",
            (false, false, false) => "off",
        }
    }

    /// A group is on if one of its members is, and can be switched if one of them can.
    fn of_group(members: &[Self]) -> Self {
        let is_on = members.iter().any(|member| member.is_on);
        let mut free = members.iter().filter(|member| !member.is_fixed).peekable();
        Self {
            is_on,
            is_fixed: free.peek().is_none(),
            is_requested: is_on || free.all(|member| member.is_requested),
        }
    }
}

/// Feature → on or off, `[fixed]` where the driver does not let it be switched, and what was requested where it differs.
pub(super) fn all(card: &dyn Card) -> io::Result<Values> {
    let (names, request) = read(card)?;
    let mut features = Vec::new();
    for (bit, name) in names.into_iter().enumerate() {
        let state = state(&request, bit)?;
        if !name.is_empty() {
            features.push((name, state));
        }
    }
    Ok(values(&features))
}

/// The names by bit, and the answer.
fn read(card: &dyn Card) -> io::Result<(Vec<String>, Vec<u8>)> {
    let count = strings::count(card, ETH_SS_FEATURES)?;
    let names = strings::names(card, ETH_SS_FEATURES, count)?;
    let blocks = count.div_ceil(32);
    let mut request = command(ETHTOOL_GFEATURES, 8 + blocks * BLOCK_BYTES);
    put(&mut request, 4, blocks as u32);
    card.exchange(&mut request)?;
    Ok((names, request))
}

/// `struct ethtool_gfeatures`: cmd, size, then blocks of four words: available, requested, active, never_changed.
fn state(reply: &[u8], bit: usize) -> io::Result<State> {
    let is_set = |word: usize| {
        let bits = get(reply, 8 + bit / 32 * BLOCK_BYTES + word * 4)?;
        io::Result::Ok(bits >> (bit % 32) & 1 == 1)
    };
    Ok(State {
        is_on: is_set(2)?,
        is_requested: is_set(1)?,
        is_fixed: !is_set(0)? || is_set(3)?,
    })
}

fn values(features: &[(String, State)]) -> Values {
    let groups = GROUPS.iter().filter_map(|(long, prefix)| {
        let members = features.iter().filter(|(name, _)| belongs(name, prefix));
        let members: Vec<State> = members.map(|(_, state)| *state).collect();
        (!members.is_empty()).then(|| pair(long, State::of_group(&members).text()))
    });
    let each = features
        .iter()
        .map(|(name, state)| pair(name, state.text()));
    groups.chain(each).collect()
}

/// Of each feature that `name` stands for, a group or one: its bit, and whether it is on and can be switched. And the
/// number of all features.
pub(super) fn bits(card: &dyn Card, name: &str) -> io::Result<(Vec<Bit>, usize)> {
    let group = GROUPS.iter().find(|(long, _)| *long == name);
    let is_named = |found: &str| match group {
        Some((_, prefix)) => found == name || belongs(found, prefix),
        None => found == name,
    };
    let (names, reply) = read(card)?;
    let named = names
        .iter()
        .enumerate()
        .filter(|(_, found)| is_named(found));
    let bits = named.map(|(bit, name)| {
        let State {
            is_on, is_fixed, ..
        } = state(&reply, bit)?;
        Ok(Bit {
            name: name.clone(),
            bit,
            is_on,
            is_fixed,
        })
    });
    Ok((bits.collect::<io::Result<_>>()?, names.len()))
}

/// A feature.
pub(super) struct Bit {
    pub(super) name: String,
    pub(super) bit: usize,
    pub(super) is_on: bool,
    pub(super) is_fixed: bool,
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
const BLOCK_BYTES: usize = 16;
const ETH_SS_FEATURES: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const ON: State = State {
        is_on: true,
        is_requested: true,
        is_fixed: false,
    };
    const OFF: State = State {
        is_on: false,
        is_requested: false,
        ..ON
    };
    const WANTED: State = State {
        is_requested: true,
        ..OFF
    };

    const fn fixed(state: State) -> State {
        State {
            is_fixed: true,
            ..state
        }
    }

    fn shown(features: &[(&str, State)]) -> impl Fn(&str) -> Option<String> + use<> {
        let owned = |(name, state): &(&str, State)| ((*name).to_owned(), *state);
        let values = values(&features.iter().map(owned).collect::<Vec<_>>());
        move |name| {
            let mut named = values.iter().filter(|(found, _)| found == name);
            named.next().map(|(_, value)| value.clone())
        }
    }

    #[test]
    fn a_group_is_on_if_one_of_it_is() {
        let of = shown(&[
            ("tx-tcp-segmentation", OFF),
            ("tx-tcp6-segmentation", ON),
            ("rx-gro", OFF),
            ("rx-gro-list", ON),
        ]);
        assert_eq!(of("tcp-segmentation-offload").as_deref(), Some("on"));
        assert_eq!(of("generic-receive-offload").as_deref(), Some("off"));
        assert_eq!(of("tx-checksumming"), None, "this driver has none");
        assert_eq!(of("rx-gro-list").as_deref(), Some("on"));
    }

    #[test]
    fn a_group_is_fixed_if_all_of_it_are() {
        let of = shown(&[
            ("tx-tcp-segmentation", fixed(OFF)),
            ("tx-tcp6-segmentation", fixed(OFF)),
            ("tx-checksum-ipv4", fixed(OFF)),
            ("tx-checksum-ip-generic", ON),
        ]);
        let tso = of("tcp-segmentation-offload");
        assert_eq!(tso.as_deref(), Some("off [fixed]"));
        assert_eq!(of("tx-checksumming").as_deref(), Some("on"));
        assert_eq!(of("tx-checksum-ipv4").as_deref(), Some("off [fixed]"));
    }

    /// Segmentation needs scatter-gather: requested in vain.
    #[test]
    fn what_was_requested_in_vain_is_shown() {
        let of = shown(&[
            ("tx-tcp-segmentation", WANTED),
            ("tx-tcp6-segmentation", fixed(OFF)),
            ("tx-generic-segmentation", WANTED),
        ]);
        let wanted = Some("off [requested on]");
        assert_eq!(of("tcp-segmentation-offload").as_deref(), wanted);
        assert_eq!(of("generic-segmentation-offload").as_deref(), wanted);
    }

    /// Three features of the second block: one that can be switched, one that the kernel always sets, one that the driver
    /// lacks.
    #[test]
    fn what_cannot_be_switched_is_read_from_its_bits() {
        let mut reply = command(ETHTOOL_GFEATURES, 8 + 2 * BLOCK_BYTES);
        let words = [0b11, 0b10, 0b10, 0b10];
        for (word, bits) in words.into_iter().enumerate() {
            put(&mut reply, 8 + BLOCK_BYTES + word * 4, bits);
        }
        let text = |bit| state(&reply, bit).map(State::text).ok();
        assert_eq!(text(32), Some("off"));
        assert_eq!(text(33), Some("on [fixed]"));
        assert_eq!(text(34), Some("off [fixed]"));
    }
}
