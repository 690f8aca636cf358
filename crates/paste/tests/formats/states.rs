// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and states are kept apart; what belongs together is one record.

use std::collections::BTreeMap;

use linerate_model::output::{Direction, Protocol, Role};
use linerate_model::record::Record;

use crate::texts::{PATCH, PORTS, ROUTER, SWEEP, SYSTEMS, TTCP};
use crate::{counter, one, read, setting};

#[test]
fn a_sweep_and_its_counters_are_one_record() {
    let record = one(SWEEP);
    assert!(record.pasted);
    let tests = &record.run.tests;
    assert_eq!(tests.len(), 6);
    let lossy = &tests[3];
    assert_eq!(
        (
            lossy.direction,
            lossy.protocol,
            lossy.requested_bits_per_second
        ),
        (Direction::Down, Protocol::Udp, Some(400e6))
    );
    assert_eq!(
        (lossy.sent_packets, lossy.lost_packets, lossy.payload_bytes),
        (Some(68965), Some(4601), 1470)
    );
    assert_eq!(lossy.local_interface.as_deref(), Some("eth0"));
    assert_eq!(counter(&record, "/proc/net/dev", "rx_fifo"), Some(782_502));
    let host = &record.run.hosts[0];
    assert_eq!(
        (host.hostname.as_deref(), host.kernel.as_deref()),
        (Some("nano-board"), Some("3.0.35-7"))
    );
    let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids, ["t1", "t2", "t3", "t4", "t5", "t6"]);
}

#[test]
fn before_and_after_a_patch_are_two_states() {
    let records = read(PATCH).records;
    let pause: Vec<_> = records
        .iter()
        .map(|record| setting(record, "ethtool", "Advertised pause frame use"))
        .collect();
    assert_eq!(pause, [Some("No".to_owned()), Some("Symmetric".to_owned())]);
    let registers: Vec<_> = records
        .iter()
        .map(|record| setting(record, "registers", "ENET_RCR"))
        .collect();
    assert_eq!(
        registers,
        [Some("0x05ee0244".to_owned()), Some("0x05ee0264".to_owned())]
    );
    let states: Vec<_> = records
        .iter()
        .map(|record| record.run.plan.get("state").cloned())
        .collect();
    assert_eq!(
        states,
        [Some("before".to_owned()), Some("after".to_owned())]
    );
}

#[test]
fn two_systems_on_one_board() {
    let records = read(SYSTEMS).records;
    assert_eq!(records.len(), 2);
    let android = &records[0];
    assert_eq!(android.run.hosts[0].hostname.as_deref(), Some("android"));
    assert_eq!(counter(android, "/proc/net/dev", "rx_drop"), Some(789));
    assert_eq!(
        setting(android, "sysctl", "net.ipv4.tcp_mem").as_deref(),
        Some("9285 12380 18570")
    );
    assert_eq!(
        setting(&records[1], "sysctl", "net.ipv4.tcp_mem").as_deref(),
        Some("18240 24320 36480")
    );
}

#[test]
fn sentences_of_a_router() {
    let records = read(ROUTER).records;
    let rates: Vec<_> = records
        .iter()
        .map(|record| {
            (
                setting(record, "ethtool -i", "driver").unwrap(),
                record
                    .run
                    .tests
                    .iter()
                    .map(|test| (test.payload_bytes, test.received_packets.unwrap()))
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        rates,
        [
            ("eepro100".to_owned(), vec![(0, 9700), (320, 8800)]),
            ("e100".to_owned(), vec![(320, 19200)])
        ]
    );
    assert_eq!(
        records[1].run.tests[0].delivered_bits_per_second,
        Some(52e6)
    );
}

#[test]
fn notes_of_two_drivers_said_twice() {
    let twice = format!("{TTCP}\nAll of it again:\n{TTCP}");
    let records = read(&twice).records;
    assert_eq!(records.len(), 2);
    let small: Vec<_> = records
        .iter()
        .map(|record| {
            record
                .run
                .tests
                .iter()
                .find(|test| test.payload_bytes == 64)
                .unwrap()
        })
        .collect();
    assert_eq!(
        (
            small[0].delivered_bits_per_second,
            small[1].delivered_bits_per_second
        ),
        (Some(17.4e6), Some(14.8e6))
    );
    let packets_per_second = small[0].sent_packets.unwrap() as f64 / small[0].duration_s;
    assert!((packets_per_second - 33_984.375).abs() < 0.01);
    assert_eq!(small[0].cpu.local.map(|cpu| cpu.system), Some(0.99));
}

#[test]
fn flows_and_interrupts_of_two_configurations() {
    let records = read(PORTS).records;
    let flows = |record: usize, test: usize| records[record].run.tests[test].flows.len();
    // Two tables of one host next to each other: a comparison.
    assert_eq!((flows(0, 2), flows(0, 4)), (3, 3));
    let sums = |name: &str| {
        records
            .iter()
            .filter_map(|record| counter(record, "/proc/interrupts", name))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        sums("124:ITS-fMSI 230000 Edge dpio.8/cpu0"),
        [119_703, 463_934]
    );
    // Never a difference of two configurations.
    assert!(records.iter().all(|record| differences(record).is_empty()));
}

/// What counters grew by that were read twice at one place.
fn differences(record: &Record) -> BTreeMap<&str, u64> {
    let mut grown = BTreeMap::new();
    for (at, first) in record.samples.iter().enumerate() {
        let later = record.samples[at + 1..].iter();
        for last in later.filter(|last| last.same_source(first)) {
            grown.extend(last.counters.iter().filter_map(|(name, after)| {
                let before = first.counters.get(name)?;
                Some((name.as_str(), after.checked_sub(*before)?))
            }));
        }
    }
    grown
}

const SNAPSHOT: &str =
    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: {in} 0 {err} 50 {err}\n";

fn snapshot(received: u64, errors: u64) -> String {
    SNAPSHOT
        .replace("{in}", &received.to_string())
        .replace("{err}", &errors.to_string())
}

#[test]
fn snapshots_marked_before_and_after_are_a_difference() {
    let (before, after) = (snapshot(1000, 5), snapshot(900_000, 4605));
    for text in [
        format!("Before:\n{before}\nAfter:\n{after}"),
        format!("After:\n{after}\nBefore:\n{before}"),
        format!(
            "# cat /proc/net/snmp\n{before}\n# iperf -c 192.0.2.1 -u\n[ 3] 0.0-10.0 sec 100 MBytes 90 Mbits/sec\n# cat /proc/net/snmp\n{after}"
        ),
    ] {
        let records = read(&text).records;
        let differences = differences(&records[0]);
        assert_eq!(differences.get("UdpRcvbufErrors"), Some(&4600), "{text}");
    }
}

#[test]
fn snapshots_that_fell_or_of_other_hosts_are_none() {
    for text in [
        format!(
            "Before:\n{}\nAfter:\n{}",
            snapshot(1000, 500),
            snapshot(10, 0)
        ),
        format!(
            "root@a:~# cat /proc/net/snmp\n{}root@b:~# cat /proc/net/snmp\n{}",
            snapshot(10, 0),
            snapshot(1000, 500)
        ),
        format!(
            "Old firmware\n\n{}\nNew firmware\n\n{}",
            snapshot(10, 0),
            snapshot(1000, 500)
        ),
    ] {
        let records = read(&text).records;
        assert!(
            records.iter().all(|record| differences(record).is_empty()),
            "{text}"
        );
        assert_eq!(records.len(), 2, "{text}");
    }
}

#[test]
fn both_ends_of_a_test_are_one_record() {
    let text = "root@board:~# iperf -s\nroot@pc:~# iperf -c 192.0.2.100\n------------------------------------------------------------\n\
        Client connecting to 192.0.2.100, TCP port 5001\n[ 5] local 192.0.2.182 port 35290 connected with 192.0.2.100 port 5001\n[ 5] 0.0-14.2 sec 55.4 MBytes 32.7 Mbits/sec\n\
        root@pc:~# ifconfig eth2\neth2 Link encap:Ethernet HWaddr 00:00:5e:00:53:03\nRX packets:287 errors:2 dropped:0 overruns:0 frame:2\n\
        Log @Server Side\nServer listening on TCP port 5001\n[ 4] local 192.0.2.100 port 5001 connected with 192.0.2.182 port 35290\n[ 4] 0.0-14.2 sec 55.4 MBytes 32.6 Mbits/sec\n";
    let record = one(text);
    assert_eq!(record.run.tests.len(), 1, "{:#?}", record.run.tests);
    assert_eq!(record.run.tests[0].direction, Direction::Down);
    let names: Vec<_> = record
        .run
        .hosts
        .iter()
        .map(|host| (host.role, host.hostname.as_deref()))
        .collect();
    assert_eq!(
        names,
        [(Role::Local, Some("board")), (Role::Remote, Some("pc"))]
    );
    assert_eq!(
        record
            .samples
            .iter()
            .find(|sample| sample.source == "/proc/net/dev")
            .map(|sample| sample.host),
        Some(Role::Remote)
    );
}

#[test]
fn what_was_understood_and_what_was_not() {
    let pasted = read(SWEEP);
    assert!(
        pasted.understood.iter().any(
            |passage| (passage.first_line, passage.last_line) == (17, 23)
                && passage.what.starts_with("ifconfig of eth0")
        ),
        "{:#?}",
        pasted.understood
    );
    assert!(
        pasted
            .ignored
            .iter()
            .any(|passage| passage.first_line == 1 && passage.what == "prose")
    );
    let nothing = read("Hello, my network is slow. Please help!\n");
    assert_eq!((nothing.records.len(), nothing.ignored.len()), (0, 1));
}
