// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::fixtures::device::{counter, record, trial};

fn entry(trials: Vec<Trial>) -> LedgerEntry {
    let entries = entries(&Evidence::of(&record(trials))).collect::<Vec<_>>();
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = entries.into_iter().next().unwrap();
    let least: u64 = entry.stages.iter().map(|stage| stage.lo).sum();
    assert!(least <= entry.lost_packets);
    assert_eq!(
        least as i64 + entry.unattributed_hi,
        entry.lost_packets as i64
    );
    entry
}

fn spans(entry: &LedgerEntry) -> Vec<(&str, u64, u64)> {
    let stages = entry.stages.iter();
    stages
        .map(|one| (one.stage.as_str(), one.lo, one.hi))
        .collect()
}

const LINK: &str = "rtnl_link_stats64";

/// Frames on their way through a router of which `counters` moved besides.
fn lossy(lost: u64, counters: &[(&str, Option<&str>, &str, u64)]) -> Trial {
    let mut trial = trial(2, 2000.0, 1000, lost);
    let device = trial.device.as_mut().unwrap();
    for (source, interface, name, delta) in counters {
        device
            .counters
            .push(counter(source, *interface, name, *delta));
    }
    trial
}

#[test]
fn a_queue_that_drops_is_found_and_its_background_left_out() {
    let mut quiet = trial(1, 1000.0, 1000, 0);
    let drops = ("tc -s qdisc", Some("eth1"), "drops");
    quiet
        .device
        .as_mut()
        .unwrap()
        .counters
        .push(counter(drops.0, drops.1, drops.2, 1));
    let lossy = lossy(
        100,
        &[
            (drops.0, drops.1, drops.2, 101),
            (LINK, Some("eth0"), "rx_packets", 1000),
            (LINK, Some("eth1"), "tx_packets", 900),
            ("/proc/net/snmp", None, "IpInReceives", 1000),
            ("/proc/net/snmp", None, "IpForwDatagrams", 1000),
        ],
    );
    let entry = entry(vec![quiet, lossy]);
    assert_eq!(
        (entry.test_id.as_str(), entry.unit.as_str()),
        ("trial-2", "frames")
    );
    assert_eq!(spans(&entry), [("fwd-qdisc", 100, 100)]);
    assert_eq!(entry.stages[0].interface.as_deref(), Some("eth1"));
    assert_eq!((entry.unattributed_lo, entry.unattributed_hi), (0, 0));
}

#[test]
fn what_the_packet_filter_drops_is_missing_between_two_counts_of_ip() {
    let entry = entry(vec![lossy(
        100,
        &[
            ("/proc/net/snmp", None, "IpInReceives", 1001),
            ("/proc/net/snmp", None, "IpInDelivers", 1),
            ("/proc/net/snmp", None, "IpForwDatagrams", 900),
            (LINK, Some("eth0"), "rx_packets", 1001),
            (LINK, Some("eth1"), "tx_packets", 900),
        ],
    )]);
    assert_eq!(spans(&entry), [("fwd-ip", 98, 100)]);
    assert_eq!(entry.stages[0].kind, "balance");
}

/// Linux 6.6 and later.
#[test]
fn a_kernel_that_counts_before_the_filter_also_counts_what_left() {
    let entry = entry(vec![lossy(
        100,
        &[
            ("/proc/net/snmp", None, "IpInReceives", 1000),
            ("/proc/net/snmp", None, "IpForwDatagrams", 1000),
            ("/proc/net/snmp", None, "IpOutTransmits", 900),
            (LINK, Some("eth0"), "rx_packets", 1000),
            (LINK, Some("eth1"), "tx_packets", 900),
        ],
    )]);
    assert_eq!(spans(&entry), [("fwd-ip", 98, 100)]);
}

#[test]
fn what_never_reached_the_device_or_never_came_back_is_found() {
    let before = entry(vec![lossy(
        100,
        &[
            (LINK, Some("eth0"), "rx_packets", 900),
            (LINK, Some("eth1"), "tx_packets", 900),
        ],
    )]);
    assert_eq!(spans(&before), [("fwd-wire-in", 97, 100)]);
    let inside = entry(vec![lossy(
        100,
        &[
            (LINK, Some("eth0"), "rx_packets", 1000),
            (LINK, Some("eth1"), "tx_packets", 950),
        ],
    )]);
    assert_eq!(
        spans(&inside),
        [("fwd-bridge", 47, 50), ("fwd-wire-out", 47, 50)]
    );
}

/// A ring that overflows is no wire; the driver's table says which counter is which.
#[test]
fn a_card_s_own_drops_stand_at_its_ring() {
    let mut record = record(vec![lossy(
        100,
        &[
            ("ethtool -S", Some("eth0"), "rx_no_dma_resources", 100),
            (LINK, Some("eth0"), "rx_missed_errors", 100),
            (LINK, Some("eth0"), "rx_packets", 900),
            (LINK, Some("eth1"), "tx_packets", 900),
        ],
    )]);
    for interface in &mut record.run.hosts[1].interfaces {
        interface.driver = Some("ixgbe".to_owned());
    }
    let evidence = Evidence::of(&record);
    let entries: Vec<_> = entries(&evidence).collect();
    let on_the_card = ["fwd-rx-mac", "fwd-rx-ring"];
    let stages = &entries[0].stages;
    assert!(
        stages
            .iter()
            .all(|one| on_the_card.contains(&one.stage.as_str())),
        "{stages:?}"
    );
    assert_eq!(
        stages.iter().map(|one| one.lo).sum::<u64>(),
        0,
        "no quiet trial tells the background"
    );
    assert!(stages.iter().any(|one| one.hi == 100));
}

#[test]
fn claims_never_come_to_more_than_was_lost() {
    let quiet = trial(1, 1000.0, 1000, 0);
    let entry = entry(vec![
        quiet,
        lossy(
            10,
            &[
                ("tc -s qdisc", Some("eth1"), "drops", 500),
                ("/proc/net/softnet_stat", None, "dropped", 700),
                ("/proc/net/snmp", None, "IpOutNoRoutes", 900),
            ],
        ),
    ]);
    assert_eq!(
        spans(&entry),
        [
            ("fwd-softnet", 10, 10),
            ("fwd-ip", 0, 0),
            ("fwd-qdisc", 0, 0)
        ]
    );
}

#[test]
fn a_device_without_readings_has_no_entry() {
    let mut silent = lossy(10, &[]);
    silent.device = None;
    assert_eq!(entries(&Evidence::of(&record(vec![silent]))).count(), 0);
}

/// What two counters of one alias set show is one frame, and a register of 16 bits that may have wrapped is a lower bound.
#[test]
fn a_device_s_counters_are_read_as_those_of_a_link() {
    let quiet = trial(1, 1000.0, 1000, 0);
    let mut lossy = trial(2, 2000.0, 200_000, 100_000);
    let moved = [("ethtool -S", "IEEE_rx_macerr"), (LINK, "rx_fifo_errors")];
    let counters = moved.map(|(source, name)| counter(source, Some("eth0"), name, 4000));
    lossy.device.as_mut().unwrap().counters.extend(counters);
    let mut record = record(vec![quiet, lossy]);
    for interface in &mut record.run.hosts[1].interfaces {
        interface.driver = Some("fec".to_owned());
    }
    let evidence = Evidence::of(&record);
    let entry = entries(&evidence).next().unwrap();
    assert_eq!(spans(&entry), [("fwd-rx-mac", 4000, 100_000)]);
}
