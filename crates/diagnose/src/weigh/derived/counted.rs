// SPDX-License-Identifier: MIT OR Apache-2.0
//! What counters say together: drops that no error of the card explains, an interface that only sends.

use std::collections::BTreeMap;

use super::Fact;
use crate::weigh::observed::Counted;

pub(super) fn facts(counters: &[Counted]) -> Vec<Fact> {
    let mut places: BTreeMap<Option<&str>, Vec<&Counted>> = BTreeMap::new();
    for one in counters {
        places
            .entry(one.interface.as_deref())
            .or_default()
            .push(one);
    }
    let of_places = places.values().flat_map(|all| {
        [
            dropped_only(all),
            nothing_received(all),
            vlan_receives_nothing(all),
        ]
    });
    of_places.flatten().collect()
}

/// Whether `rx_dropped` counts and no error of the card does.
fn dropped_only(all: &[&Counted]) -> Option<Fact> {
    let dropped = named(all, "rx_dropped").filter(|one| one.value > 0)?;
    let errors = [
        "rx_errors",
        "rx_fifo",
        "rx_fifo_errors",
        "rx_missed_errors",
        "rx_over_errors",
        "rx_frame",
        "rx_crc_errors",
    ];
    let known: Vec<u64> = errors
        .iter()
        .filter_map(|name| named(all, name))
        .map(|one| one.value)
        .collect();
    (!known.is_empty()).then(|| Fact {
        line: dropped.line,
        ..Fact::new("rx_dropped_only", known.iter().all(|value| *value == 0), 0)
    })
}

/// Whether it sends and receives nothing.
fn nothing_received(all: &[&Counted]) -> Option<Fact> {
    let (received, sent) = (named(all, "rx_packets")?, named(all, "tx_packets")?);
    (sent.value >= SENT_LEAST).then(|| Fact {
        line: received.line,
        ..Fact::new("rx_packets_zero", received.value == 0, 0)
    })
}

/// Whether an interface of a VLAN sends and receives nothing.
fn vlan_receives_nothing(all: &[&Counted]) -> Option<Fact> {
    let name = all.first()?.interface.as_deref()?;
    let tag = name
        .split_once('.')
        .map(|(_, tag)| tag)
        .or_else(|| name.strip_prefix("vlan"))?;
    tag.parse::<u16>().ok()?;
    let fact = nothing_received(all)?;
    Some(Fact {
        name: "vlan_interface_receives_nothing",
        ..fact
    })
}

fn named<'c>(all: &[&'c Counted], name: &str) -> Option<&'c Counted> {
    all.iter().find(|one| one.name == name).copied()
}

/// An interface that sent less may just have come up.
const SENT_LEAST: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vlan_that_only_sends() {
        let one = |name: &str, value: u64| Counted {
            interface: Some("eth0.10".to_owned()),
            name: name.to_owned(),
            value,
            packets: None,
            line: None,
        };
        let all = facts(&[one("rx_packets", 0), one("tx_packets", 90)]);
        assert!(
            all.iter()
                .any(|fact| fact.name == "vlan_interface_receives_nothing" && fact.value == "true")
        );
    }

    fn found(counters: &[(&str, u64)]) -> Vec<(&'static str, String)> {
        let counted = |(name, value): &(&str, u64)| Counted {
            interface: Some("eth0".to_owned()),
            name: (*name).to_owned(),
            value: *value,
            packets: None,
            line: None,
        };
        let all: Vec<Counted> = counters.iter().map(counted).collect();
        facts(&all)
            .into_iter()
            .map(|fact| (fact.name, fact.value))
            .collect()
    }

    #[test]
    fn drops_without_an_error_of_the_card() {
        let only = found(&[("rx_dropped", 7), ("rx_errors", 0)]);
        assert_eq!(only, [("rx_dropped_only", "true".to_owned())]);
        let both = found(&[("rx_dropped", 7), ("rx_errors", 3)]);
        assert_eq!(both, [("rx_dropped_only", "false".to_owned())]);
        assert_eq!(found(&[("rx_dropped", 0), ("rx_errors", 0)]), []);
    }

    #[test]
    fn an_interface_that_only_sends() {
        assert_eq!(
            found(&[("rx_packets", 0), ("tx_packets", 90)]),
            [("rx_packets_zero", "true".to_owned())]
        );
        assert_eq!(found(&[("rx_packets", 0), ("tx_packets", 2)]), []);
    }
}
