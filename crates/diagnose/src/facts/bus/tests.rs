// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::output::{Role, Test};

use crate::fixtures::{Fixture, load, pasted, run, tcp, udp};
use linerate_model::record::Record;

fn fires(record: &Record, rule: &str) -> bool {
    record
        .findings()
        .iter()
        .any(|fired| fired.trim_matches(['(', ')']) == rule)
}

fn busy(share: f64) -> Record {
    let mut test: Test = tcp("t1", 400e6);
    (test.cpu.local, test.cpu.remote) = (load(share), load(share));
    run(vec![test])
}

const DEVICE: &str = "/sys/class/net/device";

#[test]
fn addresses_that_are_translated() {
    for (share, mode, fired) in [
        (0.98, "DMA", true),
        (0.98, "identity", false),
        (0.3, "DMA", false),
    ] {
        let record = busy(share).set(Role::Remote, DEVICE, &[("iommu_group_type", mode)]);
        assert_eq!(fires(&record, "B01"), fired);
    }
}

#[test]
fn a_narrow_slot() {
    let slot = |width| {
        let now = [
            ("current_link_speed", "2.5 GT/s PCIe"),
            ("current_link_width", width),
            ("max_link_speed", "8.0 GT/s PCIe"),
            ("max_link_width", "8"),
        ];
        let mut record = busy(0.3).set(Role::Remote, DEVICE, &now);
        record.run.hosts[1].interfaces[0].link_bits_per_second = Some(10_000_000_000);
        record
    };
    assert_eq!(
        slot("1").findings().first().map(String::as_str),
        Some("B02")
    );
    assert!(!fires(&slot("8"), "B02"));
    let pasted = pasted()
        .set(
            Role::Local,
            DEVICE,
            &[
                ("current_link_speed", "2.5GT/s"),
                ("current_link_width", "x1"),
                ("max_link_speed", "5GT/s"),
                ("max_link_width", "x4"),
            ],
        )
        .set(Role::Local, "ethtool", &[("Speed", "10000Mb/s")]);
    assert!(fires(&pasted, "B02"));
}

#[test]
fn what_the_log_says() {
    for (line, rule) in [
        ("eth1: AER: Corrected error received: 0000:01:00.0", "B03"),
        ("swiotlb buffer is full (sz: 4096 bytes)", "B06"),
    ] {
        let lines: Vec<(String, String)> = (1..9)
            .map(|number| (format!("line{number}"), line.to_owned()))
            .collect();
        let lines: Vec<(&str, &str)> = lines
            .iter()
            .map(|(name, line)| (name.as_str(), line.as_str()))
            .collect();
        assert!(
            fires(&busy(0.3).set(Role::Remote, "dmesg", &lines), rule),
            "{rule}"
        );
        assert!(!fires(
            &busy(0.3).set(Role::Remote, "dmesg", &[("line1", "eth1: link up")]),
            rule
        ));
    }
}

#[test]
fn memory_that_comes_late() {
    let fifo = |underruns| {
        run(vec![udp("u1", 81_000, 4000)])
            .set(Role::Remote, "ethtool -i", &[("driver", "fec")])
            .counted(
                "u1",
                Role::Remote,
                "ethtool -S",
                &[("IEEE_rx_macerr", 4000), ("IEEE_tx_macerr", underruns)],
            )
            .counted(
                "u1",
                Role::Remote,
                "/proc/stat",
                &[("cpu0.softirq", 400), ("cpu0.idle", 600)],
            )
    };
    assert!(fires(&fifo(300), "B04") && !fires(&fifo(0), "B04"));
    for (percent, fired) in [("38.0%", true), ("2.0%", false)] {
        assert_eq!(
            fires(
                &busy(0.98).set(Role::Remote, "perf top", &[("v7_dma_inv_range", percent)]),
                "B07"
            ),
            fired
        );
    }
}

#[test]
fn a_short_ring() {
    for (now, fired) in [("256", true), ("4096", false)] {
        let record = run(vec![udp("u1", 81_000, 5000)])
            .set(Role::Remote, "ethtool -i", &[("driver", "igb")])
            .set(
                Role::Remote,
                "ethtool -g",
                &[("RX.current", now), ("RX.max", "4096")],
            )
            .counted(
                "u1",
                Role::Remote,
                "ethtool -S",
                &[("rx_queue_0_drops", 5000)],
            )
            .counted(
                "u1",
                Role::Remote,
                "/proc/stat",
                &[("cpu0.softirq", 300), ("cpu0.idle", 700)],
            );
        assert_eq!(fires(&record, "B05"), fired);
    }
}

/// What a virtual machine did not get, or what was idle outside a short test, is no time that the processors had.
#[test]
fn a_short_ring_is_not_blamed_where_the_processor_may_have_had_no_time() {
    let fired = |duration_s: f64, ticks: u64| {
        let mut test = udp("u1", 81_000, 5000);
        test.duration_s = duration_s;
        let ring = [("RX.current", "256"), ("RX.max", "4096")];
        let idle = [
            ("cpu0.softirq", ticks * 3 / 10),
            ("cpu0.idle", ticks * 7 / 10),
        ];
        let record = run(vec![test])
            .set(Role::Remote, "ethtool -i", &[("driver", "igb")])
            .set(Role::Remote, "ethtool -g", &ring)
            .counted(
                "u1",
                Role::Remote,
                "ethtool -S",
                &[("rx_queue_0_drops", 5000)],
            )
            .counted("u1", Role::Remote, "/proc/stat", &idle);
        fires(&record, "B05")
    };
    assert!(fired(10.0, 1000));
    assert!(
        !fired(3.0, 1000),
        "the test may have had the busy three seconds"
    );
    assert!(!fired(10.0, 800), "a fifth of the ticks is missing");
}

#[test]
fn a_line_for_two_devices() {
    for (label, fired) in [
        ("11:IO-APIC 11-fasteoi ehci_hcd, eth1/cpu0", true),
        ("24:PCI-MSI eth1/cpu0", false),
    ] {
        let record = run(vec![udp("u1", 81_000, 0)])
            .counted("u1", Role::Remote, "/proc/interrupts", &[(label, 90_000)])
            .counted(
                "u1",
                Role::Remote,
                "/proc/stat",
                &[("cpu0.softirq", 800), ("cpu0.idle", 200)],
            );
        assert_eq!(fires(&record, "B08"), fired);
    }
}
