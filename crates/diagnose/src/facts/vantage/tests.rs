// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::fixtures::{Fixture, pasted, run, udp};
use linerate_knowledge::Stage;

const STATS: &str = "ethtool -S";
const LINK: &str = "rtnl_link_stats64";

fn at<'r>(
    evidence: &'r Evidence<'r>,
    host: Role,
    interface: &'r str,
    test: Option<usize>,
) -> Vantage<'r> {
    Vantage {
        test: test.map(|at| &evidence.record.run.tests[at]),
        ..Vantage::outside(evidence, host, Some(interface))
    }
}

fn fec_losses(record: &Record) -> Option<Counted> {
    let evidence = Evidence::of(record);
    at(&evidence, Role::Local, "eth0", None).dropped(Stage::RxMac)
}

#[test]
fn over_the_load_of_a_test_only() {
    let record = run(vec![udp("t1", 10, 0), udp("t2", 10, 0)])
        .counted(
            "t1",
            Role::Remote,
            "/proc/net/snmp",
            &[("UdpRcvbufErrors", 7)],
        )
        .counted("t2", Role::Remote, "/proc/net/snmp", &[("UdpInErrors", 9)]);
    let evidence = Evidence::of(&record);
    let of = |test| {
        let found =
            at(&evidence, Role::Remote, "eth1", test).of_host("/proc/net/snmp", "UdpRcvbufErrors");
        found.map(|found| (found.value, found.since_boot))
    };
    assert_eq!(of(Some(0)), Some((7, false)));
    assert_eq!((of(Some(1)), of(None)), (None, None));
}

#[test]
fn pasted_once_is_since_boot_and_twice_is_a_difference() {
    let once = pasted().read(Role::Local, LINK, &[("rx_dropped", 700)]);
    let twice = once.clone().read(Role::Local, LINK, &[("rx_dropped", 789)]);
    let anew = twice.clone().read(Role::Local, LINK, &[("rx_dropped", 5)]);
    for (record, expected) in [(once, (700, true)), (twice, (89, false)), (anew, (5, true))] {
        let evidence = Evidence::of(&record);
        let found = at(&evidence, Role::Local, "eth0", None).of_interface(LINK, "rx_dropped");
        assert_eq!(
            found.map(|found| (found.value, found.since_boot)),
            Some(expected)
        );
    }
}

#[test]
fn one_packet_in_two_counters_is_one_packet() {
    let counters = [
        ("IEEE_rx_macerr", 4598),
        ("IEEE_tx_fdxfc", 12),
        ("IEEE_rx_fdxfc", 3),
    ];
    let record = pasted()
        .set(Role::Local, "ethtool -i", &[("driver", "fec")])
        .read(Role::Local, STATS, &counters)
        .read(
            Role::Local,
            LINK,
            &[("rx_fifo_errors", 4000), ("rx_errors", 4100)],
        );
    let found = fec_losses(&record).unwrap();
    assert_eq!(found.value, 4598);
    assert!(found.source.contains("IEEE_rx_macerr"), "{found:?}");
    let evidence = Evidence::of(&record);
    for (asked, value) in [(Meaning::PauseSent, 12), (Meaning::PauseReceived, 3)] {
        let found = at(&evidence, Role::Local, "eth0", None).meaning(asked);
        assert_eq!(found.map(|found| found.value), Some(value));
    }
}

#[test]
fn a_driver_is_known_by_the_names_it_prints() {
    let counters = [("IEEE_rx_macerr", 5), ("IEEE_rx_crc", 0), ("novel", 0)];
    let record = pasted().read(Role::Local, STATS, &counters);
    assert_eq!(fec_losses(&record).map(|found| found.value), Some(5));
    let strange = pasted().read(Role::Local, STATS, &[("novel", 5)]);
    assert_eq!(fec_losses(&strange), None);
}
