// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each rule of the ledger, by a world in which it decides.

use linerate_diagnose::evidence::Evidence;
use linerate_diagnose::ledger;
use linerate_model::output::{IoMode, LedgerEntry, Role, Stage};
use linerate_model::record::Record;
use linerate_model::sample::Sample;

use crate::world::{LOAD_S, Losses, Nic, World};

fn entry(world: &World) -> LedgerEntry {
    ledger::of(&Evidence::of(&world.record())).remove(0)
}

fn stage<'e>(entry: &'e LedgerEntry, name: &str) -> &'e Stage {
    let found = entry.stages.iter().find(|stage| stage.stage == name);
    found.unwrap_or_else(|| panic!("{name} in {entry:?}"))
}

#[test]
fn what_a_filter_drops_has_no_counter_and_is_found_all_the_same() {
    let world = World::new(
        Nic::Veth,
        Losses {
            filter: 500,
            ..Losses::default()
        },
    );
    let entry = entry(&world);
    let ip = stage(&entry, "rx-ip");
    assert_eq!((ip.lo, ip.hi, ip.kind.as_str()), (500, 500, "balance"));
    assert_eq!((entry.unattributed_lo, entry.unattributed_hi), (0, 0));
}

#[test]
fn a_full_socket_is_exact_and_nothing_else_is_suspected() {
    let world = World::new(
        Nic::Veth,
        Losses {
            socket: 321,
            ..Losses::default()
        },
    );
    let entry = entry(&world);
    let socket = stage(&entry, "rx-socket");
    assert_eq!(
        (socket.lo, socket.hi, socket.kind.as_str()),
        (321, 321, "exact")
    );
    let others = entry
        .stages
        .iter()
        .filter(|stage| stage.stage != "rx-socket");
    assert!(others.clone().all(|stage| stage.hi == 0), "{entry:?}");
}

#[test]
fn the_wire_is_proven_by_everybody_else() {
    let world = World::new(
        Nic::Veth,
        Losses {
            silent_wire: 5000,
            ..Losses::default()
        },
    );
    let wire = stage(&entry(&world), "wire").clone();
    assert!(wire.lo >= 4950 && wire.hi == 5000, "{wire:?}");
    assert_eq!(wire.kind, "balance");
    let facts: Vec<&str> = wire.evidence.iter().map(|one| one.fact.as_str()).collect();
    assert!(
        facts.contains(&"tx_packets") && facts.contains(&"rx_packets"),
        "{facts:?}"
    );
}

#[test]
fn a_silent_wire_is_not_proven_where_a_mac_cannot_be_asked() {
    let world = World::new(
        Nic::Unknown,
        Losses {
            silent_wire: 500,
            ..Losses::default()
        },
    );
    let entry = entry(&world);
    assert!(entry.blind.iter().any(|stage| stage == "rx-mac"));
    assert!(
        entry
            .stages
            .iter()
            .all(|stage| stage.stage != "wire" || stage.lo == 0)
    );
    assert!(entry.unattributed_hi >= 500);
}

#[test]
fn a_wrong_checksum_was_made_on_the_way() {
    let world = World::new(
        Nic::Veth,
        Losses {
            checksum: 77,
            ..Losses::default()
        },
    );
    let entry = entry(&world);
    assert_eq!(stage(&entry, "wire").lo, 77);
    assert_eq!(stage(&entry, "rx-socket").hi, 0);
}

#[test]
fn a_field_that_the_driver_never_fills_is_blind() {
    let world = World::new(Nic::Igb, Losses::default());
    let mut record = world.record();
    for sample in &mut record.samples {
        sample
            .counters
            .retain(|name, _| name != "rx_queue_0_drops" && name != "rx_fifo_errors");
    }
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    assert!(
        entry.blind.iter().any(|stage| stage == "rx-ring"),
        "{entry:?}"
    );
}

#[test]
fn the_sum_of_two_stages_gives_the_one_without_a_counter() {
    let losses = Losses {
        mac_fifo: 30,
        rx_ring: 70,
        ..Losses::default()
    };
    let mut record = World::new(Nic::Igb, losses).record();
    for sample in &mut record.samples {
        sample.counters.retain(|name, _| name != "rx_queue_0_drops");
    }
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    assert_eq!(stage(&entry, "rx-mac").lo, 30);
    assert_eq!(stage(&entry, "rx-ring").lo, 70);
}

#[test]
fn a_16_bit_register_says_at_least() {
    let losses = Losses {
        mac_fifo: 70_000,
        ..Losses::default()
    };
    let entry = entry(&World::new(Nic::Fec, losses));
    let mac = stage(&entry, "rx-mac");
    assert!(mac.lo <= 70_000 && mac.hi == 70_000, "{mac:?}");
}

#[test]
fn what_the_host_does_by_itself_is_not_the_tests() {
    let world = World {
        drops_per_second: 10,
        ..World::new(
            Nic::Igb,
            Losses {
                backlog: 200,
                ..Losses::default()
            },
        )
    };
    let backlog = stage(&entry(&world), "rx-softnet").clone();
    assert!(backlog.lo <= 200 && backlog.hi >= 200, "{backlog:?}");
    let quiet = World {
        losses: Losses::default(),
        ..world
    };
    assert!(entry(&quiet).stages.iter().all(|stage| stage.hi == 0));
}

#[test]
fn a_stock_peer_is_blind_and_never_clean() {
    let world = World::new(
        Nic::Igb,
        Losses {
            socket: 10,
            ..Losses::default()
        },
    );
    let mut record = world.record();
    record.run.hosts.retain(|host| host.role == Role::Local);
    record.samples.retain(|sample| sample.host == Role::Local);
    record.run.tests[0].socket_drops = None;
    record.run.tests[0].corrupt_packets = None;
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    for name in [
        "wire",
        "rx-mac",
        "rx-ring",
        "rx-softnet",
        "rx-ip",
        "rx-socket",
        "rx-app",
    ] {
        assert!(
            entry.blind.iter().any(|blind| blind == name),
            "{name}: {entry:?}"
        );
    }
    assert_eq!((entry.unattributed_lo, entry.unattributed_hi), (10, 10));
}

#[test]
fn datagrams_of_several_frames_lose_fewer_datagrams_than_frames() {
    let world = World::new(
        Nic::Veth,
        Losses {
            backlog: 300,
            ..Losses::default()
        },
    );
    let mut record = world.record();
    record.run.tests[0].payload_bytes = 4000;
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    let backlog = stage(&entry, "rx-softnet");
    assert_eq!((backlog.lo, backlog.hi), (100, 300));
}

#[test]
fn joined_drops_are_at_least() {
    let world = World::new(
        Nic::Veth,
        Losses {
            socket: 400,
            ..Losses::default()
        },
    );
    let mut record = world.record();
    let test = &mut record.run.tests[0];
    test.socket_drops = Some(40);
    test.socket_drops_at_least = true;
    test.mode.rx = Some(IoMode::Gro);
    for sample in record
        .samples
        .iter_mut()
        .filter(|s| s.source == "/proc/net/netstat")
    {
        let more = sample.t_ns / 1_000_000_000 * 1000;
        let counted = sample.counters["IpExtInNoECTPkts"] + more;
        let counted = [("IpExtInNoECTPkts".to_owned(), counted)];
        sample.counters.extend(counted);
    }
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    let socket = stage(&entry, "rx-socket");
    assert_eq!((socket.lo, socket.hi), (40, 400));
}

#[test]
fn tcp_lost_what_it_sent_again_and_needed() {
    let mut record = World::new(Nic::Veth, Losses::default()).record();
    let test = &mut record.run.tests[0];
    test.protocol = linerate_model::output::Protocol::Tcp;
    (test.sent_packets, test.received_packets, test.lost_packets) = (None, None, None);
    test.retransmits = Some(50);
    assert_eq!(ledger::of(&Evidence::of(&record)), []);
    for sample in record
        .samples
        .iter_mut()
        .filter(|s| s.source == "/proc/net/snmp")
    {
        if sample.host == Role::Local {
            let mut more = sample.clone();
            more.source = "/proc/net/netstat".to_owned();
            more.counters = [("TcpExtTCPDSACKRecv".to_owned(), sample.t_ns / 1_000_000_000)].into();
            *sample = more;
        }
    }
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    assert_eq!((entry.unit.as_str(), entry.lost_packets), ("segments", 46));
}

/// A TCP test towards the peer that sent this much again, whose sender was reported this many duplicates a second.
fn retransmitted(retransmits: u64, reported: u64) -> Record {
    let mut record = World::new(Nic::Veth, Losses::default()).record();
    let test = &mut record.run.tests[0];
    test.protocol = linerate_model::output::Protocol::Tcp;
    (test.lost_packets, test.retransmits) = (None, Some(retransmits));
    freed(
        &mut record,
        Role::Local,
        "/proc/net/netstat",
        &[("TcpExtTCPDSACKRecvSegs", reported)],
    );
    record
}

/// The wire only reordered: late originals are rejected by their timestamps once their retransmission has arrived.
#[test]
fn a_late_original_that_paws_rejects_is_no_loss() {
    for (source, name) in [
        ("skb:kfree_skb flow", "TCP_RFC7323_PAWS"),
        ("skb:kfree_skb flow", "TCP_OFOMERGE"),
        ("skb:kfree_skb flow received", "TCP_OLD_SEQUENCE"),
        ("/proc/net/netstat", "TcpExtPAWSEstab"),
    ] {
        let mut record = retransmitted(190, 20);
        freed(&mut record, Role::Remote, source, &[(name, 50)]);
        let entry = ledger::of(&Evidence::of(&record)).remove(0);
        assert_eq!(entry.lost_packets, 0, "{name}");
    }
    let mut record = retransmitted(190, 20);
    receiver_freed(
        &mut record,
        "skb:kfree_skb flow",
        &[("TCP_RFC7323_PAWS", 40)],
    );
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    assert_eq!(entry.lost_packets, 30);
    assert_eq!(stage(&entry, "rx-socket").hi, 0, "{entry:?}");
}

proptest::proptest! {
    /// Whatever the kernel freed: evidence that exceeds the losses is not exact, and accounts for no more than it must.
    #[test]
    fn evidence_beyond_the_losses_is_never_exact(
        lost in 0_u64..400, zero_window in 0_u64..100, filtered in 0_u64..100, paws in 0_u64..100,
    ) {
        let mut record = retransmitted(lost, 0);
        let reasons = [
            ("TCP_ZEROWINDOW", zero_window),
            ("NETFILTER_DROP", filtered),
            ("TCP_RFC7323_PAWS", paws),
        ];
        receiver_freed(&mut record, "skb:kfree_skb flow", &reasons);
        let entry = ledger::of(&Evidence::of(&record)).remove(0);
        let lost = entry.lost_packets;
        let counted: u64 = (zero_window + filtered) * LOAD_S;
        for stage in entry.stages.iter().filter(|stage| stage.hi > 0) {
            let freed = stage.evidence.iter().filter(|one| one.source.starts_with("skb:"));
            let freed: f64 = freed.filter_map(|one| one.value.number()).sum();
            proptest::prop_assert!(stage.lo <= stage.hi && stage.hi <= lost);
            let exact = stage.kind == "exact";
            proptest::prop_assert!(!exact || freed <= lost as f64, "{:?}", stage);
            proptest::prop_assert!(!exact || counted <= lost, "{:?}", stage);
        }
        let least: u64 = entry.stages.iter().map(|stage| stage.lo).sum();
        proptest::prop_assert_eq!(least as i64 + entry.unattributed_hi, lost as i64);
    }
}

/// Two hosts are not read at the same moment.
#[test]
fn more_received_than_sent_is_no_evidence_of_a_loss() {
    let losses = Losses {
        silent_wire: 45,
        ..Losses::default()
    };
    let mut record = World::new(Nic::Veth, losses).record();
    let of_link =
        |sample: &&mut Sample| sample.source == "rtnl_link_stats64" && sample.host == Role::Local;
    for sample in record.samples.iter_mut().filter(of_link) {
        let load = (sample.t_ns / 1_000_000_000).saturating_sub(1);
        let sent = sample.counters["tx_packets"] - 40 * load;
        sample.counters.extend([("tx_packets".to_owned(), sent)]);
    }
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    let wire = stage(&entry, "wire");
    let passed = wire
        .evidence
        .iter()
        .filter(|one| one.fact.ends_with("x_packets"));
    assert_eq!((wire.hi, passed.count()), (45, 0), "{wire:?}");
}

#[test]
fn errors_that_a_driver_tells_three_times_are_one_set() {
    let mut record = World::new(
        Nic::Unknown,
        Losses {
            mac_fifo: 900,
            ..Losses::default()
        },
    )
    .record();
    record.pasted = true;
    record.run.tests[0].socket_drops = None;
    record.samples.truncate(1);
    let sample = &mut record.samples[0];
    (sample.host, sample.source) = (Role::Remote, "/proc/net/dev".to_owned());
    (sample.group, sample.phase) = (None, None);
    sample.interface = Some("eth0".to_owned());
    sample.counters = ["rx_errs", "rx_fifo", "rx_frame"]
        .map(|name| (name.to_owned(), 782_502))
        .into();
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    let mac = stage(&entry, "rx-mac");
    assert_eq!((mac.lo, mac.hi), (0, 900));
    assert!(
        entry
            .stages
            .iter()
            .all(|stage| stage.stage != "wire" || stage.hi == 0)
    );
    assert_eq!((entry.unattributed_lo, entry.unattributed_hi), (0, 900));
}

#[test]
fn the_directions_of_one_group_do_not_take_each_others_drops() {
    let world = World::new(
        Nic::Veth,
        Losses {
            backlog: 100,
            filter: 50,
            ..Losses::default()
        },
    );
    let mut record = world.record();
    let mut back = record.run.tests[0].clone();
    back.id = "back".to_owned();
    back.direction = linerate_model::output::Direction::Down;
    (back.lost_packets, back.received_packets) = (Some(0), Some(100_000));
    record.run.tests.push(back);
    let entries = ledger::of(&Evidence::of(&record));
    assert_eq!(stage(&entries[0], "rx-ip").lo, 50);
    assert!(
        entries[1].stages.iter().all(|stage| stage.hi == 0),
        "{:?}",
        entries[1]
    );
}

#[test]
fn what_the_sender_was_refused_at_once_is_no_loss() {
    let mut record = World::new(
        Nic::Veth,
        Losses {
            qdisc: 70,
            ..Losses::default()
        },
    )
    .record();
    let test = &mut record.run.tests[0];
    (test.sent_packets, test.lost_packets) = (Some(99_950), Some(20));
    test.refused_packets = Some(50);
    for sample in record.samples.iter_mut().filter(|s| s.host == Role::Local) {
        sample.counters.retain(|name, _| name != "UdpSndbufErrors");
    }
    let entry = ledger::of(&Evidence::of(&record)).remove(0);
    let qdisc = stage(&entry, "tx-qdisc");
    assert_eq!((qdisc.lo, qdisc.hi), (20, 20));
}

/// The output chain's refusals are among the kernel's reasons, and not among the sent.
#[test]
fn what_a_filter_of_the_sender_refused_is_no_loss_and_the_wire_s_is() {
    let losses = Losses {
        silent_wire: 100,
        ..Losses::default()
    };
    let lost_before_the_wire = |chain: u64, queue: u64| {
        let mut record = World::new(Nic::Veth, losses).record();
        record.run.tests[0].refused_packets = Some(chain + queue);
        let reasons = [("NETFILTER_DROP", chain / 10), ("QDISC_DROP", queue / 10)];
        freed(
            &mut record,
            Role::Local,
            "skb:kfree_skb flow sent",
            &reasons,
        );
        let entry = ledger::of(&Evidence::of(&record)).remove(0);
        ["tx-ip", "tx-qdisc"].map(|name| {
            let found = stage(&entry, name);
            assert_eq!(found.kind, "exact");
            (found.lo, found.hi)
        })
    };
    assert_eq!(lost_before_the_wire(750, 0), [(0, 0), (0, 0)]);
    assert_eq!(lost_before_the_wire(750, 50), [(0, 0), (0, 0)]);
    assert_eq!(lost_before_the_wire(0, 50), [(0, 0), (0, 0)]);
}

#[test]
fn the_kernels_own_reasons_are_exact() {
    let mut record = filtered();
    let freed = [
        ("NETFILTER_DROP", 10),
        ("SOCKET_RCVBUFF", 15),
        ("QUEUE_PURGE", 9),
    ];
    receiver_freed(&mut record, "skb:kfree_skb flow", &freed);
    assert_freed_exactly(&record);
}

#[test]
fn what_the_kernel_freed_on_the_other_way_is_not_of_this_one() {
    let mut record = filtered();
    let freed = [("NETFILTER_DROP", 10), ("SOCKET_RCVBUFF", 15)];
    receiver_freed(&mut record, "skb:kfree_skb flow received", &freed);
    let other_way = [("NETFILTER_DROP", 500), ("SOCKET_RCVBUFF", 500)];
    receiver_freed(&mut record, "skb:kfree_skb flow sent", &other_way);
    assert_freed_exactly(&record);
}

fn filtered() -> Record {
    let losses = Losses {
        filter: 40,
        socket: 60,
        ..Losses::default()
    };
    World::new(Nic::Veth, losses).record()
}

/// Adds a list of the receiving host whose reasons grow by this many a second.
fn receiver_freed(record: &mut Record, source: &str, reasons: &[(&str, u64)]) {
    freed(record, Role::Remote, source, reasons);
}

/// Adds a list of a host whose counters grow by this many a second.
fn freed(record: &mut Record, host: Role, source: &str, freed: &[(&str, u64)]) {
    let snmp = |sample: &&Sample| sample.host == host && sample.source == "/proc/net/snmp";
    let lists: Vec<_> = record.samples.iter().filter(snmp).cloned().collect();
    for mut list in lists {
        let load = (list.t_ns / 1_000_000_000).saturating_sub(1);
        let grown = freed
            .iter()
            .map(|(name, each)| ((*name).to_owned(), each * load));
        let same = |one: &&mut Sample| {
            (one.host, one.t_ns, one.phase) == (host, list.t_ns, list.phase) && one.source == source
        };
        if let Some(known) = record.samples.iter_mut().find(same) {
            known.counters.extend(grown);
            continue;
        }
        list.counters = grown.collect();
        list.source = source.to_owned();
        record.samples.push(list);
    }
}

fn assert_freed_exactly(record: &Record) {
    let entry = ledger::of(&Evidence::of(record)).remove(0);
    for (name, died) in [("rx-ip", 40), ("rx-socket", 60), ("rx-softnet", 0)] {
        let stage = stage(&entry, name);
        assert_eq!(
            (stage.lo, stage.hi, stage.kind.as_str()),
            (died, died, "exact")
        );
    }
}
