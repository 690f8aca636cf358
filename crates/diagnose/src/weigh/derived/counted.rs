// SPDX-License-Identifier: MIT OR Apache-2.0
//! What counters say together: drops that no error of the card explains, an interface that only sends.

use linerate_model::map::Map;

use super::Fact;
use crate::weigh::observed::Counted;

pub(super) fn facts(counters: &[Counted]) -> Vec<Fact> {
    let mut places: Map<Option<&str>, Vec<&Counted>> = Map::new();
    for one in counters {
        places
            .entry(one.interface.as_deref())
            .or_default()
            .push(one);
    }
    let of_places = places.values().flat_map(|all| {
        [
            dropped_only(all),
            dropped_share(all),
            nothing_received(all),
            vlan_receives_nothing(all),
        ]
    });
    let of_host = [timeouts, reassembly, checksums, untracked];
    let of_host = of_host.iter().filter_map(|read| read(counters));
    of_places.flatten().chain(of_host).collect()
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

/// The share of retransmissions that a timer caused.
fn timeouts(counters: &[Counted]) -> Option<Fact> {
    let (repeated, timeouts) = (
        of_host(counters, "TcpRetransSegs")?,
        of_host(counters, "TcpExtTCPTimeouts")?,
    );
    let ratio = timeouts.value as f64 / repeated.value as f64;
    (repeated.value >= RETRANSMITS_LEAST).then(|| Fact {
        line: timeouts.line,
        ..Fact::new("timeouts_of_retransmits", ratio, 0)
    })
}

/// The share of fragments whose packet was never whole.
fn reassembly(counters: &[Counted]) -> Option<Fact> {
    let (asked, failed) = (
        of_host(counters, "IpReasmReqds")?,
        of_host(counters, "IpReasmFails")?,
    );
    let ratio = failed.value as f64 / asked.value as f64;
    (asked.value > 0).then(|| Fact {
        line: failed.line,
        ..Fact::new("reassembly_fail_ratio", ratio, 0)
    })
}

/// Whether one of 65536 IPv6 datagrams has a wrong checksum. Few datagrams do not tell.
fn checksums(counters: &[Counted]) -> Option<Fact> {
    let (passed, wrong) = (
        of_host(counters, "Udp6InDatagrams")?,
        of_host(counters, "Udp6InCsumErrors")?,
    );
    let all = passed.value + wrong.value;
    let ratio = wrong.value as f64 / all as f64 * 65536.0;
    (all >= DATAGRAMS_LEAST).then(|| Fact {
        line: wrong.line,
        ..Fact::new(
            "csum_error_ratio_near_one_in_65536",
            (0.5..=2.0).contains(&ratio),
            0,
        )
    })
}

/// Packets dropped because no entry was to be had: `drop` also counts each entry that was taken meanwhile.
fn untracked(counters: &[Counted]) -> Option<Fact> {
    let (dropped, clashes) = (
        of_host(counters, "drop")?,
        of_host(counters, "insert_failed")?,
    );
    Some(Fact {
        line: dropped.line,
        ..Fact::new(
            "conntrack_drops_without_clash",
            dropped.value.saturating_sub(clashes.value),
            0,
        )
    })
}

/// A counter of the host: of the first reading that has it.
fn of_host<'c>(counters: &'c [Counted], name: &str) -> Option<&'c Counted> {
    counters.iter().find(|one| one.name == name)
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

/// Of fewer packets a share says little.
const RECEIVED_LEAST: u64 = 100;
/// An interface that sent less may just have come up.
const SENT_LEAST: u64 = 10;
const RETRANSMITS_LEAST: u64 = 10;
const DATAGRAMS_LEAST: u64 = 300_000;

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
    fn the_share_of_drops() {
        let many = found(&[("rx_dropped", 100), ("rx_packets", 300)]);
        assert_eq!(many, [("rx_dropped_share", "0.25".to_owned())]);
        assert_eq!(found(&[("rx_dropped", 7), ("rx_packets", 3)]), []);
    }

    #[test]
    fn ratios_of_the_host() {
        let timers = found(&[("TcpRetransSegs", 100), ("TcpExtTCPTimeouts", 70)]);
        assert_eq!(timers, [("timeouts_of_retransmits", "0.7".to_owned())]);
        assert_eq!(
            found(&[("TcpRetransSegs", 2), ("TcpExtTCPTimeouts", 2)]),
            []
        );
        let full = found(&[("drop", 300), ("insert_failed", 100)]);
        assert_eq!(full, [("conntrack_drops_without_clash", "200".to_owned())]);
        let fragments = found(&[("IpReasmReqds", 100), ("IpReasmFails", 50)]);
        assert_eq!(fragments, [("reassembly_fail_ratio", "0.5".to_owned())]);
        let sums = |wrong: u64| found(&[("Udp6InDatagrams", 999_985), ("Udp6InCsumErrors", wrong)]);
        assert_eq!(
            sums(15),
            [("csum_error_ratio_near_one_in_65536", "true".to_owned())]
        );
        assert_eq!(
            sums(900),
            [("csum_error_ratio_near_one_in_65536", "false".to_owned())]
        );
        assert_eq!(
            found(&[("Udp6InDatagrams", 99), ("Udp6InCsumErrors", 1)]),
            []
        );
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
