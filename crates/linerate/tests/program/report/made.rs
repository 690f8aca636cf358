// SPDX-License-Identifier: MIT OR Apache-2.0
//! Run directories with known figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use linerate_model::output::{
    Cpu, CpuPair, Direction, Forward, ForwardResult, Goal, Host, Interface, Interval, IoMode,
    Latency, LinkKind, Mode, MovedCounter, Phase, Port, Protocol, Quantiles, Role, Test,
};
use linerate_model::run::{Run, SCHEMA};

/// The payload rate of the endpoint run.
pub(crate) const DELIVERED: f64 = 941_482_115.25;
/// Its datagrams.
pub(crate) const SENT: u64 = 1_000_003;
/// Those of them that died.
pub(crate) const LOST: u64 = 9_871;
/// Frames a second of the device, by size.
pub(crate) const THROUGHPUT: [(u16, f64); 3] =
    [(64, 812_743.5), (512, 234_962.25), (1518, 81_274.125)];
/// What a gigabit link carries of each size.
pub(crate) const LINE: f64 = 1e9;

/// `linerate report` with these words.
pub(crate) fn report(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate"))
        .arg("report")
        .args(words)
        .env_remove("LINERATE_BLESS")
        .output()
        .unwrap()
}

/// What it printed, where it went well.
pub(crate) fn printed(words: &[&str]) -> Vec<u8> {
    let output = report(words);
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{reported}");
    output.stdout
}

/// An empty directory of this test's own.
pub(crate) fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}"));
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// Stores a run in `place`, by its kind's name.
pub(crate) fn store(place: &Path, run: &Run) -> String {
    let directory = place.join(&run.kind);
    fs::create_dir_all(&directory).unwrap();
    fs::write(
        directory.join("run.json"),
        serde_json::to_string_pretty(run).unwrap(),
    )
    .unwrap();
    directory.display().to_string()
}

fn run(kind: &str) -> Run {
    Run {
        schema: SCHEMA.to_owned(),
        started: "2026-11-21T19:00:00Z".to_owned(),
        clock_trusted: true,
        duration_s: Some(3.5),
        partial: false,
        hosts: vec![
            host(Role::Local, "lab-left", "eth0"),
            host(Role::Remote, "lab-right", "eth1"),
        ],
        ..Run::begin(kind, "0.1.0", &["linerate".to_owned(), kind.to_owned()])
    }
}

fn host(role: Role, name: &str, interface: &str) -> Host {
    Host {
        role,
        hostname: Some(name.to_owned()),
        boot_id: Some(format!("boot-of-{name}")),
        kernel: Some("6.12.0".to_owned()),
        arch: Some("aarch64".to_owned()),
        cpus: Some(4),
        interfaces: vec![Interface {
            name: interface.to_owned(),
            driver: Some("fec".to_owned()),
            link_bits_per_second: Some(1_000_000_000),
            mtu: Some(1500),
            link_kind: Some(LinkKind::Wire),
        }],
        agent: true,
        withheld: None,
        ..Host::default()
    }
}

/// One UDP test up that lost some.
pub(crate) fn udp() -> Run {
    let mut run = run("udp");
    run.plan
        .insert("expect".to_owned(), ">=900M loss<=0.1%".to_owned());
    run.latency = vec![Latency {
        phase: Phase::Up,
        method: "udp-probe".to_owned(),
        rtt_ns: Some(Quantiles {
            min: 90_000,
            p50: 123_456,
            p99: 456_789,
            p999: 600_000,
            max: 987_654,
        }),
        sent: 500,
        lost: 1,
    }];
    run.tests = vec![Test {
        id: "t1".to_owned(),
        name: "udp".to_owned(),
        group: "g1".to_owned(),
        protocol: Protocol::Udp,
        af: 4,
        direction: Direction::Up,
        streams: 1,
        payload_bytes: 1448,
        duration_s: 2.0,
        requested_bits_per_second: Some(950e6),
        offered_bits_per_second: Some(950_012_345.5),
        delivered_bits_per_second: Some(DELIVERED),
        sent_packets: Some(SENT),
        received_packets: Some(SENT - LOST),
        lost_packets: Some(LOST),
        loss_ratio: Some(LOST as f64 / SENT as f64),
        duplicate_packets: Some(0),
        reordered_packets: Some(0),
        mode: Mode {
            tx: Some(IoMode::Gso),
            rx: Some(IoMode::Gro),
            burst: Some(8),
        },
        local_interface: Some("eth0".to_owned()),
        remote_interface: Some("eth1".to_owned()),
        link_kind: Some(LinkKind::Wire),
        cpu: CpuPair {
            local: Some(cpu()),
            remote: Some(cpu()),
        },
        intervals: vec![interval(0.0, 940e6), interval(1.0, 942_964_230.5)],
        counters: vec![MovedCounter {
            host: Role::Remote,
            interface: Some("eth1".to_owned()),
            name: "rx_fifo_errors".to_owned(),
            delta: LOST,
            source: "rtnl_link_stats64".to_owned(),
        }],
        valid: true,
        ..Test::default()
    }];
    run
}

fn interval(start_s: f64, rate: f64) -> Interval {
    Interval {
        start_s,
        end_s: start_s + 1.0,
        sent_bits_per_second: Some(950e6),
        received_bits_per_second: Some(rate),
        sent_packets: Some(500_001),
        lost_packets: Some(4_935),
        ..Interval::default()
    }
}

fn cpu() -> Cpu {
    Cpu {
        user: 0.05,
        system: 0.2,
        softirq: 0.15,
        irq: 0.0,
        steal: 0.0,
        busiest_cpu: 0.97,
    }
}

/// A device between two ports, three sizes.
pub(crate) fn forward() -> Run {
    let result = |(frame_bytes, fps): (u16, f64)| {
        let frame_bits = f64::from(frame_bytes) * 8.0;
        let line_fps = LINE / (frame_bits + 160.0);
        ForwardResult {
            frame_bytes,
            goal: "ndr".to_owned(),
            direction: "a-b".to_owned(),
            lower_fps: Some(fps),
            upper_fps: Some(fps * 1.005),
            throughput_fps: Some(fps),
            l1_bits_per_second: Some(fps * (frame_bits + 160.0)),
            l2_bits_per_second: Some(fps * frame_bits),
            line_rate_ratio: Some(fps / line_fps),
            trials: 9,
            ..ForwardResult::default()
        }
    };
    Run {
        forward: Some(Forward {
            ports: ["eth0", "eth1"]
                .map(|interface| Port {
                    interface: interface.to_owned(),
                    send_backend: "af_packet".to_owned(),
                    receive_backend: "af_packet_ring".to_owned(),
                    not_used: Vec::new(),
                })
                .to_vec(),
            path: "bridged".to_owned(),
            af: 4,
            flows: 1,
            profile: "quick".to_owned(),
            goals: vec![Goal {
                name: "ndr".to_owned(),
                ..Goal::default()
            }],
            ..Forward::default()
        }),
        results: THROUGHPUT.map(result).to_vec(),
        ..run("forward")
    }
}
