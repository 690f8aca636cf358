// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::output::{Flow, Role, Test};

use crate::fixtures::{Fixture, pasted, run, tcp, udp};
use linerate_model::record::Record;

const UNEVEN: &[f64] = &[2.17e9, 2.07e9, 2.07e9, 1.46e9, 1.37e9];
const EVEN: &[f64] = &[1.91e9, 2.03e9, 1.84e9, 1.68e9, 1.84e9];

fn fires(record: &Record, rule: &str) -> bool {
    record
        .findings()
        .iter()
        .any(|fired| fired.trim_matches(['(', ')']) == rule)
}

fn number(record: &Record, name: &str) -> Option<f64> {
    let facts = record.explained().facts;
    facts.iter().find(|fact| fact.name == name)?.value.number()
}

fn parallel(rates: &[f64]) -> Test {
    let flow = |rate: &f64| Flow {
        delivered_bits_per_second: Some(*rate),
        ..Flow::default()
    };
    Test {
        streams: rates.len() as u32,
        flows: rates.iter().map(flow).collect(),
        ..tcp("t1", rates.iter().sum())
    }
}

fn fast(test: Test) -> Record {
    let mut record = run(vec![test]);
    for host in &mut record.run.hosts {
        host.cpus = Some(8);
        host.interfaces[0].link_bits_per_second = Some(10_000_000_000);
    }
    record.set(
        Role::Remote,
        "ethtool -l",
        &[("Combined.current", "8"), ("Combined.max", "8")],
    )
}

#[test]
fn flows_on_queues_that_were_counted() {
    let slower: Vec<f64> = UNEVEN.iter().map(|rate| rate * 0.8).collect();
    let queues = |used: usize| -> Vec<(String, u64)> {
        (0..8)
            .map(|queue| {
                (
                    format!("rx_queue_{queue}_packets"),
                    if queue < used { 90_000 } else { 3 },
                )
            })
            .collect()
    };
    for (rates, used, fired) in [
        (slower.as_slice(), 3, true),
        (slower.as_slice(), 5, false),
        (&[1.6e9; 5], 3, false),
    ] {
        let counted = queues(used);
        let counted: Vec<(&str, u64)> = counted
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        let record = fast(parallel(rates)).counted("t1", Role::Remote, "ethtool -S", &counted);
        assert_eq!(number(&record, "queues_used"), Some(used as f64));
        assert_eq!(fires(&record, "H01"), fired, "{used}");
        assert!(!fires(&record, "H01b"));
    }
}

#[test]
fn flows_of_a_report() {
    let portals: Vec<(String, u64)> = (0..8)
        .map(|row| {
            (
                format!("{}:ITS-fMSI Edge dpio.{}/cpu{row}", 124 + row, 8 - row),
                400_000,
            )
        })
        .collect();
    let portals: Vec<(&str, u64)> = portals
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    for (rates, fired) in [(UNEVEN, true), (EVEN, false)] {
        let mut record = pasted().read(Role::Local, "/proc/interrupts", &portals);
        record.run.tests = vec![parallel(rates)];
        assert_eq!(fires(&record, "H01b"), fired);
        let probability = number(&record, "collision_probability").unwrap();
        assert!((probability - 0.79492).abs() < 1e-4, "{probability}");
    }
}

#[test]
fn flows_of_a_table() {
    for (rates, single, fired) in [
        (UNEVEN, 2.91e9, true),
        (EVEN, 2.91e9, false),
        (UNEVEN, 9.2e9, false),
    ] {
        let mut record = pasted();
        record.run.tests = vec![
            Test {
                id: "t0".to_owned(),
                ..parallel(&[single])
            },
            parallel(rates),
        ];
        assert_eq!(fires(&record, "H01b"), fired, "{single}");
    }
}

#[test]
fn udp_on_one_queue() {
    let counted = [("rx_queue_0_packets", 80_000), ("rx_queue_1_packets", 10)];
    for (fields, fired) in [
        ("IP SA, IP DA", true),
        ("IP SA, IP DA, L4 bytes 0 & 1, L4 bytes 2 & 3", false),
    ] {
        let record = fast(Test {
            streams: 8,
            ..udp("t1", 80_000, 0)
        })
        .counted("t1", Role::Remote, "ethtool -S", &counted)
        .set(Role::Remote, "ethtool -n", &[("udp4", fields)]);
        assert_eq!(fires(&record, "H02"), fired);
    }
}

#[test]
fn fewer_queues_than_processors() {
    for (now, fired) in [("2", true), ("8", false)] {
        let record = fast(Test {
            streams: 4,
            ..tcp("t1", 5e9)
        })
        .set(
            Role::Remote,
            "ethtool -l",
            &[("Combined.current", now), ("Combined.max", "8")],
        )
        .counted(
            "t1",
            Role::Remote,
            "/proc/stat",
            &[("cpu0.softirq", 980), ("cpu0.idle", 20)],
        );
        assert_eq!(fires(&record, "H03"), fired);
    }
}

#[test]
fn one_flow_on_one_processor() {
    let record = |others| {
        let ticks = [
            ("cpu0.softirq", 990),
            ("cpu0.idle", 10),
            ("cpu1.idle", 1000 - others),
            ("cpu1.user", others),
        ];
        fast(tcp("t1", 3.08e9)).counted("t1", Role::Remote, "/proc/stat", &ticks)
    };
    assert_eq!(
        record(20).findings().first().map(String::as_str),
        Some("H04")
    );
    assert!(!fires(&record(900), "H04"));
    let mut one = record(20);
    one.run.hosts[1].boot_id = one.run.hosts[0].boot_id.clone();
    assert!(!fires(&one, "H04"), "on one machine");
}

/// The same load in user mode is a program's: an emulator, a build.
#[test]
fn a_processor_that_a_program_fills_is_not_full_with_packets() {
    let mode = |mode: &str| {
        let busy = format!("cpu0.{mode}");
        let ticks = [
            (busy.as_str(), 990),
            ("cpu0.idle", 10),
            ("cpu1.idle", 980),
            ("cpu1.user", 20),
        ];
        fast(tcp("t1", 3.08e9)).counted("t1", Role::Remote, "/proc/stat", &ticks)
    };
    let found = ["softirq", "system", "user"].map(|one| fires(&mode(one), "H04"));
    assert_eq!(found, [true, true, false]);
}

#[test]
fn steering() {
    for (mask, fired) in [("3", true), ("2", false)] {
        let record = fast(tcp("t1", 3e9))
            .set(
                Role::Remote,
                "/sys/class/net/queues",
                &[("rx-0.rps_cpus", mask)],
            )
            .counted(
                "t1",
                Role::Remote,
                "/proc/interrupts",
                &[("24:GIC eth1/cpu0", 90_000), ("24:GIC eth1/cpu1", 0)],
            )
            .counted(
                "t1",
                Role::Remote,
                "/proc/net/softnet_stat",
                &[("received_rps", 900_000), ("dropped", 0)],
            )
            .counted(
                "t1",
                Role::Remote,
                "/proc/stat",
                &[
                    ("cpu0.softirq", 970),
                    ("cpu0.idle", 30),
                    ("cpu1.idle", 1000),
                ],
            );
        assert_eq!(fires(&record, "H05"), fired);
    }
    for (queue, fired) in [(0, true), (50_000, false)] {
        let record = fast(Test {
            streams: 4,
            ..tcp("t1", 3e9)
        })
        .set(
            Role::Local,
            "ethtool -l",
            &[("Combined.current", "2"), ("Combined.max", "2")],
        )
        .counted(
            "t1",
            Role::Local,
            "tc -s qdisc",
            &[("drops", 0), ("packets", 100_000), ("requeues", 9000)],
        )
        .counted(
            "t1",
            Role::Local,
            "ethtool -S",
            &[
                ("tx_queue_0_packets", 50_000),
                ("tx_queue_1_packets", queue),
            ],
        );
        assert_eq!(fires(&record, "H06"), fired);
    }
}

#[test]
fn an_interrupt_that_was_moved() {
    let record = |second: &'static str| {
        let mut record = fast(tcp("t1", 3e9));
        let mut total = [0_u64; 2];
        for (at, cpu) in [(0, "cpu0"), (1, "cpu0"), (2, second)] {
            total[usize::from(cpu == "cpu1")] += u64::from(at > 0) * 5000;
            let counts = [
                ("24:MSI eth1-rx-0/cpu0", total[0]),
                ("24:MSI eth1-rx-0/cpu1", total[1]),
            ];
            let mut next = fast(tcp("t1", 3e9))
                .counted("t1", Role::Remote, "/proc/interrupts", &counts)
                .samples;
            record.samples.extend(next.pop().map(|mut sample| {
                sample.t_ns = at * 1_000_000_000;
                sample
            }));
        }
        let mut record = record.set(
            Role::Remote,
            "/proc/irq/24",
            &[("smp_affinity_list", "0"), ("name", "eth1-rx-0")],
        );
        for setting in record
            .run
            .settings
            .iter_mut()
            .filter(|setting| setting.source.starts_with("/proc/irq"))
        {
            setting.interface = Some("eth1".to_owned());
        }
        record
    };
    assert!(fires(&record("cpu1"), "H07") && !fires(&record("cpu0"), "H07"));
}
