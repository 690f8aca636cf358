// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::made_up::{Fixture, pasted, run, udp};
use linerate_knowledge::Stage;

const STATS: &str = "ethtool -S";

fn fec_losses(record: &Record, test: Option<&Test>) -> Option<Counted> {
    meaning(
        record,
        Role::Local,
        Some("eth0"),
        test,
        Meaning::Dropped(Stage::RxMac),
    )
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
    let of = |test: usize, name| {
        let test = Some(&record.run.tests[test]);
        delta(&record, Role::Remote, "/proc/net/snmp", None, name, test)
            .map(|found| (found.value, found.since_boot))
    };
    assert_eq!(of(0, "UdpRcvbufErrors"), Some((7, false)));
    assert_eq!(of(1, "UdpRcvbufErrors"), None);
    assert_eq!(
        delta(
            &record,
            Role::Remote,
            "/proc/net/snmp",
            None,
            "UdpRcvbufErrors",
            None
        ),
        None
    );
}

#[test]
fn pasted_once_is_since_boot_and_twice_is_a_difference() {
    let once = pasted().read(Role::Local, "rtnl_link_stats64", &[("rx_dropped", 700)]);
    let twice = once
        .clone()
        .read(Role::Local, "rtnl_link_stats64", &[("rx_dropped", 789)]);
    let anew = twice
        .clone()
        .read(Role::Local, "rtnl_link_stats64", &[("rx_dropped", 5)]);
    for (record, expected) in [(once, (700, true)), (twice, (89, false)), (anew, (5, true))] {
        let found = delta(
            &record,
            Role::Local,
            "rtnl_link_stats64",
            Some("eth0"),
            "rx_dropped",
            None,
        );
        assert_eq!(
            found.map(|found| (found.value, found.since_boot)),
            Some(expected)
        );
    }
}

#[test]
fn counters_go_round_where_their_width_ends_and_a_reset_is_no_number() {
    assert_eq!(grown(&[65_000, 400], Width::U16, false), Some((936, false)));
    assert_eq!(grown(&[65_000, 400], Width::Long, false), None);
    assert_eq!(
        grown(&[u64::from(u32::MAX), 4], Width::Long, false),
        Some((5, false))
    );
    assert_eq!(grown(&[12], Width::Long, false), None);
}

#[test]
fn the_idle_interval_is_counted_apart() {
    let mut record =
        run(vec![udp("t1", 10, 0)]).counted("t1", Role::Local, "softnet", &[("dropped", 8)]);
    let (mut before, mut after) = (record.samples[0].clone(), record.samples[0].clone());
    after.counters.insert("dropped".to_owned(), 3);
    for sample in [&mut before, &mut after] {
        sample.phase = Some(Phase::Idle);
        record.samples.insert(0, sample.clone());
    }
    record.samples.swap(0, 1);
    let test = &record.run.tests[0];
    let name = Some("eth0");
    assert_eq!(
        background(&record, Role::Local, "softnet", name, "dropped", test),
        Some(3)
    );
    let load = delta(&record, Role::Local, "softnet", name, "dropped", Some(test));
    assert_eq!(load.map(|found| found.value), Some(8));
}

#[test]
fn one_packet_in_two_counters_is_one_packet() {
    let record = pasted()
        .set(Role::Local, "ethtool -i", &[("driver", "fec")])
        .read(
            Role::Local,
            STATS,
            &[
                ("IEEE_rx_macerr", 4598),
                ("IEEE_tx_fdxfc", 12),
                ("IEEE_rx_fdxfc", 3),
            ],
        )
        .read(
            Role::Local,
            "rtnl_link_stats64",
            &[("rx_fifo_errors", 4000), ("rx_errors", 4100)],
        );
    let found = fec_losses(&record, None).unwrap();
    assert_eq!(found.value, 4598);
    assert!(found.source.contains("IEEE_rx_macerr"), "{found:?}");
    for (asked, value) in [(Meaning::PauseSent, 12), (Meaning::PauseReceived, 3)] {
        let found = meaning(&record, Role::Local, Some("eth0"), None, asked);
        assert_eq!(found.map(|found| found.value), Some(value));
    }
}

#[test]
fn a_driver_is_known_by_the_names_it_prints() {
    let record = pasted().read(
        Role::Local,
        STATS,
        &[("IEEE_rx_macerr", 5), ("IEEE_rx_crc", 0), ("novel", 0)],
    );
    assert_eq!(fec_losses(&record, None).map(|found| found.value), Some(5));
    let strange = pasted().read(Role::Local, STATS, &[("novel", 5)]);
    assert_eq!(fec_losses(&strange, None), None);
}
