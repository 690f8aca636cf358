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
    let of_places = places
        .values()
        .flat_map(|all| [dropped_only(all), dropped_share(all), nothing_received(all)]);
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

/// What `rx_dropped` is of all that came.
fn dropped_share(all: &[&Counted]) -> Option<Fact> {
    let dropped = named(all, "rx_dropped").filter(|one| one.value > 0)?;
    let received = named(all, "rx_packets").filter(|one| one.value >= RECEIVED_LEAST)?;
    let share = dropped.value as f64 / (dropped.value as f64 + received.value as f64);
    Some(Fact {
        line: dropped.line,
        ..Fact::new("rx_dropped_share", share, 0)
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

fn named<'c>(all: &[&'c Counted], name: &str) -> Option<&'c Counted> {
    all.iter().find(|one| one.name == name).copied()
}

/// Of fewer packets a share says little.
const RECEIVED_LEAST: u64 = 100;
/// An interface that sent less may just have come up.
const SENT_LEAST: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_share_of_drops() {
        let many = found(&[("rx_dropped", 100), ("rx_packets", 300)]);
        assert_eq!(many, [("rx_dropped_share", "0.25".to_owned())]);
        assert_eq!(found(&[("rx_dropped", 7), ("rx_packets", 3)]), []);
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
