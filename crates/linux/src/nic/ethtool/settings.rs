// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of an interface, in `ethtool`'s words. Commands that the driver refuses have no entry.

pub mod energy;
pub mod feature;
mod features;
mod fec;
pub mod flow_hash;
mod identity;
mod link;
mod parameters;
mod receive;
pub mod receive_hash;

use std::io;

use super::{Card, Ethtool};
pub(super) use link::Link;

/// Names and values, as the command prints them.
pub type Values = Vec<(String, String)>;

/// Returns the output of each command, with the command.
#[must_use]
pub fn read(interface: &str) -> Vec<(&'static str, Values)> {
    let Ok(ethtool) = Ethtool::of(interface) else {
        return Vec::new();
    };
    let commands: [(&str, Command); 11] = [
        ("ethtool -i", identity::driver),
        ("ethtool", link::settings),
        ("ethtool -a", parameters::pause),
        ("ethtool -g", parameters::rings),
        ("ethtool -c", parameters::coalescing),
        ("ethtool -l", parameters::channels),
        ("ethtool -k", features::all),
        ("ethtool --show-eee", link::energy_efficient),
        ("ethtool --show-fec", fec::codes),
        ("ethtool -x", receive::indirection),
        ("ethtool -n", flow_hash::fields),
    ];
    let answered = commands
        .into_iter()
        .filter_map(|(name, command)| Some((name, command(&ethtool).ok()?)));
    answered.filter(|(_, values)| !values.is_empty()).collect()
}

type Command = fn(&dyn Card) -> io::Result<Values>;

fn pair(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_features_and_no_rings() {
        let all = read("lo");
        let of = |command: &str| {
            all.iter()
                .find(|(name, _)| *name == command)
                .map(|(_, values)| values)
        };
        let features = of("ethtool -k").unwrap();
        let gro = features
            .iter()
            .find(|(name, _)| name == "generic-receive-offload")
            .unwrap();
        assert!(["on", "off"].contains(&gro.1.as_str()), "{gro:?}");
        assert!(features.iter().any(|(name, _)| name == "rx-gro"));
        assert_eq!((of("ethtool -g"), of("ethtool -a")), (None, None));
        assert_eq!(read("no-such-if"), []);
    }
}
