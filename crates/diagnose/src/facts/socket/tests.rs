// SPDX-License-Identifier: MIT OR Apache-2.0

mod proposed;

use linerate_model::output::{
    Cpu, Flow, LedgerEntry, LinkKind, LossBurst, Quantiles, ReceiveBuffer, Role, Stage, Test,
};

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::fixtures::{Fixture, load, pasted, run, tcp, udp};
use linerate_model::record::Record;

const PEER: Role = Role::Remote;

struct Reader {
    granted: u64,
    longest_run: u64,
    busy_before: f64,
    busy_during: f64,
}

/// Of 100,000 datagrams in ten seconds 4598 died at the socket.
fn dropped(reader: &Reader, one_machine: bool) -> Vec<String> {
    let mut test = udp("t1", 100_000, 4598);
    test.receive_buffer_bytes = Some(ReceiveBuffer {
        asked: Some(4 << 20),
        granted: Some(reader.granted),
    });
    test.loss_bursts = [1, 2, reader.longest_run]
        .map(|packets| LossBurst {
            packets,
            ..LossBurst::default()
        })
        .to_vec();
    test.cpu.remote = load(reader.busy_during);
    let mut record = run(vec![test]).idle_busy("t1", PEER, reader.busy_before);
    if one_machine {
        record.run.hosts[1].boot_id = record.run.hosts[0].boot_id.clone();
    }
    record.findings_with("t1", "rx-socket", 4598)
}

const FINE: Reader = Reader {
    granted: 4 << 20,
    longest_run: 2,
    busy_before: 0.05,
    busy_during: 0.4,
};

#[test]
fn causes_of_drops_at_the_socket_are_distinguished() {
    let small = Reader {
        granted: 16_384,
        ..FINE
    };
    let starved = Reader {
        busy_before: 1.0,
        busy_during: 1.0,
        longest_run: 90,
        ..FINE
    };
    let paused = Reader {
        longest_run: 1900,
        ..FINE
    };
    let slow = Reader {
        busy_during: 0.99,
        ..FINE
    };
    for (reader, expected) in [
        (&small, "S01"),
        (&starved, "S02"),
        (&paused, "S14"),
        (&slow, "S15"),
    ] {
        let findings = dropped(reader, false);
        assert_eq!(findings, [expected], "{findings:?}");
    }
}

/// With no processor time left a thread may wait as long as it likes: only that it did not wait shows that it slept.
#[test]
fn a_reader_of_a_full_end_paused_only_if_it_did_not_wait_for_a_processor() {
    let found = |run_delay_ms: Option<u64>| {
        let mut test = udp("t1", 100_000, 4598);
        test.loss_bursts = vec![LossBurst {
            packets: 1900,
            ..LossBurst::default()
        }];
        test.receiver_run_delay_ns_max = run_delay_ms.map(|ms| ms * 1_000_000);
        test.receiver_cpu_ratio_max = run_delay_ms.map(|_| 0.1);
        test.cpu.remote = Some(Cpu {
            system: 0.99,
            busiest_cpu: 0.99,
            ..Cpu::default()
        });
        let record = run(vec![test]).idle_busy("t1", PEER, 0.05);
        let found = record.findings_with("t1", "rx-socket", 4598);
        found.into_iter().find(|rule| rule.starts_with("S14"))
    };
    let slept = Some("S14c".to_owned());
    assert_eq!([None, Some(150), Some(1)].map(found), [None, None, slept]);
}

#[test]
fn two_causes_at_once_are_both_found() {
    let both = Reader {
        granted: 16_384,
        busy_before: 1.0,
        ..FINE
    };
    assert_eq!(dropped(&both, false), ["S01", "S02b"]);
    let paused = Reader {
        granted: 212_992,
        longest_run: 1900,
        ..FINE
    };
    assert_eq!(dropped(&paused, false), ["S14", "S21"]);
}

/// A buffer that was cut and a processor that others used: each packet has one cause, by what a full-size buffer would have held.
#[test]
fn a_small_buffer_and_a_busy_processor_share_the_losses() {
    let shares = |gap: u64| {
        let mut test = udp("t1", 100_000, 20_000);
        test.receive_buffer_bytes = Some(ReceiveBuffer {
            asked: Some(4 << 20),
            granted: Some(16_384),
        });
        let runs = 0..10_000;
        let run = |run: u64| LossBurst {
            first_sequence: run * (gap + 2),
            packets: 2,
            ..LossBurst::default()
        };
        test.loss_bursts = runs.map(run).collect();
        let counted = [("UdpRcvbufErrors", 20_000), ("UdpInDatagrams", 80_000)];
        test.socket_drops = Some(20_000);
        let record = run_of(test).counted("t1", PEER, "/proc/net/snmp", &counted);
        let found = record.explained().findings.into_iter();
        let of = |finding: linerate_model::output::Finding| {
            let lost = finding.explains.lost_packets.unwrap_or(0);
            (finding.rule, finding.strength, lost)
        };
        found.map(of).collect::<Vec<_>>()
    };
    let proven = |rule: &str, lost| (rule.to_owned(), "proven".to_owned(), lost);
    let alternative = ("S02b".to_owned(), "consistent".to_owned(), 0);
    assert_eq!(shares(4000), [proven("S01", 20_000), alternative]);
    let overload = shares(8);
    let [first, second] = overload.as_slice() else {
        panic!("{overload:?}");
    };
    assert_eq!((first.0.as_str(), second.0.as_str()), ("S02", "S01"));
    assert_eq!(first.2 + second.2, 20_000);
    assert!(second.2 < 4000, "{overload:?}");
}

fn run_of(test: Test) -> Record {
    run(vec![test]).idle_busy("t1", PEER, 1.0)
}

#[test]
fn one_full_machine_is_nothing_that_is_wrong() {
    let slow = Reader {
        busy_during: 1.0,
        ..FINE
    };
    assert_eq!(dropped(&slow, true), ["(S17)"]);
    let ungranted = Reader {
        granted: 212_992,
        busy_during: 1.0,
        ..FINE
    };
    assert_eq!(dropped(&ungranted, true), ["(S17)"]);
    let small = Reader {
        granted: 16_384,
        busy_during: 1.0,
        ..FINE
    };
    assert_eq!(dropped(&small, true)[0], "S01");
}

/// The kernel's own account of the reader's waits: with it no full processor is needed.
#[test]
fn a_reader_that_waited_longer_than_its_buffer_lasts_is_named() {
    let with = |waited_ns, longest_run, one_machine| {
        let mut test = udp("t1", 1_000_000, 104);
        test.duration_s = 2.0;
        test.receive_buffer_bytes = Some(ReceiveBuffer {
            asked: Some(4 << 20),
            granted: Some(4 << 20),
        });
        test.loss_bursts = vec![LossBurst {
            packets: longest_run,
            ..LossBurst::default()
        }];
        test.receiver_run_delay_ns_max = Some(waited_ns);
        test.receiver_cpu_ratio_max = Some(0.3);
        test.cpu.remote = load(0.79);
        let mut record = run(vec![test]).idle_busy("t1", PEER, 0.05);
        for host in &mut record.run.hosts {
            host.interfaces[0].link_bits_per_second = Some(10_000_000_000);
        }
        if one_machine {
            record.run.hosts[1].boot_id = record.run.hosts[0].boot_id.clone();
        }
        record.findings_with("t1", "rx-socket", 104)
    };
    assert_eq!(with(12_000_000, 104, false), ["S28"]);
    assert_eq!(with(12_000_000, 104, true), ["(S29)"]);
    assert_eq!(with(400_000, 104, false), [""; 0]);
    let long = with(12_000_000, 40_000, false);
    assert_eq!(long, [""; 0], "80 ms of losses in a wait of 12 ms");
}

#[test]
fn a_pasted_netstat_shows_that_a_buffer_overflowed() {
    let host = |errors| {
        pasted().read(
            Role::Local,
            "/proc/net/snmp",
            &[
                ("UdpRcvbufErrors", errors),
                ("UdpInDatagrams", 64_364),
                ("UdpInErrors", errors),
            ],
        )
    };
    assert_eq!(host(4598).findings(), ["S16"]);
    assert_eq!(host(3).findings(), [""; 0]);
}

#[test]
fn the_idle_interval_before_a_row_of_tests_holds_for_all_of_them() {
    let mut later = udp("t2", 100_000, 4598);
    later.cpu.remote = load(1.0);
    later.receive_buffer_bytes = Some(ReceiveBuffer {
        asked: Some(4 << 20),
        granted: Some(4 << 20),
    });
    let mut record = run(vec![udp("t1", 100_000, 0), later])
        .idle_busy("t1", PEER, 0.05)
        .counted(
            "t2",
            PEER,
            "/proc/net/snmp",
            &[("UdpRcvbufErrors", 4598), ("UdpInDatagrams", 95_402)],
        );
    record.run.hosts[1].boot_id = record.run.hosts[0].boot_id.clone();
    assert_eq!(record.findings_with("t2", "rx-socket", 4598), ["(S17)"]);
}

/// A check is idle once, in a group that has no test.
#[test]
fn the_idle_interval_of_a_check_holds_for_its_tests_until_the_next() {
    let busy = |before: f64, after: f64| {
        let mut test = udp("t1", 100_000, 4598);
        test.receive_buffer_bytes = Some(ReceiveBuffer {
            asked: Some(4 << 20),
            granted: Some(4 << 20),
        });
        test.loss_bursts = vec![LossBurst {
            packets: 2,
            ..LossBurst::default()
        }];
        test.cpu.remote = load(1.0);
        let counted = [("UdpRcvbufErrors", 4598), ("UdpInDatagrams", 95_402)];
        run(vec![test])
            .idle_busy("idle", PEER, before)
            .idle_busy("idle", Role::Local, 1.0)
            .counted("t1", PEER, "/proc/stat", &[("cpu0.user", 1000)])
            .counted("t1", PEER, "/proc/net/snmp", &counted)
            .idle_busy("idle-2", PEER, after)
            .findings_with("t1", "rx-socket", 4598)
    };
    assert_eq!(busy(1.0, 0.05), ["S02"]);
    assert_eq!(busy(0.05, 1.0), ["M14b", "S15"]);
}

#[test]
fn what_explains_more_comes_first() {
    let fired = |memory: u64, checksum: u64| {
        let counted = [
            ("UdpMemErrors", memory),
            ("UdpInCsumErrors", checksum),
            ("UdpInErrors", memory + checksum),
            ("UdpInDatagrams", 100_000),
        ];
        pasted()
            .read(Role::Local, "/proc/net/snmp", &counted)
            .findings()
    };
    assert_eq!(fired(900, 40), ["S03", "L10"]);
    assert_eq!(fired(40, 900), ["L10", "S03"]);
}

fn lab_tcp(rtt_us: i64, bits_per_second: f64) -> Test {
    let mut test = tcp("t1", bits_per_second);
    test.link_kind = Some(LinkKind::Veth);
    test.rtt_ns = Some(Quantiles {
        min: rtt_us * 800,
        p50: rtt_us * 1000,
        ..Quantiles::default()
    });
    test
}

fn with_buffers(test: Test, rmem: &str, wmem: &str) -> Record {
    let mut record = run(vec![test]);
    for host in &mut record.run.hosts {
        host.interfaces[0].link_bits_per_second = None;
    }
    for role in [Role::Local, PEER] {
        record = record.set(
            role,
            "sysctl",
            &[("net.ipv4.tcp_rmem", rmem), ("net.ipv4.tcp_wmem", wmem)],
        );
    }
    record
}

const USUAL: (&str, &str) = ("4096 131072 6291456", "4096 16384 4194304");

#[test]
fn a_window_that_is_too_small_and_one_that_is_not() {
    let far = || lab_tcp(10_000, 6.5e6);
    assert_eq!(
        with_buffers(far(), "4096 16384 16384", USUAL.1).findings()[0],
        "S05"
    );
    assert_eq!(
        with_buffers(far(), USUAL.0, "4096 16384 16384").findings(),
        ["S06"]
    );
    assert_eq!(with_buffers(far(), USUAL.0, USUAL.1).findings(), [""; 0]);
    let fast = lab_tcp(60, 2.5e10);
    assert_eq!(with_buffers(fast, USUAL.0, USUAL.1).findings(), [""; 0]);
}

/// Whatever the processors did: the sender waited for this window most of the time.
#[test]
fn a_window_of_a_few_segments() {
    let limited = |rmem, limited_us| {
        let mut test = lab_tcp(60, 57e6);
        (test.busy_time_us, test.rwnd_limited_us) = (Some(3_096_000), Some(limited_us));
        (test.cpu.local, test.cpu.remote) = (load(1.0), load(1.0));
        let found = with_buffers(test, rmem, USUAL.1).findings();
        found.contains(&"S05b".to_owned())
    };
    assert!(limited("4096 8192 8192", 2_568_000));
    assert!(!limited("4096 8192 8192", 300_000), "it seldom waited");
    assert!(!limited(USUAL.0, 2_568_000), "the program does not read");
}

/// What is proposed holds what is in use, whatever is set, or nothing is proposed.
#[test]
fn a_larger_tcp_buffer_is_proposed_only_where_it_is_larger() {
    for (wmem, proposed) in [
        (USUAL.1, None),
        (
            "4096 16384 16384",
            Some("sysctl -w net.ipv4.tcp_wmem='4096 16384 65536'"),
        ),
    ] {
        let mut test = lab_tcp(10_000, 6.5e6);
        (test.busy_time_us, test.sndbuf_limited_us) = (Some(10_000_000), Some(6_000_000));
        let found = with_buffers(test, USUAL.0, wmem).explained().findings;
        let change = found
            .into_iter()
            .find(|one| one.rule == "S18")
            .unwrap()
            .change;
        let commands = change.as_ref().map(|change| change.commands[0].as_str());
        assert_eq!(commands, proposed);
        let undo = change.map(|change| change.undo[0].clone());
        let before = proposed.map(|_| format!("sysctl -w net.ipv4.tcp_wmem='{wmem}'"));
        assert_eq!(undo, before);
    }
}

#[test]
fn on_a_local_network_a_small_buffer_is_said_to_be_enough() {
    let mut test = tcp("t1", 2.1e8);
    test.rtt_ns = None;
    let record = run(vec![test]).set(
        PEER,
        "sysctl",
        &[
            ("net.ipv4.tcp_rmem", "4096 87380 396160"),
            ("net.ipv4.tcp_mem", "9285 12380 18570"),
        ],
    );
    assert_eq!(record.findings(), ["(S19)", "(S20)"]);
    let cannot: Vec<String> = record
        .explained()
        .cannot_tell
        .into_iter()
        .map(|rule| rule.rule)
        .collect();
    assert!(cannot.contains(&"S04".to_owned()), "{cannot:?}");
    let megabytes = record
        .explained()
        .facts
        .into_iter()
        .find(|fact| fact.name == "tcp_mem_from_megabytes");
    assert_eq!(megabytes.unwrap().value.number().unwrap().round(), 406.0);
}

#[test]
fn memory_pressure_is_judged_by_what_is_used_not_by_its_limit() {
    let used = |pages| {
        pasted()
            .set(
                Role::Local,
                "sysctl",
                &[("net.ipv4.tcp_mem", "98304 131072 196608")],
            )
            .read(Role::Local, "/proc/net/sockstat", &[("TCP.mem", pages)])
            .read(
                Role::Local,
                "/proc/net/netstat",
                &[("TcpExtTCPMemoryPressures", 0)],
            )
            .findings()
    };
    assert_eq!(used(140_000), ["S04", "(S20)"][..1]);
    assert_eq!(used(900), [""; 0]);
}

#[test]
fn a_healthy_link_has_no_finding() {
    let fast = tcp("t1", 9.41e8);
    let record = run(vec![fast, udp("t2", 800_000, 0)])
        .idle_busy("t1", PEER, 0.1)
        .counted(
            "t2",
            PEER,
            "rtnl_link_stats64",
            &[("rx_packets", 800_000), ("rx_fifo_errors", 0)],
        )
        .counted(
            "t2",
            PEER,
            "/proc/net/snmp",
            &[("UdpRcvbufErrors", 0), ("UdpInDatagrams", 800_000)],
        )
        .counted(
            "t1",
            PEER,
            "/proc/net/netstat",
            &[
                ("TcpExtTCPMemoryPressures", 0),
                ("TcpExtTCPToZeroWindowAdv", 0),
            ],
        )
        .set(
            PEER,
            "sysctl",
            &[
                ("net.ipv4.tcp_rmem", USUAL.0),
                ("net.ipv4.tcp_mem", "98304 131072 196608"),
            ],
        );
    assert_eq!(record.findings(), [""; 0]);
}

/// Nothing arrived after them: no burst ended, and still they are one run.
#[test]
fn a_receiver_that_stops_until_the_end_has_a_run_of_losses() {
    let paused = |lost: u64, listed: u64| {
        let mut test = udp("t1", 10_000, lost);
        test.duration_s = 0.5;
        test.flows = vec![Flow {
            id: 1,
            lost_packets: Some(lost),
            ..Flow::default()
        }];
        test.loss_bursts = vec![LossBurst {
            flow: 1,
            packets: listed,
            ..LossBurst::default()
        }];
        run(vec![test])
    };
    let fires = |record: Record| record.findings_with("t1", "rx-socket", 4_000);
    assert!(fires(paused(4_000, 10)).contains(&"S14".to_owned()));
    assert!(!fires(paused(400, 390)).contains(&"S14".to_owned()));
}

/// `-w 16K`: nothing was cut.
#[test]
fn a_buffer_that_was_requested_too_small_is_named() {
    let buffer = |bytes| {
        let mut test = udp("t1", 100_000, 4_000);
        test.receive_buffer_bytes = Some(ReceiveBuffer {
            asked: Some(bytes),
            granted: Some(bytes),
        });
        test.loss_bursts = vec![LossBurst {
            packets: 5,
            ..LossBurst::default()
        }];
        let record = run(vec![test]).idle_busy("t1", PEER, 0.1);
        record.findings_with("t1", "rx-socket", 4_000)
    };
    assert!(buffer(16_384).contains(&"S27".to_owned()));
    assert!(!buffer(4_194_304).contains(&"S27".to_owned()));
}

/// What a wire lost is no overflow of the socket.
#[test]
fn a_buffer_holds_no_more_than_the_socket_dropped() {
    let number = |dropped: u64, name| {
        let record = socket_and_wire();
        let at_socket = Stage {
            stage: "rx-socket".to_owned(),
            lo: dropped,
            hi: dropped,
            ..Stage::default()
        };
        let entry = LedgerEntry {
            test_id: "t1".to_owned(),
            lost_packets: 9000,
            stages: vec![at_socket],
            ..LedgerEntry::default()
        };
        let facts = Facts::of(&Evidence::of(&record), &[entry]);
        let fact = facts.list().iter().find(|one| one.name == name)?;
        fact.value.number()
    };
    let held = 3626.0 + 1000.0;
    assert_eq!(number(9000, "buffer_absorbs_ratio"), Some(held / 9000.0));
    assert_eq!(number(9000, "buffer_absorbs_packets"), Some(held));
    assert_eq!(number(1000, "buffer_absorbs_ratio"), None);
    assert_eq!(number(1000, "most_buffer_absorbs_ratio"), Some(1.0));
    assert_eq!(number(1000, "buffer_absorbs_packets"), Some(1000.0));
}

/// A run of 8000 lost datagrams, and ten of 100.
fn socket_and_wire() -> Record {
    let mut test = udp("t1", 100_000, 9000);
    test.receive_buffer_bytes = Some(ReceiveBuffer {
        asked: Some(4 << 20),
        granted: Some(16_384),
    });
    let run = |at: u64| LossBurst {
        first_sequence: at * 20_000,
        packets: if at == 0 { 8000 } else { 100 },
        ..LossBurst::default()
    };
    test.loss_bursts = (0..11).map(run).collect();
    crate::fixtures::run(vec![test])
}
