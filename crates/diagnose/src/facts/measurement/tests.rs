// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::output::{
    Direction, Latency, LossBurst, MovedCounter, Phase, Role, Test, Warning,
};
use proptest::prelude::*;

use crate::fixtures::{Fixture, load, pasted, run, tcp, udp};
use linerate_model::record::{Record, Side};
use linerate_model::sample::{self, Sample};

const PEER: Role = Role::Remote;

fn has(record: &Record, rule: &str) -> bool {
    record.findings().iter().any(|found| found == rule)
}

fn short_of(requested: f64, offered: f64) -> Test {
    let mut test = udp("t1", 78_000, 0);
    (test.requested_bits_per_second, test.offered_bits_per_second) =
        (Some(requested), Some(offered));
    test.delivered_bits_per_second = Some(offered);
    test
}

#[test]
fn a_sender_that_falls_short() {
    assert_eq!(run(vec![short_of(1e9, 4.53e8)]).findings(), ["M01"]);
    assert_eq!(run(vec![short_of(4e8, 3.99e8)]).findings(), [""; 0]);
    let starved = run(vec![short_of(1e9, 4.53e8)]).idle_busy("t1", Role::Local, 1.0);
    assert_eq!(starved.findings(), ["M11", "M01"]);
}

#[test]
fn a_search_looks_for_rates_that_cannot_be_had() {
    for kind in ["check", "sweep"] {
        let mut record = run(vec![short_of(1e9, 4.53e8)]);
        record.run.kind = kind.to_owned();
        assert_eq!(record.findings(), [""; 0], "{kind}");
    }
}

/// Port unreachable after 20 ms: what was not sent says nothing of the sender.
#[test]
fn a_sender_that_failed_was_not_slow() {
    let mut test = short_of(1e9, 4.53e8);
    test.warnings.push(Warning {
        id: "stream-failed".to_owned(),
        ..Warning::default()
    });
    assert!(!has(&run(vec![test]), "M01"));
}

#[test]
fn what_the_own_kernel_refused_is_no_slow_sender() {
    let mut test = short_of(1e9, 4.53e8);
    test.refused_packets = Some(9000);
    assert!(!has(&run(vec![test]), "M01"));
}

#[test]
fn numbers_that_cannot_be() {
    let mut test = udp("t1", 51_843, 0);
    test.warnings.push(Warning {
        id: "negative-loss".to_owned(),
        ..Warning::default()
    });
    assert_eq!(run(vec![test.clone()]).findings(), ["M02"]);
    test.warnings.clear();
    test.received_packets = Some(51_844);
    assert_eq!(run(vec![test]).findings(), ["M02"]);
}

#[test]
fn short_runs_are_judged_where_they_are_put_forward() {
    let mut test = tcp("t1", 9.4e8);
    test.duration_s = 2.0;
    let mut record = run(vec![test]);
    assert_eq!(record.findings(), [""; 0]);
    record.pasted = true;
    assert_eq!(record.findings(), ["M03"]);
    record.run.tests[0].duration_s = 10.0;
    assert_eq!(record.findings(), [""; 0]);
    let again = Test {
        delivered_bits_per_second: Some(3e8),
        id: "t2".to_owned(),
        ..record.run.tests[0].clone()
    };
    record.run.tests.push(again);
    assert_eq!(record.findings(), ["M12"]);
}

#[test]
fn a_loss_that_is_the_same_at_every_rate_belongs_to_the_start() {
    let sweep = |lost: [u64; 3]| {
        let sent = [68_965, 96_927, 120_000];
        let tests = sent
            .into_iter()
            .zip(lost)
            .enumerate()
            .map(|(index, (sent, lost))| udp(&format!("t{index}"), sent, lost));
        let mut record = run(tests.collect());
        record.run.kind = "udp".to_owned();
        record
    };
    assert!(has(&sweep([4751, 4750, 4687]), "M04"));
    assert!(!has(&sweep([4751, 15_956, 40_526]), "M04"));
}

#[test]
fn losses_at_the_start_are_known_by_their_time() {
    let lost_at = |at_s| {
        let mut test = udp("t1", 100_000, 300);
        test.loss_bursts = vec![LossBurst {
            at_s,
            packets: 300,
            ..LossBurst::default()
        }];
        run(vec![test])
    };
    assert!(has(&lost_at(0.1), "M04"));
    assert!(!has(&lost_at(5.0), "M04"));
    // A counter says which queue it was: that is the cause, whenever it was.
    let overflowed = lost_at(0.1).counted(
        "t1",
        PEER,
        "/proc/net/snmp",
        &[("UdpRcvbufErrors", 300), ("UdpInDatagrams", 99_700)],
    );
    assert!(!has(&overflowed, "M04"), "{:?}", overflowed.findings());
}

#[test]
fn other_traffic_at_the_same_interface() {
    let came = |packets| {
        run(vec![udp("t1", 100_000, 0)]).counted(
            "t1",
            PEER,
            "rtnl_link_stats64",
            &[("rx_packets", packets)],
        )
    };
    assert_eq!(came(140_000).findings(), ["M05"]);
    assert_eq!(came(103_000).findings(), ["M05"]);
    assert_eq!(came(101_900).findings(), [""; 0]);
    let mut fragmented = came(600_000);
    fragmented.run.tests[0].payload_bytes = 8192;
    assert_eq!(fragmented.findings(), [""; 0]);
}

/// A document without samples says by how much, and not in which time: in that of the test.
#[test]
fn other_traffic_is_known_from_a_document() {
    let document = |delta| {
        let mut record = run(vec![udp("t1", 100_000, 0)]);
        record.run.tests[0].counters = vec![MovedCounter {
            name: "rx_packets".to_owned(),
            delta,
            source: "rtnl_link_stats64".to_owned(),
            host: PEER,
            interface: Some("eth1".to_owned()),
        }];
        record
    };
    assert!(has(&document(140_000), "M05"));
    assert!(!has(&document(101_000), "M05"));
}

/// Figures of others are any numbers.
#[test]
fn counts_without_bounds_are_added_without_a_panic() {
    let mut test = udp("t1", 100_000, 0);
    test.sent_packets = Some(u64::MAX);
    test.duplicate_packets = Some(u64::MAX);
    let record = run(vec![test]).counted("t1", PEER, "rtnl_link_stats64", &[("rx_packets", 9)]);
    assert!(!has(&record, "M05"));
}

/// A test of 0.15 s between readings that are 0.25 s apart, with its own probes, reports and acknowledgements.
fn short_test(direction: Direction, own: u64, foreign: u64) -> Record {
    let mut test = udp("t1", 3_000, 0);
    (test.duration_s, test.direction) = (0.15, direction);
    let role = Side::Receiver.role(&test);
    let mut record = run(vec![test]);
    record.run.latency = vec![Latency {
        phase: Phase::Up,
        method: "udp-probe".to_owned(),
        sent: 5_000,
        ..Latency::default()
    }];
    let interface = if role == PEER { "eth1" } else { "eth0" };
    let reading = |t_ns, host, interface: Option<&str>, value| Sample {
        host,
        t_ns,
        source: "rtnl_link_stats64".to_owned(),
        interface: interface.map(str::to_owned),
        group: Some("t1".to_owned()),
        phase: Some(sample::Phase::Load),
        counters: [("rx_packets".to_owned(), value)].into(),
        ..Sample::default()
    };
    let arrived = 3_000 + own + foreign;
    record.samples = vec![
        reading(0, role, Some(interface), 0),
        reading(250_000_000, role, Some(interface), arrived),
    ];
    record
}

proptest! {
    /// A probe every 10 ms, 32 segments of the conversation: whatever arrives within that is the test's own.
    #[test]
    fn the_tests_own_packets_are_no_other_traffic(own in 0..57_u64, down: bool) {
        let direction = if down { Direction::Down } else { Direction::Up };
        let record = short_test(direction, own, 0);
        let facts = record.explained().facts;
        let foreign = facts.iter().find(|fact| fact.name == "foreign_packets");
        prop_assert_eq!(foreign.and_then(|fact| fact.value.number()), Some(0.0));
    }

    /// What is beyond is reported, as a lower bound and by the time between the readings.
    #[test]
    fn other_traffic_is_never_overstated(own in 0..57_u64, foreign in 0..5_000_u64) {
        let record = short_test(Direction::Up, own, foreign);
        let facts = record.explained().facts;
        let number = |name| facts.iter().find(|fact| fact.name == name)?.value.number();
        let counted = number("foreign_packets").unwrap();
        prop_assert!(counted <= foreign as f64, "{counted} of {foreign}");
        prop_assert_eq!(number("foreign_packets_per_second"), Some(counted / 0.25));
        prop_assert!(foreign < 200 || has(&record, "M05"), "{:?}", record.findings());
    }
}

/// A copy that the socket dropped reached the interface as well.
#[test]
fn copies_of_lost_datagrams_are_no_other_traffic() {
    let mut test = udp("t1", 100_000, 50_000);
    test.duplicate_packets = Some(2_500);
    let counted = [("rx_packets", 105_000)];
    let record = run(vec![test]).counted("t1", PEER, "rtnl_link_stats64", &counted);
    assert!(!has(&record, "M05"), "{:?}", record.findings());
}

#[test]
fn multicast_is_of_no_test() {
    let came = |multicast| {
        let counted = [("rx_packets", 100_000), ("multicast", multicast)];
        run(vec![udp("t1", 100_000, 0)]).counted("t1", PEER, "rtnl_link_stats64", &counted)
    };
    assert_eq!(came(9000).findings(), ["M13"]);
    assert_eq!(came(900).findings(), [""; 0]);
}

#[test]
fn a_report_that_never_came() {
    let mut test = udp("t1", 100_000, 0);
    test.warnings.push(Warning {
        id: "tool-error".to_owned(),
        text: "WARNING: did not receive ack of last datagram after 10 tries.".to_owned(),
        ..Warning::default()
    });
    assert_eq!(run(vec![test]).findings(), ["M06"]);
}

#[test]
fn a_rate_is_distinguished_from_what_it_takes_of_the_link() {
    let table = |rate| {
        let mut test = udp("t1", 19_200, 0);
        (test.duration_s, test.payload_bytes) = (1.0, 320);
        test.delivered_bits_per_second = Some(rate);
        run(vec![test])
    };
    let pasted = |rate| Record {
        pasted: true,
        ..table(rate)
    };
    let counts_the_gap = |record: Record| record.findings().contains(&"(M07)".to_owned());
    assert!(counts_the_gap(pasted(5.2e7)));
    assert!(!counts_the_gap(pasted(19_200.0 * 320.0 * 8.0)));
    assert!(!counts_the_gap(table(5.2e7)), "our own rate is payload");
}

#[test]
fn a_capture_counts_where_it_costs() {
    let board = |busy| {
        let mut test = udp("t1", 100_000, 5000);
        test.cpu.remote = load(busy);
        run(vec![test]).set(PEER, "/proc/net/packet", &[("sockets", "1")])
    };
    assert!(has(&board(0.98), "M08"));
    assert!(!has(&board(0.3), "M08"));
}

#[test]
fn what_changed_between_two_readings() {
    let cpu = "/sys/devices/system/cpu/cpu0/cpufreq";
    let mut paced = pasted()
        .set(PEER, cpu, &[("scaling_cur_freq", "996000")])
        .set(PEER, cpu, &[("scaling_cur_freq", "396000")]);
    assert_eq!(paced.findings(), ["M09"]);
    paced.pasted = false;
    assert_eq!(paced.findings(), [""; 0]);
    let kernels = pasted()
        .set(PEER, "/proc/version", &[("version", "3.0.35-2026")])
        .set(PEER, "/proc/cmdline", &[("cmdline", "quiet")])
        .set(PEER, "/proc/version", &[("version", "3.0.35-2076")])
        .set(
            PEER,
            "/proc/cmdline",
            &[("cmdline", "quiet enable_wait_mode=off")],
        );
    assert_eq!(kernels.findings(), ["M10"]);
}
