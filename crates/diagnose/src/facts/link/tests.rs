// SPDX-License-Identifier: MIT OR Apache-2.0

mod physical;

use linerate_model::output::{LedgerEntry, LinkKind, LossBurst, Protocol, Role, Stage, Test};
use proptest::prelude::*;

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::fixtures::{Fixture, load, pasted, run, tcp, udp};
use linerate_model::record::Record;

const PEER: Role = Role::Remote;
const LINK: &str = "rtnl_link_stats64";

fn first(record: &Record) -> String {
    record.findings().into_iter().next().unwrap_or_default()
}

#[test]
fn the_link_has_agreed_on_less_than_it_could() {
    let link = |speed: &str, partner: &str| {
        pasted().set(
            Role::Local,
            "ethtool",
            &[
                ("Speed", speed),
                ("Duplex", "Full"),
                ("Advertised link modes", "100baseT/Full 1000baseT/Full"),
                ("Link partner advertised link modes", partner),
            ],
        )
    };
    assert_eq!(
        first(&link("100Mb/s", "100baseT/Full\n1000baseT/Full")),
        "L02"
    );
    assert_eq!(
        first(&link("1000Mb/s", "100baseT/Full\n1000baseT/Full")),
        ""
    );
    assert_eq!(first(&link("100Mb/s", "10baseT/Full\n100baseT/Full")), "");
}

#[test]
fn half_duplex_is_a_fault_where_it_hurts() {
    let hub = |collisions| {
        pasted()
            .set(
                Role::Local,
                "ethtool",
                &[("Duplex", "Half"), ("Speed", "10Mb/s")],
            )
            .read(
                Role::Local,
                LINK,
                &[("collisions", collisions), ("rx_packets", 100_000)],
            )
    };
    assert_eq!(first(&hub(4000)), "L01");
    assert_eq!(first(&hub(0)), "");
    let forced = pasted()
        .set(
            Role::Local,
            "ethtool",
            &[("Duplex", "Full"), ("Auto-negotiation", "off")],
        )
        .read(
            Role::Local,
            LINK,
            &[("rx_crc_errors", 900), ("rx_packets", 100_000)],
        );
    assert!(forced.findings().contains(&"L16".to_owned()));
}

#[test]
fn a_link_that_went_away_during_a_test() {
    let record = run(vec![udp("t1", 100_000, 9000)]).counted(
        "t1",
        PEER,
        LINK,
        &[("carrier_changes", 2), ("rx_packets", 91_000)],
    );
    assert!(record.findings().contains(&"L03".to_owned()));
    let boot = pasted().read(
        Role::Local,
        LINK,
        &[("carrier_changes", 12), ("rx_packets", 91_000)],
    );
    assert_eq!(first(&boot), "");
    let log = [
        ("line1", "fec 2188000.ethernet eth0: Link is Down"),
        ("line2", "eth0: link down"),
        ("line3", "eth0: Link is Down"),
    ];
    assert_eq!(first(&pasted().set(Role::Local, "dmesg", &log)), "L19");
}

#[test]
fn damaged_frames_and_damaged_packets_are_two_things() {
    let frames = run(vec![udp("t1", 800_000, 350)]).counted(
        "t1",
        PEER,
        LINK,
        &[("rx_crc_errors", 350), ("rx_packets", 799_650)],
    );
    assert_eq!(first(&frames), "L04");
    let packets = run(vec![udp("t1", 100_000, 640)]).counted(
        "t1",
        PEER,
        "/proc/net/snmp",
        &[
            ("UdpInCsumErrors", 640),
            ("UdpRcvbufErrors", 0),
            ("UdpInDatagrams", 99_360),
        ],
    );
    assert_eq!(packets.findings(), ["L10"]);
    // Of the packets that were counted one may be another flow's: no cause explains more than was lost.
    let more = run(vec![udp("t1", 100_000, 638)]).counted(
        "t1",
        PEER,
        "/proc/net/snmp",
        &[("UdpInCsumErrors", 640), ("UdpInDatagrams", 99_360)],
    );
    let explained = more
        .explained()
        .findings
        .into_iter()
        .find(|finding| finding.rule == "L10");
    assert_eq!(
        explained.and_then(|finding| finding.explains.lost_packets),
        Some(638)
    );
}

#[test]
fn order_and_copies() {
    let mut test = udp("t1", 100_000, 0);
    test.reordered_packets = Some(900);
    assert_eq!(run(vec![test.clone()]).findings(), ["L11"]);
    (test.reordered_packets, test.duplicate_packets) = (Some(3), Some(1000));
    assert_eq!(run(vec![test]).findings(), ["L12"]);
}

#[test]
fn packet_sizes_that_differ() {
    let sizes = |kind, here| {
        let mut test = udp("t1", 100_000, 0);
        test.link_kind = Some(kind);
        let mut record = run(vec![test]);
        record.run.hosts[1].interfaces[0].mtu = Some(here);
        record
    };
    assert_eq!(sizes(LinkKind::Veth, 1400).findings(), ["L07"]);
    assert_eq!(sizes(LinkKind::Wire, 1400).findings(), ["(L17)"]);
    assert_eq!(sizes(LinkKind::Veth, 1500).findings(), [""; 0]);
    let refused = sizes(LinkKind::Wire, 1400).counted(
        "t1",
        Role::Local,
        "/proc/net/snmp",
        &[("IpFragFails", 80)],
    );
    assert!(refused.findings().contains(&"L07".to_owned()));
}

/// A wire whose receiver drops long frames and counts none of them.
#[test]
fn datagrams_longer_than_the_other_end_takes() {
    let sent = |payload, lost| {
        let mut test = udp("t1", 1000, lost);
        (test.link_kind, test.payload_bytes) = (Some(LinkKind::Wire), payload);
        let mut record = run(vec![test]);
        record.run.hosts[0].interfaces[0].mtu = Some(9000);
        record.run.hosts[1].interfaces[0].mtu = Some(1500);
        record.findings()
    };
    let names_it = |payload, lost| sent(payload, lost).contains(&"L07b".to_owned());
    assert!(names_it(4000, 1000));
    assert!(!names_it(4000, 500), "some of them arrived");
    assert!(!names_it(1400, 1000), "they are short enough");
}

/// A test with loss bursts of this length, at these distances.
fn lossy(id: &str, offered: f64, delivered: f64, row: u64, distances: &[u64]) -> Test {
    let sent = (offered * 10.0 / 8.0 / 1470.0) as u64;
    let arrived = (delivered * 10.0 / 8.0 / 1470.0) as u64;
    let mut test = udp(id, sent, sent - arrived);
    (test.offered_bits_per_second, test.delivered_bits_per_second) =
        (Some(offered), Some(delivered));
    let mut sequence = 1;
    for index in 0..40 {
        test.loss_bursts.push(LossBurst {
            first_sequence: sequence,
            at_s: index as f64 / 4.0,
            packets: row,
            ..LossBurst::default()
        });
        sequence += distances[index % distances.len()];
    }
    test
}

/// What is found where all that these tests lost was lost at this stage, with sound checksums.
fn lost_at(stage: &str, tests: Vec<Test>) -> Vec<String> {
    let ids: Vec<String> = tests.iter().map(|test| test.id.clone()).collect();
    let sound = |record: Record, id: &String| {
        record.counted(id, PEER, "/proc/net/snmp", &[("UdpInCsumErrors", 0)])
    };
    let record = ids.iter().fold(run(tests), sound);
    record.judged_at(stage).0
}

/// The same loss at another size of datagram.
fn sized(bytes: u32, test: Test) -> Test {
    let packets = f64::from(bytes) / f64::from(test.payload_bytes);
    let scaled = |rate: Option<f64>| rate.map(|rate| rate * packets);
    Test {
        payload_bytes: bytes,
        offered_bits_per_second: scaled(test.offered_bits_per_second),
        delivered_bits_per_second: scaled(test.delivered_bits_per_second),
        ..test
    }
}

/// Two tests of 1470 bytes that meet 96 Mbit/s of payload.
fn level() -> Vec<Test> {
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    vec![
        lossy("t1", 2e8, 9.6e7, 1, &chance),
        lossy("t2", 3e8, 9.7e7, 2, &chance),
    ]
}

#[test]
fn a_ceiling_is_refuted_by_a_test_that_carried_more() {
    let beside = |test: Test| {
        let mut tests = level();
        tests.push(test);
        lost_at("wire", tests)
    };
    let has = |found: &[String]| found.iter().any(|rule| rule == "L14" || rule == "L20");
    assert!(!has(&beside(tcp("t3", 5.6e8))));
    assert!(has(&beside(tcp("t3", 9.0e7))));
    // Fewer bits in more packets: then it is one of bits.
    let short = sized(64, udp("t3", 300_000, 0));
    assert!(has(&beside(short)));
    // The other direction is another way.
    let other_way = Test {
        direction: linerate_model::output::Direction::Down,
        ..tcp("t3", 5.6e8)
    };
    assert!(has(&beside(other_way)));
}

#[test]
fn a_level_that_a_socket_made_is_no_ceiling_of_the_path() {
    for stage in ["rx-socket", "rx-ring", "tx-qdisc"] {
        let (_, facts) = run(level()).judged_at(stage);
        let ceiling = facts.list().iter().find(|fact| fact.name == "path_ceiling");
        assert_eq!(ceiling.unwrap().value, false.into(), "{stage}");
    }
}

#[test]
fn the_same_packets_of_two_sizes_are_a_ceiling_of_packets() {
    let short = level().into_iter().enumerate().map(|(index, test)| {
        let test = sized(64, test);
        Test {
            id: format!("s{index}"),
            ..test
        }
    });
    let tests: Vec<Test> = level().into_iter().chain(short).collect();
    let found = lost_at("wire", tests);
    let has = |rule: &str| found.iter().any(|one| one == rule);
    assert!(has("L20") && !has("L14") && !has("L09"), "{found:?}");
}

/// One size shows no ceiling of packets: not even where a test of another size, which met no ceiling, lost a little at a
/// similar rate.
#[test]
fn a_lossy_test_of_another_size_is_no_second_level() {
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    let ceiling_with = |offered| {
        let mut other = sized(64, lossy("s0", offered, 9.6e7, 1, &chance));
        other.group = "s0".to_owned();
        let tests: Vec<Test> = level().into_iter().chain([other]).collect();
        lost_at("wire", tests)
    };
    let has = |found: Vec<String>, rule: &str| found.iter().any(|one| one == rule);
    assert!(!has(ceiling_with(1.0e8), "L20"));
    assert!(has(ceiling_with(1.4e8), "L20"));
}

/// Where it is not known what the wire lost, it is not known to have no ceiling.
#[test]
fn a_ceiling_is_not_denied_where_the_load_is_not_known() {
    let known = |least| {
        let record = run(vec![lossy("t1", 5e7, 4.95e7, 1, &[3, 190, 55])]);
        let lost = record.run.tests[0].lost_packets.unwrap();
        let wire = Stage {
            stage: "wire".to_owned(),
            lo: if least { lost } else { 0 },
            hi: lost,
            ..Stage::default()
        };
        let entry = LedgerEntry {
            test_id: "t1".to_owned(),
            lost_packets: lost,
            stages: vec![wire],
            ..LedgerEntry::default()
        };
        let facts = Facts::of(&Evidence::of(&record), &[entry]);
        let ceiling = facts.list().iter().find(|fact| fact.name == "path_ceiling");
        ceiling.map(|fact| fact.value.clone())
    };
    assert_eq!(known(true), Some(false.into()));
    assert_eq!(known(false), None);
}

/// Ethernet, IPv4 and UDP or TCP with timestamps.
fn frame_bits(test: &Test) -> Option<f64> {
    let (payload, headers) = match test.protocol {
        Protocol::Udp => (test.payload_bytes, 42.0),
        Protocol::Tcp => (test.mss_bytes?, 66.0),
    };
    let payload = f64::from(payload);
    Some(test.delivered_bits_per_second? * (payload + headers) / payload)
}

prop_compose! {
    fn any_test()(rate in 1e6..1e9_f64, share in 0.05..1.0_f64, short: bool, is_tcp: bool) -> Test {
        let chance = [3, 190, 55, 12, 301, 88, 40, 7];
        match (is_tcp, short) {
            (true, _) => tcp("", rate),
            (false, true) => sized(64, lossy("", rate, rate * share, 1, &chance)),
            (false, false) => lossy("", rate, rate * share, 1, &chance),
        }
    }
}

proptest! {
    /// Whatever the tests: no ceiling in bits lies below what a test of the direction carried, nor above every offer.
    #[test]
    fn no_test_carried_more_than_a_ceiling(mut tests in prop::collection::vec(any_test(), 1..8)) {
        for (index, test) in tests.iter_mut().enumerate() {
            test.id = format!("t{index}");
            test.group.clone_from(&test.id);
        }
        let (_, facts) = run(tests.clone()).judged_at("wire");
        let ceilings = facts.list().iter().filter(|fact| fact.name == "path_ceiling_bits_per_second");
        let most = tests.iter().filter_map(frame_bits).fold(0.0, f64::max);
        for ceiling in ceilings.filter_map(|fact| fact.value.number()) {
            prop_assert!(most <= ceiling * 1.1 + 1.0, "{most} through {ceiling}");
            prop_assert!(ceiling <= most * 1.22 + 1.0, "{ceiling}, but at most {most} arrived");
        }
    }
}

#[test]
fn how_the_path_loses_tells_why() {
    let found = |tests| lost_at("wire", tests);
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    assert_eq!(found(vec![lossy("t1", 5e7, 4.95e7, 1, &chance)]), ["L09"]);
    assert_eq!(found(vec![lossy("t1", 5e7, 4.95e7, 11, &chance)]), ["L13"]);
    let ceiling = [
        lossy("t1", 2e8, 9.6e7, 1, &chance),
        lossy("t2", 3e8, 9.7e7, 2, &chance),
    ];
    assert_eq!(found(ceiling.to_vec()), ["L14"]);
    let beside_tcp = |tcp_rate| vec![lossy("t1", 9e7, 9.7e6, 80, &chance), tcp("t2", tcp_rate)];
    assert_eq!(found(beside_tcp(1.0e7)), ["L14"]);
    for no_level in [1.87e7, 1e5] {
        assert_eq!(found(beside_tcp(no_level))[0], "L13", "{no_level}");
    }
    let uneven = |row| {
        let mut tests = [
            lossy("t1", 8e7, 5.59e7, row, &chance),
            lossy("t2", 1.2e8, 6.26e7, row, &chance),
        ];
        tests.iter_mut().for_each(|test| {
            let rows = test.lost_packets.unwrap_or(0) / row;
            test.loss_bursts.truncate(rows as usize);
        });
        found(tests.to_vec())
    };
    assert_eq!(uneven(2), ["L14"]);
    assert_eq!(uneven(2_000), ["L13"]);
    let proportional = [
        lossy("t1", 2e8, 1.98e8, 1, &chance),
        lossy("t2", 3e8, 2.97e8, 1, &chance),
    ];
    assert_eq!(found(proportional.to_vec()), ["L09"]);
    assert_eq!(found(vec![lossy("t1", 5e7, 4.95e7, 1, &[100])]), ["L15"]);
}

#[test]
fn a_sleeping_link_shows_in_slow_round_trips() {
    use linerate_model::output::{Latency, Quantiles};
    let link = |p99| {
        let mut record = run(vec![tcp("t1", 9.41e8)]).set(
            PEER,
            "ethtool --show-eee",
            &[("EEE status", "enabled - active")],
        );
        let rtt = Quantiles {
            p50: 120_000,
            p99,
            ..Quantiles::default()
        };
        record.run.latency = vec![Latency {
            rtt_ns: Some(rtt),
            ..Latency::default()
        }];
        first(&record)
    };
    assert_eq!(link(900_000), "L06");
    assert_eq!(link(160_000), "");
}

/// A sender that catches up after a pause meets a ceiling for a moment: often where its rate is near, and once or twice far
/// below.
#[test]
fn losses_below_a_ceiling_are_not_called_losses_at_every_rate() {
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    let is_named = |offered: f64, arrives: f64| {
        let below = lossy("t3", offered, offered * arrives, 1, &chance);
        let tests = level().into_iter().chain([below]).collect();
        lost_at("wire", tests).contains(&"L09".to_owned())
    };
    assert!(!is_named(8e7, 0.97), "five sixths of it");
    assert!(!is_named(3e7, 0.997), "a third of it, and few");
    assert!(is_named(3e7, 0.97), "a third of it");
}

/// The lab's wire switches offloads off and loses what it cannot carry: neither is a fault of the hosts or of a path.
#[test]
fn what_the_lab_s_own_wire_does_is_no_fault_of_the_path() {
    use linerate_model::output::{Direction, LabWire};
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    let wired = |overload_drops| {
        let test = lossy("t1", 5e7, 4.95e7, 11, &chance);
        let mut record =
            run(vec![test]).counted("t1", PEER, "/proc/net/snmp", &[("UdpInCsumErrors", 0)]);
        record.run.lab_wire = vec![LabWire {
            direction: Direction::Up,
            frames: 50_000,
            overload_drops,
        }];
        record.judged_at("wire").0
    };
    assert_eq!(wired(0), ["L13"]);
    assert_eq!(wired(420), ["L21"]);
    assert_eq!(wired(150), ["L21"], "the others are not known apart");
    assert_eq!(wired(40), ["L13"]);
    assert_eq!(searched_over_a_wire(), ["L13", "(L21b)"]);
    // Nothing was counted around its two tests: each lost its share of what the wire lost, and the rest elsewhere.
    let tests = ["t1", "t2"].map(|id| Test {
        group: id.to_owned(),
        ..lossy(id, 5e7, 4.95e7, 11, &chance)
    });
    let lost = tests[0].lost_packets.unwrap();
    let mut record = run(tests.to_vec());
    record.run.lab_wire = vec![LabWire {
        direction: Direction::Up,
        frames: 50_000,
        overload_drops: lost,
    }];
    let drops = |record: &Record| -> Vec<Option<f64>> {
        let (_, facts) = record.judged_at("wire");
        let drops = facts.list().iter();
        let drops = drops.filter(|fact| fact.name == "lab_wire_drops");
        drops.map(|fact| fact.value.number()).collect()
    };
    assert_eq!(drops(&record), [Some((lost / 2) as f64); 2]);
    // The reading after a test includes the probes that were lost.
    let own = |record: Record, id: &str, drops: u64| {
        let drops = [("up_overload_drops", drops)];
        record.counted(id, Role::Local, "lab wire", &drops)
    };
    let counted = own(own(record, "t1", lost + 1), "t2", 0);
    assert_eq!(drops(&counted), [Some(lost as f64), Some(0.0)]);
    let sound = counted.counted("t2", PEER, "/proc/net/snmp", &[("UdpInCsumErrors", 0)]);
    let (rules, _) = sound.judged_at("wire");
    assert!(
        ["L13", "L21"]
            .iter()
            .all(|rule| rules.iter().any(|named| named == rule)),
        "{rules:?}"
    );
}

/// What is found where a search lost packets at 50 Mbit/s, and its flood overloaded the wire: what the path did comes
/// first.
fn searched_over_a_wire() -> Vec<String> {
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    let trial = |id: &str, offered: f64, arrives: f64| Test {
        group: id.to_owned(),
        ..lossy(id, offered, offered * arrives, 11, &chance)
    };
    let tests = vec![trial("t1", 5e7, 0.99), trial("t2", 2e9, 0.4)];
    let flood = tests[1].lost_packets.unwrap();
    let mut record = run(tests);
    record.run.kind = "check".to_owned();
    record.run.lab_wire = vec![linerate_model::output::LabWire {
        overload_drops: flood,
        ..Default::default()
    }];
    let own = |record: Record, (id, drops): (&str, u64)| {
        record
            .counted(id, Role::Local, "lab wire", &[("up_overload_drops", drops)])
            .counted(id, PEER, "/proc/net/snmp", &[("UdpInCsumErrors", 0)])
    };
    let record = [("t1", 0), ("t2", flood)].into_iter().fold(record, own);
    record.judged_at("wire").0
}

/// A queue of 1 MB before 50 Mbit/s: 150 and 300 ms of 62 Mbit/s, of which the rest arrived after the sender had ended.
#[test]
fn what_a_queue_delivers_later_is_above_no_ceiling() {
    let chance = [3, 190, 55, 12, 301, 88, 40, 7];
    let late = |id: &str, offered: f64, arrives: f64| Test {
        delivered_bits_per_second: Some(48.5e6),
        ..lossy(id, offered, offered * arrives, 11, &chance)
    };
    let record = run(vec![late("t1", 62e6, 0.96), late("t2", 120e6, 0.8)]);
    let (_, facts) = record.judged_at("wire");
    let ceilings = facts.list().iter();
    let ceilings = ceilings.filter(|fact| fact.name == "path_ceiling_bits_per_second");
    let ceilings: Vec<f64> = ceilings.filter_map(|fact| fact.value.number()).collect();
    // With 42 bytes of headers on 1470.
    assert_eq!(ceilings.len(), 2);
    assert!(
        ceilings.iter().all(|rate| (49.8e6..50.0e6).contains(rate)),
        "{ceilings:?}"
    );
}

/// A rule of the path has nothing to say of a test that it does not look at: it does not lack evidence either.
#[test]
fn a_ceiling_is_not_asked_of_tcp() {
    let mut test = tcp("t1", 5e8);
    test.lost_packets = Some(40);
    let record = run(vec![test]);
    let (_, facts) = record.judged_at("wire");
    let wire = facts.list().iter().any(|fact| fact.name == "lost_at_wire");
    let rules = record.undecided_at("wire");
    assert!(
        wire && !rules.iter().any(|rule| rule == "L14" || rule == "L20"),
        "{rules:?}"
    );
}

#[test]
fn offloads_that_the_lab_switched_off_are_no_fault_of_the_sender() {
    let sender = |wire: Vec<linerate_model::output::LabWire>| {
        let mut test = tcp("t1", 5e8);
        test.cpu.local = load(0.99);
        let features = [
            ("tcp-segmentation-offload", "off"),
            ("generic-segmentation-offload", "off"),
        ];
        let mut record = run(vec![test]).set(Role::Local, "ethtool -k", &features);
        record.run.lab_wire = wire;
        record.findings().contains(&"P03".to_owned())
    };
    assert!(sender(Vec::new()));
    assert!(!sender(vec![linerate_model::output::LabWire::default()]));
}
