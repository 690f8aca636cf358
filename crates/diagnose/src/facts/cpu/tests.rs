// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::output::{Cpu, Direction, Latency, LinkKind, Phase, Quantiles, Role, Test};
use linerate_model::sample::Sample;

use super::load::in_list;
use crate::fixtures::{Fixture, pasted, run, tcp, udp};
use linerate_model::record::Record;
use linerate_model::setting::Setting;

const STAT: &str = "/proc/stat";
const IRQ: &str = "/proc/interrupts";
const LINK: &str = "rtnl_link_stats64";
const SOFTNET: &str = "/proc/net/softnet_stat";

/// The receiver: processor 0 is full of soft interrupts, processor 1 is idle.
fn softirqs(record: Record) -> Record {
    let ticks = [
        ("cpu0.softirq", 970),
        ("cpu0.system", 30),
        ("cpu0.idle", 0),
        ("cpu1.idle", 1000),
        ("cpu1.system", 0),
    ];
    record.counted("u1", Role::Remote, STAT, &ticks)
}

fn received(record: Record, packets: u64) -> Record {
    record.counted(
        "u1",
        Role::Remote,
        LINK,
        &[("rx_packets", packets), ("tx_packets", 0)],
    )
}

fn lossy() -> Record {
    run(vec![udp("u1", 810_000, 4000)])
}

fn fires(record: &Record, rule: &str) -> bool {
    record
        .findings()
        .iter()
        .any(|fired| fired.trim_matches(['(', ')']) == rule)
}

fn fact(record: &Record, name: &str) -> Option<f64> {
    let facts = record.explained().facts;
    facts
        .iter()
        .find(|fact| fact.name == name && fact.host == Some(Role::Remote))?
        .value
        .number()
}

#[test]
fn where_the_time_went() {
    let record = softirqs(lossy()).counted(
        "u1",
        Role::Remote,
        "/proc/schedstat",
        &[("cpu0.run_delay", 7_000_000_000), ("cpu1.run_delay", 5)],
    );
    for (name, value) in [
        ("busiest_cpu", 1.0),
        ("other_cpus_busy", 0.0),
        ("most_softirq_cpu", 0.97),
        ("cpu_idle", 0.5),
        ("run_delay_ratio", 0.7),
    ] {
        assert_eq!(fact(&record, name), Some(value), "{name}");
    }
}

#[test]
fn all_interrupts_on_one_processor() {
    let spread = [
        ("24:MSI eth1-rx-0/cpu0", 50_000),
        ("25:MSI eth1-rx-1/cpu0", 0),
        ("25:MSI eth1-rx-1/cpu1", 50_000),
    ];
    let heap = [
        ("24:MSI eth1-rx-0/cpu0", 50_000),
        ("25:MSI eth1-rx-1/cpu0", 50_000),
        ("25:MSI eth1-rx-1/cpu1", 0),
    ];
    for (counts, fired) in [(heap, true), (spread, false)] {
        let record = softirqs(lossy()).counted("u1", Role::Remote, IRQ, &counts);
        assert_eq!(fires(&record, "C01"), fired);
    }
    let alien = [("24:MSI ahci/cpu0", 50_000), ("25:MSI ahci/cpu0", 50_000)];
    assert_eq!(
        fact(
            &lossy().counted("u1", Role::Remote, IRQ, &alien),
            "irq_vectors"
        ),
        None
    );
}

/// Of an emulated PC: a heavy program on processor 1, which takes the card's interrupts, and little for ksoftirqd.
#[test]
fn interrupts_on_the_processor_of_another_program() {
    let measured = |receiver: f64, user: u64| {
        let mut test = udp("u1", 50_000, 35_000);
        test.requested_bits_per_second = Some(20e6);
        test.delivered_bits_per_second = Some(2e6);
        test.receiver_cpu_ratio_max = Some(receiver);
        let stat = [
            ("cpu0.user", 3),
            ("cpu0.idle", 97),
            ("cpu1.user", user),
            ("cpu1.softirq", 100 - user),
        ];
        run(vec![test])
            .counted("u1", Role::Remote, "/proc/stat", &stat)
            .counted("u1", Role::Remote, IRQ, &[("28:MSI eth1-rx/cpu1", 2_000)])
    };
    let taken = measured(0.03, 98);
    assert!(fires(&taken, "H09") && !fires(&taken, "H04"));
    let with_its_share = measured(0.24, 84);
    assert!(fires(&with_its_share, "H09"), "most of it is not its own");
    let own = measured(0.95, 98);
    assert!(!fires(&own, "H09") && fires(&own, "H04"), "its receiver");
    let packets = measured(0.03, 20);
    assert!(!fires(&packets, "H09") && fires(&packets, "H04"));
}

#[test]
fn eight_portals_of_which_one_works() {
    let table = |busy: usize| {
        let names: Vec<(String, u64)> = (0..8)
            .flat_map(|row| (0..8).map(move |cpu| (row, cpu)))
            .map(|(row, cpu)| {
                let count = if row == cpu && row < busy { 119_703 } else { 0 };
                (
                    format!("{}:ITS-fMSI Edge dpio.{}/cpu{cpu}", 124 + row, 8 - row),
                    count,
                )
            })
            .collect();
        let names: Vec<(&str, u64)> = names
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        pasted().read(Role::Local, IRQ, &names)
    };
    assert_eq!(table(1).findings(), ["C02"]);
    assert_eq!(table(8).findings(), Vec::<String>::new());
    // One flow comes by one portal; two flows by two.
    let tested = |streams: u32| {
        let mut test = udp("u1", 810_000, 0);
        test.streams = streams;
        let counters = table(1).samples.remove(0).counters;
        let counters = counters.iter().map(|(name, count)| (name.as_str(), *count));
        let counters: Vec<(&str, u64)> = counters.collect();
        let mut record = run(vec![test]).counted("u1", Role::Remote, IRQ, &counters);
        let of_eth1 = |number: u32| Setting {
            host: Role::Remote,
            source: format!("/proc/irq/{number}"),
            interface: Some("eth1".to_owned()),
            values: [("name".to_owned(), "dpio".to_owned())].into(),
        };
        record.run.settings.extend((124..132).map(of_eth1));
        fires(&record, "C02")
    };
    assert_eq!([1, 2].map(tested), [false, true]);
}

#[test]
fn an_interrupt_for_each_packet() {
    for (interrupts, fired) in [(98_000, true), (9_000, false)] {
        let record = received(softirqs(lossy()), 100_000).counted(
            "u1",
            Role::Remote,
            IRQ,
            &[("24:GIC eth1/cpu0", interrupts)],
        );
        assert_eq!(fires(&record, "C03"), fired);
        let record = record.set(Role::Remote, "ethtool -i", &[("driver", "eepro100")]);
        assert_eq!(fires(&record, "C04"), fired);
        assert_eq!(fires(&record, "C07"), fired);
    }
}

#[test]
fn coalescing() {
    for (usecs, fired) in [("3", true), ("80", false)] {
        let record = softirqs(lossy())
            .counted("u1", Role::Remote, IRQ, &[("24:GIC eth1/cpu0", 400_000)])
            .set(
                Role::Remote,
                "ethtool -c",
                &[("Adaptive RX", "off"), ("rx-usecs", usecs)],
            );
        assert_eq!(fires(&record, "C05"), fired);
    }
    let slow = |usecs| {
        rested(lossy(), 190_000, 900_000).set(
            Role::Remote,
            "ethtool -c",
            &[("Adaptive RX", "off"), ("rx-usecs", usecs)],
        )
    };
    assert!(slow("125").findings().contains(&"(C06)".to_owned()));
    assert!(!fires(&slow("8"), "C06"));
}

/// Round trips of this many nanoseconds, idle and under load.
fn rested(mut record: Record, idle: i64, loaded: i64) -> Record {
    record.run.latency = [(Phase::Idle, idle), (Phase::Up, loaded)]
        .map(|(phase, p50)| Latency {
            phase,
            rtt_ns: Some(Quantiles {
                p50,
                ..Quantiles::default()
            }),
            ..Latency::default()
        })
        .to_vec();
    record
}

#[test]
fn slow_to_wake() {
    for (idle, loaded, fired) in [(8_200_000, 600_000, true), (300_000, 2_000_000, false)] {
        assert_eq!(fires(&rested(lossy(), idle, loaded), "C11"), fired);
    }
}

#[test]
fn a_used_up_slice_without_loss_is_only_worth_knowing() {
    let squeezed = |dropped| {
        let counted = [
            ("time_squeeze", 900),
            ("dropped", dropped),
            ("flow_limit_count", 0),
        ];
        softirqs(run(vec![udp("u1", 810_000, dropped)])).counted(
            "u1",
            Role::Remote,
            SOFTNET,
            &counted,
        )
    };
    let fired = squeezed(0).findings();
    assert_eq!(fired, ["(C08b)"]);
    let mut busy = squeezed(4000);
    busy.samples.retain(|sample: &Sample| sample.source != STAT);
    let busy = busy.counted(
        "u1",
        Role::Remote,
        STAT,
        &[
            ("cpu0.softirq", 970),
            ("cpu0.idle", 30),
            ("cpu1.idle", 1000),
        ],
    );
    assert!(fires(&busy, "C08") && !fires(&busy, "C08b"));
}

#[test]
fn a_backlog_that_overflows() {
    let full = |dropped, limited| {
        lossy().counted(
            "u1",
            Role::Remote,
            SOFTNET,
            &[
                ("dropped", dropped),
                ("flow_limit_count", limited),
                ("time_squeeze", 0),
            ],
        )
    };
    for (record, rules) in [(full(4000, 0), "C09"), (full(4000, 4000), "C09b")] {
        assert!(fires(&record, rules), "{rules}");
        let mut one = record;
        one.run.hosts[1].boot_id = one.run.hosts[0].boot_id.clone();
        assert!(!fires(&one, "C09"), "on one machine");
    }
    assert!(!fires(&full(0, 0), "C09"));
}

#[test]
fn frequency_memory_and_debugging() {
    let frequency = |governor| {
        let source = "/sys/devices/system/cpu/cpu0/cpufreq";
        let values = [
            ("scaling_governor", governor),
            ("scaling_driver", "cpufreq-dt"),
            ("scaling_cur_freq", "396000"),
            ("cpuinfo_max_freq", "996000"),
        ];
        softirqs(lossy()).set(Role::Remote, source, &values)
    };
    assert!(fires(&frequency("powersave"), "C12"));
    assert!(!fires(&frequency("schedutil"), "C12"));
    let node = |node| {
        softirqs(lossy())
            .set(
                Role::Remote,
                "/sys/class/net/device",
                &[("numa_node", node)],
            )
            .set(
                Role::Remote,
                "/sys/devices/system/node",
                &[("node0", "0-3"), ("node1", "4-7")],
            )
    };
    assert!(fires(&node("1"), "C13") && !fires(&node("0"), "C13") && !fires(&node("-1"), "C13"));
    let config = |option| softirqs(lossy()).set(Role::Remote, "/proc/config.gz", &[(option, "y")]);
    assert!(fires(&config("CONFIG_KASAN"), "C17") && !fires(&config("CONFIG_SMP"), "C17"));
    let stats =
        |on| softirqs(lossy()).set(Role::Remote, "sysctl", &[("kernel.bpf_stats_enabled", on)]);
    assert!(fires(&stats("1"), "C18") && !fires(&stats("0"), "C18"));
}

/// Field report 001: the scheduler shares between sessions first.
#[test]
fn a_receiver_whose_session_gets_a_small_share() {
    let board = |waited_ns, autogroup, lost| {
        let record = run(vec![udp("u1", 100_000, lost)])
            .counted(
                "u1",
                Role::Remote,
                "/proc/schedstat",
                &[("cpu0.run_delay", waited_ns)],
            )
            .set(
                Role::Remote,
                "/proc/config.gz",
                &[("CONFIG_FAIR_GROUP_SCHED", "y")],
            )
            .set(
                Role::Remote,
                "sysctl",
                &[("kernel.sched_autogroup_enabled", autogroup)],
            );
        let fired = record.findings_with("u1", "rx-socket", lost);
        fired.contains(&"C15".to_owned())
    };
    assert!(board(7_000_000_000, "1", 800));
    assert!(!board(7_000_000_000, "0", 800));
    assert!(!board(100_000_000, "1", 800));
    assert!(!board(7_000_000_000, "1", 0));
}

/// A rate needs a time: without one it is named what would tell.
#[test]
fn used_up_slices_since_the_start_tell_no_rate() {
    let host = |squeezes| {
        let counted = [
            ("time_squeeze", squeezes),
            ("dropped", 40),
            ("flow_limit_count", 0),
        ];
        let fired = pasted().read(Role::Local, SOFTNET, &counted).explained();
        fired
            .cannot_tell
            .iter()
            .any(|unknown| unknown.rule == "C08")
    };
    assert!(host(1300));
    assert!(!host(0));
}

/// The test between two readings tells how far they are apart; before or behind both it does not.
#[test]
fn the_test_between_two_readings_tells_a_rate() {
    let softnet = |dropped: u32, squeezed: u32| {
        let zeros = " 00000000".repeat(7);
        format!("$ cat /proc/net/softnet_stat\n0000375f {dropped:08x} {squeezed:08x}{zeros}\n")
    };
    let test = "$ iperf3 -u -b 100M -t 10 -c 192.0.2.7\n\
        [ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n\
        [  5]   0.00-10.00  sec   119 MBytes   100 Mbits/sec  0.000 ms  0/86320 (0%)  sender\n\
        [  5]   0.00-10.00  sec   119 MBytes  99.7 Mbits/sec  0.021 ms  259/86320 (0.3%)  receiver\n";
    let (before, after) = (softnet(2, 10), softnet(261, 1310));
    let rate = |text: String| {
        let records = linerate_paste::read(&text).records;
        assert_eq!(records.len(), 1, "{text}");
        let facts = records[0].explained().facts;
        let mut squeezed = facts.iter();
        let squeezed = squeezed.find(|fact| fact.name == "time_squeeze_per_second");
        let per_second = squeezed.and_then(|fact| fact.value.number());
        (per_second, fires(&records[0], "C08"))
    };
    assert_eq!(rate(format!("{before}{test}{after}")), (Some(130.0), true));
    assert_eq!(rate(format!("{before}{after}{test}")), (None, false));
    assert_eq!(rate(format!("{test}{before}{after}")), (None, false));
}

#[test]
fn a_virtual_machine_that_waits_is_only_worth_knowing() {
    let ticks = [("cpu0.user", 100), ("cpu0.steal", 110), ("cpu0.idle", 790)];
    let record = run(vec![tcp("u1", 941e6)]).counted("u1", Role::Remote, STAT, &ticks);
    assert_eq!(record.findings(), ["(C14)"]);
}

#[test]
fn one_machine_with_full_processors_needs_nothing() {
    let counts = [
        ("24:MSI eth1-rx-0/cpu0", 900_000),
        ("25:MSI eth1-rx-1/cpu0", 900_000),
    ];
    let softnet = [
        ("dropped", 4000),
        ("flow_limit_count", 0),
        ("time_squeeze", 5000),
    ];
    let mut record = received(softirqs(lossy()), 810_000)
        .counted("u1", Role::Remote, IRQ, &counts)
        .counted("u1", Role::Remote, SOFTNET, &softnet)
        .counted(
            "u1",
            Role::Remote,
            "/proc/schedstat",
            &[("cpu0.run_delay", 20_000_000_000)],
        );
    record.run.hosts[1].boot_id = record.run.hosts[0].boot_id.clone();
    let fired = record.findings();
    let ours = fired
        .iter()
        .filter(|rule| rule.starts_with(['C', 'H', 'P', 'T', 'B']));
    assert_eq!(ours.count(), 0, "{fired:?}");
}

#[test]
fn lists_of_processors() {
    assert!(in_list("0-3,8", 8) && in_list("0-3", 2) && !in_list("0-3,8", 4) && !in_list("", 0));
}

/// A stock server says nothing of its host: the loopback shows that it is this one, a wire that it is another. A virtual
/// link shows neither.
#[test]
fn whose_machine_a_stock_server_is_on() {
    let shared = |kind, stock: bool| {
        let mut test = tcp("t1", 941e6);
        test.link_kind = Some(kind);
        let mut record = run(vec![test]);
        if stock {
            record.run.hosts[1].boot_id = None;
        }
        let facts = record.explained().facts;
        let find = |name| facts.iter().find(|fact| fact.name == name).cloned();
        let of = |name| find(name).map(|fact| (fact.value, fact.source));
        let (one, other) = (of("ends_share_machine"), of("one_machine"));
        assert_eq!(one.as_ref(), other.as_ref());
        one
    };
    for (kind, stock, one, source) in [
        (LinkKind::Loopback, true, true, "the loopback"),
        (LinkKind::Wire, true, false, "wire"),
        (LinkKind::Wire, false, false, "boot_id"),
        (LinkKind::Veth, false, false, "boot_id"),
    ] {
        let (value, from) = shared(kind, stock).unwrap();
        assert_eq!(value, one.into(), "{kind:?}");
        assert!(from.contains(source), "{from}");
    }
    for unknown in [LinkKind::Veth, LinkKind::Tap] {
        assert_eq!(shared(unknown, true), None, "{unknown:?}");
    }
}

/// Reordering on the loopback is no path's: nothing is said of bonds or of queues.
#[test]
fn the_loopback_has_no_path_that_reorders() {
    let findings = |kind| {
        let mut test = udp("t1", 100_000, 0);
        (test.reordered_packets, test.duplicate_packets) = (Some(900), Some(900));
        test.link_kind = Some(kind);
        run(vec![test]).findings()
    };
    assert_eq!(findings(LinkKind::Wire).len(), 2);
    assert_eq!(findings(LinkKind::Loopback), [""; 0]);
}

/// A check whose probe took at most this long in each phase, with processors that were this busy before.
fn probed(longest_ms: [i64; 4], busy: f64, tcp_rtt_ms: i64) -> Record {
    let rtt = |p50, max| Quantiles {
        min: p50 / 2,
        p50,
        max,
        ..Quantiles::default()
    };
    let test = Test {
        rtt_ns: Some(rtt(100_000, tcp_rtt_ms * 1_000_000)),
        ..tcp("t1", 900e6)
    };
    let down = Test {
        id: "t2".to_owned(),
        direction: Direction::Down,
        ..test.clone()
    };
    let mut record = run(vec![test, down])
        .idle_busy("t1", Role::Local, busy)
        .idle_busy("t1", Role::Remote, 0.02);
    let phases = [Phase::Idle, Phase::Up, Phase::Down, Phase::Both];
    let latency = phases
        .into_iter()
        .zip(longest_ms)
        .map(|(phase, max)| Latency {
            phase,
            rtt_ns: Some(rtt(50_000, max * 1_000_000)),
            ..Latency::default()
        });
    record.run.latency = latency.collect();
    record
}

#[test]
fn an_end_that_stands_still_is_named_and_a_busy_machine_is_not() {
    let paused = [1, 186, 195, 188];
    assert!(fires(&probed(paused, 0.1, 1), "C21"));
    let mut full = probed(paused, 0.1, 1);
    full.run.tests[0].cpu.remote = Some(Cpu {
        user: 0.6,
        system: 0.38,
        ..Cpu::default()
    });
    assert!(!fires(&full, "C21"), "the load itself");
    // Once; once more, but at rest, where no TCP shows that the path was well; too short; a queue on the path, which
    // TCP sees too; a machine that others use.
    for (longest, busy, tcp) in [
        ([1, 2, 195, 1], 0.1, 1),
        ([186, 2, 195, 1], 0.1, 1),
        ([1, 30, 40, 35], 0.1, 1),
        (paused, 0.1, 90),
        (paused, 1.0, 1),
    ] {
        let record = probed(longest, busy, tcp);
        assert!(!fires(&record, "C21"), "{longest:?} {busy} {tcp}");
    }
}

/// What a sender could not offer did not come to the receiver: that is no collapse.
#[test]
fn a_sender_that_falls_short_is_no_collapse_of_the_receiver() {
    let record = |offered: [f64; 3], delivered: [f64; 3]| {
        let tests = offered.iter().zip(delivered).zip(["a", "b", "c"]);
        let tests = tests
            .zip([2e8, 4e8, 8e8])
            .map(|(((offered, delivered), id), requested)| Test {
                requested_bits_per_second: Some(requested),
                offered_bits_per_second: Some(*offered),
                delivered_bits_per_second: Some(delivered),
                ..udp(id, 80_000, 0)
            });
        run(tests.collect())
    };
    let short = record([2e8, 3.9e8, 2.1e8], [2e8, 3.9e8, 2.1e8]);
    assert_eq!(fact(&short, "receive_collapse_ratio"), Some(1.0));
    let collapsed = record([2e8, 4e8, 8e8], [2e8, 3.9e8, 1e8]);
    assert!(fires(&collapsed, "C19"));
}
