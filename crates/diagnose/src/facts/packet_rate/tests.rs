// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::output::{Role, Test};

use crate::fixtures::{Fixture, load, pasted, run, tcp, udp};
use linerate_model::record::Record;

const SNMP: &str = "/proc/net/snmp";
const LINK: &str = "rtnl_link_stats64";
const QDISC: &str = "tc -s qdisc";
const ROUTER: &[(&str, &str)] = &[("net.ipv4.ip_forward", "1")];

fn fires(record: &Record, rule: &str) -> bool {
    record
        .findings()
        .iter()
        .any(|fired| fired.trim_matches(['(', ')']) == rule)
}

fn first(record: &Record) -> Option<String> {
    record.findings().into_iter().next()
}

fn number(record: &Record, name: &str) -> Option<f64> {
    let facts = record.explained().facts;
    facts.iter().find(|fact| fact.name == name)?.value.number()
}

/// As a report has it: a size, a rate, a load of the sender.
fn reported(bytes: u32, bits_per_second: f64, load: f64) -> Test {
    let mut test = udp(&format!("{bytes} bytes"), 0, 0);
    (test.payload_bytes, test.delivered_bits_per_second) = (bytes, Some(bits_per_second));
    (test.sent_packets, test.received_packets, test.lost_packets) = (None, None, None);
    (
        test.requested_bits_per_second,
        test.offered_bits_per_second,
        test.loss_ratio,
    ) = (None, None, None);
    test.cpu.local = crate::fixtures::load(load);
    test
}

#[test]
fn a_price_for_each_packet() {
    let mut record = pasted();
    record.run.tests = vec![
        reported(64, 17.4e6, 0.99),
        reported(128, 34.2e6, 0.99),
        reported(1500, 90.5e6, 0.64),
    ];
    let cost = number(&record, "packet_cost_us").unwrap();
    assert!((cost - 29.4253).abs() < 1e-3, "{cost}");
    assert!(fires(&record, "P01") && fires(&record, "C16"));
    // A processor that others had filled before is not full with packets.
    let taken =
        |record: Record, bytes: u32| record.idle_busy(&format!("{bytes} bytes"), Role::Local, 1.0);
    let taken = [64, 128, 1500].into_iter().fold(record.clone(), taken);
    assert!(fires(&taken, "P01") && !fires(&taken, "C16"));
    record.run.tests[1].delivered_bits_per_second = Some(17.4e6);
    assert!(!fires(&record, "P01") && !fires(&record, "C16"));
}

#[test]
fn a_rate_of_any_size_and_one_of_a_size() {
    for (rate, fired) in [(9700.0, true), (30_000.0, false)] {
        let mut any = reported(0, 0.0, 0.3);
        (
            any.duration_s,
            any.received_packets,
            any.delivered_bits_per_second,
        ) = (1.0, Some(rate as u64), None);
        let mut record = pasted();
        record.run.tests = vec![any, reported(320, 24e6, 0.3)];
        assert_eq!(fires(&record, "P01"), fired);
    }
}

#[test]
fn a_slow_forwarder_and_a_wire() {
    let sweep = |rate: fn(f64) -> f64| {
        let mut record = pasted();
        let tests = [64_u32, 128, 320, 512, 1024, 1472]
            .map(|bytes| reported(bytes, rate(f64::from(bytes)) * f64::from(bytes) * 8.0, 0.3));
        record.run.tests = tests.to_vec();
        record
    };
    let slow = sweep(|_| 9700.0);
    assert_eq!(number(&slow, "packet_bound_up_to_bytes"), Some(65_535.0));
    assert!(fires(&slow, "P01"));
    let wire = sweep(|bytes| 1e9 / ((bytes + 66.0) * 8.0));
    assert!(number(&wire, "packet_bound_up_to_bytes").unwrap() < 20.0);
    assert!(!fires(&wire, "P01"));
    let mut one = slow;
    one.run.hosts = run(vec![]).run.hosts;
    one.run.hosts[1].boot_id = one.run.hosts[0].boot_id.clone();
    assert!(!fires(&one, "P01") && fires(&one, "P01b"));
}

/// Bulk TCP; the mean size of the arriving packets.
fn bulk(rate: f64, busy: f64, offloads: &str, bytes: u64) -> Record {
    let mut test = tcp("t1", rate);
    (test.cpu.local, test.cpu.remote) = (load(busy), load(busy));
    run(vec![test])
        .set(
            Role::Local,
            "ethtool -k",
            &[
                ("tcp-segmentation-offload", offloads),
                ("generic-segmentation-offload", offloads),
            ],
        )
        .set(
            Role::Remote,
            "ethtool -k",
            &[("generic-receive-offload", "off")],
        )
        .counted(
            "t1",
            Role::Remote,
            LINK,
            &[("rx_packets", 1000), ("rx_bytes", 1000 * bytes)],
        )
}

#[test]
fn without_offloads_a_processor_is_full() {
    for (record, sender, receiver) in [
        (bulk(300e6, 0.99, "off", 1514), true, true),
        (bulk(300e6, 0.99, "on", 1514), false, true),
        (bulk(300e6, 0.99, "off [fixed]", 1514), false, true),
        (bulk(300e6, 0.99, "off [requested on]", 1514), false, true),
        (bulk(300e6, 0.4, "off", 1514), false, false),
        // As a virtual link has it: the sender joins, so the receiver need not.
        (bulk(300e6, 0.99, "on", 31_000), false, false),
        // So few segments fill no processor: others do.
        (bulk(20e6, 0.99, "off", 1514), false, false),
    ] {
        assert_eq!(
            (fires(&record, "P03"), fires(&record, "P03b")),
            (sender, receiver)
        );
    }
    let both = bulk(300e6, 0.99, "off", 1514);
    assert_eq!(first(&both).as_deref(), Some("P03"));
}

#[test]
fn checksums_of_short_datagrams() {
    let sized = |id, bytes| Test {
        payload_bytes: bytes,
        ..udp(id, 100_000, 900)
    };
    for (long_errors, fired) in [(0, true), (900, false)] {
        let record = run(vec![sized("a", 10), sized("b", 1470)])
            .counted("a", Role::Remote, SNMP, &[("UdpInCsumErrors", 900)])
            .counted("b", Role::Remote, SNMP, &[("UdpInCsumErrors", long_errors)]);
        assert_eq!(fires(&record, "P04"), fired);
    }
    for (af, offload, fired) in [(6, "on", true), (6, "off", false), (4, "on", false)] {
        let test = Test {
            af,
            ..udp("a", 1_000_000, 15)
        };
        let record = run(vec![test])
            .counted(
                "a",
                Role::Remote,
                "/proc/net/snmp6",
                &[("Udp6InCsumErrors", 15)],
            )
            .set(Role::Local, "ethtool -k", &[("tx-checksumming", offload)]);
        assert_eq!(fires(&record, "P05"), fired);
    }
}

#[test]
fn the_senders_own_queue() {
    let queue = |drops| {
        let mut test = udp("u1", 55_000, 0);
        test.refused_packets = Some(drops);
        run(vec![test])
            .counted(
                "u1",
                Role::Local,
                QDISC,
                &[("drops", drops), ("packets", 55_000), ("requeues", 0)],
            )
            .set(Role::Local, "tc qdisc", &[("root", "tbf")])
    };
    assert_eq!(first(&queue(45_000)).as_deref(), Some("P09"));
    assert!(!fires(&queue(0), "P09") && !fires(&queue(3), "P09"));
    let mut full = queue(45_000);
    full.run.tests[0].delivered_bits_per_second = Some(956e6);
    assert!(
        !fires(&full, "P09"),
        "more was offered than the link carries"
    );
}

#[test]
fn a_shaper_that_tcp_waits_for() {
    let shaped = |kind, overlimits, busiest| {
        let mut test = tcp("t1", 5e6);
        test.cpu.local = load(busiest);
        run(vec![test])
            .set(Role::Local, "tc qdisc", &[("root", kind)])
            .counted(
                "t1",
                Role::Local,
                QDISC,
                &[("drops", 0), ("packets", 2000), ("overlimits", overlimits)],
            )
    };
    assert!(fires(&shaped("tbf", 1900, 0.2), "P20"));
    assert!(
        !fires(&shaped("tbf", 9, 0.2), "P20"),
        "it held nothing back"
    );
    assert!(!fires(&shaped("fq_codel", 1900, 0.2), "P20"), "no rate");
    assert!(!fires(&shaped("tbf", 1900, 1.0), "P20"), "full before");
}

#[test]
fn a_queue_that_imitates_a_bad_path() {
    let drops = |kind, drops| {
        let queue = [("drops", drops), ("packets", 55_000)];
        let record = run(vec![udp("u1", 55_000, drops)])
            .set(Role::Local, "tc qdisc", &[("root", kind)])
            .counted("u1", Role::Local, QDISC, &queue);
        fires(&record, "P21")
    };
    assert!(drops("netem", 1100));
    assert!(!drops("netem", 0), "it did nothing");
    assert!(!drops("pfifo_fast", 1100));
}

#[test]
fn traffic_control_on_arrival() {
    let dropped = |qdisc: &str, drops| {
        let name = format!("{qdisc}.drops");
        let record = run(vec![udp("u1", 55_000, 1100)]).counted(
            "u1",
            Role::Remote,
            QDISC,
            &[("drops", 0), (name.as_str(), drops)],
        );
        fires(&record, "P22")
    };
    assert!(dropped("ingress ffff:", 1100) && dropped("clsact ffff:", 1100));
    assert!(!dropped("ingress ffff:", 3));
    assert!(!dropped("fq_codel 0: parent :1", 1100), "on the way out");
}

#[test]
fn the_packet_filter() {
    let lossy = || run(vec![udp("u1", 69_000, 690)]);
    for (dropped, fired) in [(686, true), (3, false)] {
        let record = lossy().counted(
            "u1",
            Role::Remote,
            "skb:kfree_skb flow",
            &[("NETFILTER_DROP", dropped)],
        );
        assert_eq!(fires(&record, "P17"), fired);
        let counted = [
            ("IpInReceives", 69_050),
            ("IpInDelivers", 69_050 - dropped),
            ("IpInDiscards", 0),
        ];
        let record = lossy().counted("u1", Role::Remote, SNMP, &counted);
        assert_eq!(fires(&record, "P17b"), fired);
    }
    let bad = [
        ("IpInReceives", 69_050),
        ("IpInDelivers", 68_364),
        ("IpInHdrErrors", 686),
    ];
    assert!(!fires(
        &lossy().counted("u1", Role::Remote, SNMP, &bad),
        "P17b"
    ));
}

#[test]
fn what_ip_threw_away_for_other_reasons() {
    let lossy = || run(vec![udp("u1", 69_000, 690)]);
    let counted = |role, source, name| {
        [680, 0]
            .map(|count| lossy().counted("u1", role, source, &[(name, count), ("entries", 65_500)]))
    };
    let full = [("net.netfilter.nf_conntrack_max", "65536")];
    for (role, source, name, rule) in [
        (Role::Remote, "/proc/net/stat/nf_conntrack", "drop", "P07"),
        (
            Role::Remote,
            "/proc/net/netstat",
            "TcpExtIPReversePathFilter",
            "P15",
        ),
        (
            Role::Remote,
            "/proc/net/stat/arp_cache",
            "table_fulls",
            "P16",
        ),
        (
            Role::Local,
            "/proc/net/stat/arp_cache",
            "unresolved_discards",
            "P18",
        ),
    ] {
        let [some, none] =
            counted(role, source, name).map(|record| record.set(role, "sysctl", &full));
        assert!(fires(&some, rule) && !fires(&none, rule), "{rule}");
    }
}

/// The far end forwards 40,000 packets a second and one of its processors is full.
fn router() -> Record {
    run(vec![udp("u1", 400_000, 90)])
        .set(Role::Remote, "sysctl", ROUTER)
        .counted(
            "u1",
            Role::Remote,
            SNMP,
            &[("IpForwDatagrams", 400_000), ("IpFragFails", 50)],
        )
        .counted(
            "u1",
            Role::Remote,
            "/proc/stat",
            &[("cpu0.softirq", 980), ("cpu0.idle", 20)],
        )
}

#[test]
fn what_a_router_does() {
    for (flowtables, fired) in [("0", true), ("1", false)] {
        let record = router().set(
            Role::Remote,
            "nft list ruleset",
            &[("flowtables", flowtables), ("rules", "3")],
        );
        assert_eq!(fires(&record, "P11"), fired);
    }
    for (lro, fired) in [("on", true), ("off", false)] {
        let record = router().set(
            Role::Remote,
            "ethtool -k",
            &[("large-receive-offload", lro)],
        );
        assert_eq!(fires(&record, "P02"), fired);
    }
    for (entries, fired) in [(1200, true), (0, false)] {
        let record = router().counted(
            "u1",
            Role::Remote,
            "/proc/net/stat/nf_conntrack",
            &[("entries", entries)],
        );
        assert_eq!(fires(&record, "P06"), fired);
    }
    for (percent, fired) in [("30.5%", true), ("1.2%", false)] {
        let record = router()
            .set(Role::Remote, "nft list ruleset", &[("rules", "900")])
            .set(Role::Remote, "perf top", &[("nft_do_chain", percent)]);
        assert_eq!(fires(&record, "P08"), fired);
    }
    for (paused, fired) in [(300, true), (0, false)] {
        let record = router()
            .set(Role::Remote, "ethtool -i", &[("driver", "fec")])
            .set(
                Role::Remote,
                "ethtool -a",
                &[("Autonegotiate", "on"), ("RX", "on"), ("TX", "on")],
            )
            .counted(
                "u1",
                Role::Remote,
                "ethtool -S",
                &[("IEEE_tx_fdxfc", paused), ("IEEE_rx_macerr", 0)],
            );
        assert_eq!(fires(&record, "P14"), fired);
    }
}

#[test]
fn one_queueing_for_all_queues() {
    for (kind, fired) in [("htb", true), ("mq", false)] {
        let mut test = Test {
            streams: 8,
            ..tcp("t1", 600e6)
        };
        test.cpu.local = load(0.97);
        let record = run(vec![test])
            .set(
                Role::Local,
                "ethtool -l",
                &[("Combined.current", "8"), ("Combined.max", "8")],
            )
            .set(Role::Local, "tc qdisc", &[("root", kind)]);
        assert_eq!(fires(&record, "P10"), fired);
    }
}

#[test]
fn bridged_and_routed() {
    let named = |name: &str, rate| Test {
        name: name.to_owned(),
        ..tcp(name, rate)
    };
    let mut record = pasted();
    record.run.tests = vec![
        named("Bridge mode 1 flows", 3.08e9),
        named("Routed mode 1 flows", 2.91e9),
    ];
    assert!(record.findings().contains(&"(P13)".to_owned()));
    record.run.tests[1].streams = 2;
    assert!(!fires(&record, "P13"));
}

fn ten_gigabit(mut record: Record) -> Record {
    for host in &mut record.run.hosts {
        host.interfaces[0].link_bits_per_second = Some(10_000_000_000);
    }
    record
}

#[test]
fn the_stack_at_its_limit() {
    let fast = |bytes: u32| {
        let mut test = udp(&format!("u{bytes}"), 9_000_000, 900_000);
        test.payload_bytes = bytes;
        test.delivered_bits_per_second = Some(810_000.0 * f64::from(bytes) * 8.0);
        test
    };
    let record = |softirq| {
        let ticks = [("cpu0.softirq", softirq), ("cpu0.idle", 1000 - softirq)];
        ten_gigabit(run(vec![fast(64), fast(256)])).counted(
            "u64",
            Role::Remote,
            "/proc/stat",
            &ticks,
        )
    };
    assert!(fires(&record(990), "P12") && !fires(&record(500), "P12"));
}

#[test]
fn a_healthy_gigabit_needs_nothing() {
    let mut down = tcp("t1", 941e6);
    down.retransmits = Some(12);
    let record = run(vec![down, udp("u1", 81_000, 0)])
        .set(
            Role::Local,
            "ethtool -k",
            &[
                ("tcp-segmentation-offload", "on"),
                ("generic-segmentation-offload", "on"),
            ],
        )
        .set(Role::Local, "tc qdisc", &[("root", "fq_codel")])
        .set(
            Role::Remote,
            "ethtool -k",
            &[
                ("generic-receive-offload", "on"),
                ("large-receive-offload", "off [fixed]"),
            ],
        )
        .counted(
            "t1",
            Role::Local,
            QDISC,
            &[("drops", 12), ("packets", 800_000), ("requeues", 90)],
        )
        .counted(
            "u1",
            Role::Remote,
            SNMP,
            &[("IpInReceives", 81_100), ("IpInDelivers", 81_090)],
        )
        .counted(
            "u1",
            Role::Remote,
            "/proc/stat",
            &[("cpu0.softirq", 300), ("cpu0.idle", 700)],
        );
    let fired = record.findings();
    assert!(fired.iter().all(|rule| rule.starts_with('(')), "{fired:?}");
}

/// A chain of the sender's output hook.
#[test]
fn what_the_sender_s_own_filter_refuses_is_named() {
    let fires = |source, name| {
        let mut test = udp("t1", 10_000, 0);
        test.refused_packets = Some(758);
        let record = run(vec![test]).counted("t1", Role::Local, source, &[(name, 758)]);
        record.findings().contains(&"P19".to_owned())
    };
    assert!(fires("skb:kfree_skb flow sent", "NETFILTER_DROP"));
    assert!(
        !fires("/proc/net/snmp", "IpOutDiscards"),
        "datagrams longer than the MTU are counted there, too"
    );
}

/// What a host freed is of both directions where the kernel does not tell them apart.
#[test]
fn what_came_in_and_was_dropped_was_not_refused_on_its_way_out() {
    let both_ways = "skb:kfree_skb flow";
    let counted = |test: Test| {
        let drops = [("NETFILTER_DROP", 758)];
        run(vec![test]).counted("t1", Role::Local, both_ways, &drops)
    };
    assert!(
        !fires(&counted(tcp("t1", 900e6)), "P19"),
        "ACKs to the sender"
    );
    let mut test = udp("t1", 10_000, 0);
    test.refused_packets = Some(20);
    let record = counted(test);
    assert_eq!(number(&record, "output_filter_drops"), Some(20.0));
}

/// Eleven refused datagrams do not explain what the link lacks.
#[test]
fn a_filter_explains_the_rate_that_it_refused() {
    let mut test = udp("t1", 10_000, 0);
    test.refused_packets = Some(11);
    let sent = "skb:kfree_skb flow sent";
    let record = run(vec![test]).counted("t1", Role::Local, sent, &[("NETFILTER_DROP", 11)]);
    let findings = record.explained().findings;
    let found = findings.iter().find(|found| found.rule == "P19").unwrap();
    let refused = 11.0 * 1470.0 * 8.0 / 10.0;
    assert_eq!(found.explains.bits_per_second, Some(refused));
}
