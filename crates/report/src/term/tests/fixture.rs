// SPDX-License-Identifier: MIT OR Apache-2.0
//! One result of each kind, with numbers as a board on a gigabit link gives them.

mod ab;
mod dataplane;
mod forward;
mod matrix;
mod nic;

use linerate_model::output::*;
use linerate_model::setting::Setting;

pub(crate) fn all() -> Vec<(&'static str, Output)> {
    vec![
        ("ab", ab::ab()),
        ("check", check()),
        ("compare", compare()),
        ("dataplane", dataplane::dataplane()),
        ("explained", explained()),
        ("forward", forward::forward()),
        ("healthy", healthy()),
        ("inspect", inspect()),
        ("partial", partial()),
        ("matrix", matrix::matrix()),
        ("compare-matrices", matrix::compared()),
        ("nic-check", nic::nic()),
        ("stock", stock()),
        ("sweep", sweep()),
        ("tcp", tcp()),
        ("udp", udp()),
    ]
}

/// The same figures as of `ab`, of stored runs.
pub(crate) fn compare() -> Output {
    Output {
        kind: "compare".to_owned(),
        experiment: None,
        hosts: Vec::new(),
        run_dir: None,
        ..ab::ab()
    }
}

fn output(kind: &str) -> Output {
    Output {
        command: vec![
            "linerate".to_owned(),
            kind.to_owned(),
            "198.18.0.2".to_owned(),
        ],
        started: "2026-11-21T07:05:00Z".to_owned(),
        clock_trusted: true,
        duration_s: 10.4,
        run_dir: Some(format!(
            "/home/lab/.local/state/linerate/runs/20261121T070500Z-{kind}-198.18.0.2"
        )),
        hosts: vec![
            host(Role::Local, "bench", "6.12.0", "x86_64", "igc"),
            host(Role::Remote, "board", "4.9.88", "armv7l", "fec"),
        ],
        ..Output::new(kind, "0.1.0")
    }
}

fn host(role: Role, name: &str, kernel: &str, arch: &str, driver: &str) -> Host {
    Host {
        role,
        hostname: Some(name.to_owned()),
        boot_id: Some(name.to_owned()),
        kernel: Some(kernel.to_owned()),
        arch: Some(arch.to_owned()),
        cpu_model: Some("Freescale i.MX6 Quad/DualLite (Device Tree)".to_owned()),
        cpus: Some(4),
        interfaces: vec![Interface {
            name: "eth0".to_owned(),
            driver: Some(driver.to_owned()),
            link_bits_per_second: Some(1_000_000_000),
            mtu: Some(1500),
            link_kind: Some(LinkKind::Wire),
        }],
        agent: true,
        withheld: None,
    }
}

fn test(name: &str, protocol: Protocol, direction: Direction) -> Test {
    Test {
        id: format!("{name}-{direction:?}").to_lowercase(),
        name: name.to_owned(),
        group: match name.contains("both") {
            true => name.to_owned(),
            false => format!("{name}-{direction:?}"),
        },
        protocol,
        af: 4,
        direction,
        streams: 1,
        duration_s: 10.0,
        local_address: Some("198.18.0.1".to_owned()),
        remote_address: Some("198.18.0.2".to_owned()),
        flows: vec![Flow {
            id: 1,
            local_port: Some(40_000),
            remote_port: Some(5201),
            ..Flow::default()
        }],
        link_kind: Some(LinkKind::Wire),
        valid: true,
        cpu: CpuPair {
            local: Some(Cpu {
                busiest_cpu: 0.23,
                ..Cpu::default()
            }),
            remote: Some(Cpu {
                busiest_cpu: 0.98,
                ..Cpu::default()
            }),
        },
        ..Test::default()
    }
}

fn tcp_test(name: &str, direction: Direction, rate: f64) -> Test {
    Test {
        payload_bytes: 131_072,
        offered_bits_per_second: Some(rate * 1.001),
        delivered_bits_per_second: Some(rate),
        sent_bytes: Some((rate * 1.251) as u64),
        received_bytes: Some((rate * 1.25) as u64),
        retransmits: Some(12),
        rtt_ns: Some(quantiles(512_000)),
        congestion: Some("cubic".to_owned()),
        mss_bytes: Some(1448),
        mode: mode(IoMode::Copy, IoMode::Copy, None),
        ..test(name, Protocol::Tcp, direction)
    }
}

fn udp_test(name: &str, direction: Direction, rate: f64, lost: u64) -> Test {
    let sent = (rate * 10.0 / 8.0 / 1448.0) as u64;
    Test {
        payload_bytes: 1448,
        requested_bits_per_second: Some(rate),
        offered_bits_per_second: Some(rate),
        delivered_bits_per_second: Some(rate * (sent - lost) as f64 / sent as f64),
        sent_bytes: Some(sent * 1448),
        received_bytes: Some((sent - lost) * 1448),
        sent_packets: Some(sent),
        received_packets: Some(sent - lost),
        lost_packets: Some(lost),
        duplicate_packets: Some(0),
        reordered_packets: Some(0),
        reorder_extent_max: Some(0),
        late_packets: Some(0),
        corrupt_packets: Some(0),
        loss_ratio: Some(lost as f64 / sent as f64),
        jitter_ns: Some(14_210.0),
        spacing_ns: Some(Spacing {
            p50: 28_960,
            p99: 41_023,
            max: 612_351,
        }),
        receive_buffer_bytes: Some(ReceiveBuffer {
            asked: Some(4 << 20),
            granted: Some(4 << 20),
        }),
        mode: mode(IoMode::Mmsg, IoMode::Mmsg, Some(8)),
        ..test(name, Protocol::Udp, direction)
    }
}

fn mode(tx: IoMode, rx: IoMode, burst: Option<u32>) -> Mode {
    Mode {
        tx: Some(tx),
        rx: Some(rx),
        burst,
    }
}

fn quantiles(median: i64) -> Quantiles {
    Quantiles {
        min: median / 2,
        p50: median,
        p99: median * 3,
        p999: median * 5,
        max: median * 9,
    }
}

fn moved(host: Role, name: &str, delta: u64, source: &str) -> MovedCounter {
    MovedCounter {
        host,
        interface: name.starts_with("rx_").then(|| "eth0".to_owned()),
        name: name.to_owned(),
        delta,
        source: source.to_owned(),
    }
}

fn small_buffer() -> Warning {
    Warning {
        id: "buffer-not-granted".to_owned(),
        text: "the receiver asked for 4.000 MiB of socket buffer and was granted 416.0 KiB"
            .to_owned(),
        try_: "sysctl -w net.core.rmem_max=4194304 on the receiver".to_owned(),
    }
}

pub(crate) fn tcp() -> Output {
    Output {
        tests: vec![
            tcp_test("tcp", Direction::Up, 941.4e6),
            tcp_test("tcp", Direction::Down, 412.7e6),
        ],
        ..output("tcp")
    }
}

pub(crate) fn udp() -> Output {
    let mut up = udp_test("udp", Direction::Up, 400e6, 0);
    up.counters = vec![moved(
        Role::Local,
        "OutDatagrams",
        345_328,
        "/proc/net/snmp",
    )];
    Output {
        tests: vec![up],
        expectations: vec![Expectation {
            expression: "loss<=0.1%".to_owned(),
            met: true,
            ..Expectation::default()
        }],
        ..output("udp")
    }
}

pub(crate) fn partial() -> Output {
    let mut up = udp_test("udp", Direction::Up, 400e6, 0);
    up.valid = false;
    up.invalid_reason = Some("the peer vanished before it reported its counts".to_owned());
    up.received_packets = None;
    up.lost_packets = None;
    up.loss_ratio = None;
    up.delivered_bits_per_second = None;
    Output {
        partial: true,
        clock_trusted: false,
        started: "1970-01-01T00:03:12Z".to_owned(),
        run_dir: None,
        tests: vec![up],
        error: Some(ErrorReport {
            what: "lost the connection to 198.18.0.2:5201".to_owned(),
            ..ErrorReport::default()
        }),
        ..output("udp")
    }
}

/// A stock iperf3 answers less.
pub(crate) fn stock() -> Output {
    let mut output = udp();
    output.hosts[1] = Host {
        role: Role::Remote,
        ..Host::default()
    };
    let test = &mut output.tests[0];
    test.duplicate_packets = None;
    test.reordered_packets = None;
    test.spacing_ns = None;
    test.receive_buffer_bytes = None;
    test.mode.rx = None;
    test.cpu.remote = None;
    output
}

pub(crate) fn sweep() -> Output {
    let mut tests = Vec::new();
    for (rate, lost) in [(50, 0), (400, 0), (1000, 322_118), (650, 1_912)] {
        for direction in [Direction::Up, Direction::Down] {
            let lost = if direction == Direction::Up { lost } else { 0 };
            let mut test = udp_test(&format!("{rate}M"), direction, f64::from(rate) * 1e6, lost);
            if lost > 0 {
                test.reordered_packets = Some(7);
                test.reorder_extent_max = Some(2);
                test.counters = vec![
                    moved(
                        Role::Remote,
                        "rx_fifo_errors",
                        lost / 2,
                        "rtnl_link_stats64",
                    ),
                    moved(
                        Role::Remote,
                        "RcvbufErrors",
                        lost - lost / 2,
                        "/proc/net/snmp Udp",
                    ),
                    moved(Role::Remote, "InDatagrams", 99_999, "/proc/net/snmp Udp"),
                ];
                test.socket_drops = Some(lost - lost / 2);
                test.loss_bursts = (0..5).map(burst).collect();
                test.warnings = vec![small_buffer()];
            }
            tests.push(test);
        }
    }
    Output {
        tests,
        knees: vec![
            Knee {
                test_ids: vec!["650m-up".to_owned()],
                limit: Limit::ReceiverInterface,
                why: "956 of 1912 lost were dropped by the receiver's interface".to_owned(),
                try_: "a larger ring".to_owned(),
                ..knee(Direction::Up, Some(612.4e6), Some(618.8e6), "loss")
            },
            knee(Direction::Down, Some(956.3e6), None, "range"),
        ],
        duration_s: 48.0,
        ..output("sweep")
    }
}

fn burst(number: u32) -> LossBurst {
    LossBurst {
        flow: 1,
        at_s: 0.25 * f64::from(number),
        first_sequence: u64::from(number) * 1000 + 1,
        packets: 382,
    }
}

fn knee(direction: Direction, lossless: Option<f64>, lossy: Option<f64>, limited_by: &str) -> Knee {
    Knee {
        test_ids: ["400m-up", "612m-up", "619m-up", "800m-up"]
            .map(str::to_owned)
            .to_vec(),
        direction,
        payload_bytes: 1448,
        lossless_bits_per_second: lossless,
        lossy_bits_per_second: lossy,
        lossless_pps: lossless.map(|rate| rate / 8.0 / 1448.0),
        limited_by: limited_by.to_owned(),
        trials: 9,
        ..Knee::default()
    }
}

/// What a sender could do and no more.
fn small_knee() -> Knee {
    Knee {
        payload_bytes: 64,
        limit: Limit::Sender,
        why: "offered 28.87 Mbit/s at unlimited rate".to_owned(),
        try_: "a faster sender".to_owned(),
        test_ids: vec!["800m-up".to_owned()],
        ..knee(Direction::Down, Some(28.87e6), None, "sender")
    }
}

pub(crate) fn check() -> Output {
    let mut tests = vec![
        tcp_test("tcp", Direction::Up, 412.7e6),
        tcp_test("tcp", Direction::Down, 941.4e6),
        tcp_test("tcp both", Direction::Up, 301.2e6),
        tcp_test("tcp both", Direction::Down, 644.0e6),
        udp_test("udp", Direction::Up, 600e6, 0),
        udp_test("udp", Direction::Down, 956.3e6, 18),
        udp_test("400M", Direction::Up, 400e6, 0),
        udp_test("612M", Direction::Up, 612.4e6, 0),
        udp_test("619M", Direction::Up, 618.8e6, 41),
        udp_test("800M", Direction::Up, 800e6, 99_999),
    ];
    tests[5].unsent_packets = Some(31);
    tests[5].sender_behind_ns_max = Some(2_310_000);
    tests[5].warnings = vec![small_buffer()];
    tests[4].warnings = vec![small_buffer()];
    let verdict = |direction, achieved, limit| Verdict {
        direction,
        achieved_bits_per_second: achieved,
        line_rate_bits_per_second: Some(957.087e6),
        limit,
        ..Verdict::default()
    };
    let segments = moved(Role::Remote, "TcpRetransSegs", 198, "/proc/net/snmp");
    tests[2].counters = vec![segments.clone()];
    tests[3].counters = vec![segments];
    let board = "its busiest processor is at 98 %, softirq 24 % of all";
    let cause = knee(Direction::Up, Some(612.4e6), Some(618.8e6), "loss");
    Output {
        tests,
        latency: vec![
            Latency {
                phase: Phase::Idle,
                method: "udp-probe".to_owned(),
                rtt_ns: Some(quantiles(98_400)),
                sent: 100,
                lost: 0,
            },
            Latency {
                phase: Phase::Up,
                method: "udp-probe".to_owned(),
                rtt_ns: Some(quantiles(2_984_000)),
                sent: 500,
                lost: 3,
            },
            Latency {
                phase: Phase::Down,
                method: "udp-probe".to_owned(),
                rtt_ns: None,
                sent: 500,
                lost: 500,
            },
        ],
        knees: vec![
            Knee {
                limit: Limit::ReceiverCpu,
                why: board.to_owned(),
                try_: "spread its interrupts".to_owned(),
                ..cause
            },
            small_knee(),
        ],
        verdicts: vec![
            Verdict {
                why: board.to_owned(),
                try_: "spread its interrupts".to_owned(),
                ..verdict(Direction::Up, 612.4e6, Limit::ReceiverCpu)
            },
            verdict(Direction::Down, 956.3e6, Limit::Link),
        ],
        expectations: vec![Expectation {
            expression: ">=940M".to_owned(),
            met: false,
            value: Some(612.4e6),
            of: Some("up".to_owned()),
        }],
        duration_s: 29.8,
        ..output("check")
    }
}

/// Losses with a cause, and one that nobody can tell.
pub(crate) fn explained() -> Output {
    let fact = |fact: &str, value: Value, unit: &str, source: &str| Evidence {
        fact: fact.to_owned(),
        value,
        unit: unit.to_owned(),
        source: source.to_owned(),
    };
    let overruns = fact("IEEE_rx_macerr", 4598.0.into(), "frames", "ethtool -S");
    let mut test = udp_test("udp", Direction::Up, 400e6, 4601);
    test.id = "udp-up".to_owned();
    Output {
        tests: vec![test],
        explained: true,
        ledger: vec![LedgerEntry {
            test_id: "udp-up".to_owned(),
            unit: "datagrams".to_owned(),
            lost_packets: 4601,
            stages: vec![Stage {
                stage: "rx-mac".to_owned(),
                host: Role::Remote,
                interface: Some("eth0".to_owned()),
                lo: 4590,
                hi: 4598,
                kind: "shared".to_owned(),
                evidence: vec![overruns],
            }],
            unattributed_lo: 3,
            unattributed_hi: 11,
            blind: vec!["wire".to_owned()],
            unread: vec![refused(Role::Local), refused(Role::Remote)],
        }],
        findings: vec![
            Finding {
                rule: "F01".to_owned(),
                cause: "rx-fifo-overrun-without-pause".to_owned(),
                title: "the MAC's FIFO overflows and the sender is never paused".to_owned(),
                strength: "proven".to_owned(),
                host: Role::Remote,
                interface: Some("eth0".to_owned()),
                test_ids: vec!["udp-up".to_owned()],
                explains: Explains {
                    lost_packets: Some(4598),
                    ..Explains::default()
                },
                evidence: vec![
                    fact("lost_at_rx_mac", 4598.0.into(), "packets", "the ledger"),
                    fact("pause_tx", "off".into(), "", "ethtool -a"),
                ],
                change: Some(Change {
                    figure: None,
                    tradeoffs: Vec::new(),
                    commands: vec!["ethtool -A eth0 autoneg on rx on tx on".to_owned()],
                    undo: vec!["ethtool -A eth0 autoneg on rx off tx off".to_owned()],
                    risk: "blip: pause stops all traffic of the link".to_owned(),
                }),
                verify: "IEEE_rx_macerr stays the same and tx_pause_frames grows".to_owned(),
                why: "Frames come faster than they are taken out of the FIFO.".to_owned(),
                source: "field report 000".to_owned(),
                ..Finding::default()
            },
            Finding {
                rule: "C14".to_owned(),
                title: "another machine takes 3 % of the processors".to_owned(),
                informational: true,
                ..Finding::default()
            },
        ],
        cannot_tell: vec![CannotTell {
            rule: "F02".to_owned(),
            cause: "pause-not-negotiated".to_owned(),
            facts: vec!["partner_pause".to_owned()],
            missing: vec!["ethtool eth0".to_owned()],
            needs_token: false,
            test_ids: Vec::new(),
        }],
        next_commands: vec!["ethtool eth0".to_owned()],
        ..output("udp")
    }
}

/// Nothing lost, nothing found.
pub(crate) fn healthy() -> Output {
    Output {
        tests: vec![udp_test("udp", Direction::Up, 400e6, 0)],
        explained: true,
        ..output("udp")
    }
}

/// A host that was only looked at.
fn inspect() -> Output {
    let setting = |source: &str, interface: Option<&str>, values: &[(&str, &str)]| Setting {
        source: source.to_owned(),
        interface: interface.map(str::to_owned),
        values: values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Setting::default()
    };
    let governor = |cpu: &str| {
        setting(
            &format!("/sys/devices/system/cpu/{cpu}/cpufreq"),
            None,
            &[("scaling_governor", "ondemand")],
        )
    };
    let eth0 = Some("eth0");
    Output {
        command: vec!["linerate".to_owned(), "inspect".to_owned()],
        settings: vec![
            setting(
                "ethtool -i",
                eth0,
                &[("driver", "fec"), ("bus-info", "2188000.ethernet")],
            ),
            setting(
                "ethtool",
                eth0,
                &[("Speed", "1000Mb/s"), ("Duplex", "Full"), ("Novel", "x")],
            ),
            setting("ethtool -a", eth0, &[("RX", "off"), ("TX", "off")]),
            setting(
                "/proc/irq/150",
                eth0,
                &[("name", "eth0"), ("smp_affinity_list", "0")],
            ),
            governor("cpu0"),
            governor("cpu1"),
            setting("sysctl", None, &[("net.core.rmem_max", "212992")]),
        ],
        explained: true,
        run_dir: None,
        ..output("inspect")
    }
}

fn refused(host: Role) -> Unread {
    Unread {
        source: "skb:kfree_skb".to_owned(),
        host,
        why: "create map: Operation not permitted".to_owned(),
        try_: "linerate as root".to_owned(),
    }
}
