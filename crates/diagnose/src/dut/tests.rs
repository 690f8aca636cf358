// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

fn sample(t_ns: u64, source: &str, interface: Option<&str>, counters: &[(&str, u64)]) -> Sample {
    Sample {
        t_ns,
        source: source.to_owned(),
        interface: interface.map(str::to_owned),
        counters: counters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        ..Sample::default()
    }
}

fn load(t_ns: u64, ticks: [u64; 4]) -> Sample {
    let [softirq0, idle0, user1, idle1] = ticks;
    let counters = [
        ("cpu.softirq", softirq0),
        ("cpu0.softirq", softirq0),
        ("cpu0.idle", idle0),
        ("cpu1.user", user1),
        ("cpu1.idle", idle1),
    ];
    sample(t_ns, LOAD, None, &counters)
}

#[test]
fn the_processors_are_judged_by_the_readings_next_to_the_traffic() {
    // The earlier of two readings is of the time in which everything else was read.
    let before = [load(0, [0, 0, 0, 0]), load(100, [50, 0, 50, 0])];
    let after = [load(1_000_000_100, [148, 2, 60, 90])];
    let device = moved(&before, &after).unwrap();
    assert!((device.elapsed_s - 1.0).abs() < 1e-9);
    assert_eq!((device.processor, device.busy_ratio), (0, 0.98));
    assert_eq!(device.softirq_ratio, 0.98);
    let other = &device.processors[1];
    assert_eq!(
        (other.number, other.busy_ratio, other.softirq_ratio),
        (1, 0.1, 0.0)
    );
    assert_eq!(device.processors.len(), 2, "the sum of all is none of them");
}

#[test]
fn who_was_not_there_twice_tells_nothing() {
    let once = [load(5, [1, 1, 1, 1])];
    assert_eq!(moved(&once, &[]), None);
    assert_eq!(moved(&[], &once), None);
    assert_eq!(moved(&once, &once), None, "no time went by");
}

#[test]
fn queues_interrupts_and_drops_are_sorted_out() {
    let eth0 = Some("eth0");
    let at = |t_ns: u64, n: u64| {
        [
            load(t_ns, [n, n, n, n]),
            sample(
                t_ns,
                SOFTNET,
                None,
                &[
                    ("processed", 5 * n),
                    ("dropped", n),
                    ("cpu0.dropped", n),
                    ("cpu1.processed", 4 * n),
                ],
            ),
            sample(
                t_ns,
                DRIVER,
                eth0,
                &[
                    ("rx_queue_0_packets", 7 * n),
                    ("rx_queue_1_packets", 0),
                    ("rx_queue_0_bytes", n),
                    ("rx_missed", n),
                ],
            ),
            sample(
                t_ns,
                "rtnl_link_stats64",
                eth0,
                &[("rx_packets", 7 * n), ("rx_bytes", n), ("rx_dropped", 0)],
            ),
            sample(
                t_ns,
                INTERRUPTS,
                None,
                &[
                    ("24:PCI-MSI eth0-rx-0/cpu0", n),
                    ("24:PCI-MSI eth0-rx-0/cpu1", 3 * n),
                    ("LOC:timer/cpu0", 9 * n),
                ],
            ),
            sample(t_ns, "/proc/net/sockstat", None, &[("TCP.mem", n)]),
        ]
    };
    let device = moved(&at(1, 10), &at(2, 110)).unwrap();
    assert_eq!(device.softnet_dropped, 100);
    assert_eq!(device.processors[1].packets, 400);
    let queues: Vec<_> = device
        .queues
        .iter()
        .map(|one| (one.number, one.packets))
        .collect();
    assert_eq!(queues, [(0, 700), (1, 0)]);
    assert_eq!(device.interrupts.len(), 1, "a timer is of no device");
    let line = &device.interrupts[0];
    assert_eq!((line.count, line.processor, line.most), (400, 1, 300));
    let names: Vec<_> = device
        .counters
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["dropped", "processed", "rx_missed", "rx_packets"]);
}
