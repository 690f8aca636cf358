// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work of a diagnosis grows with the length of its record, not with its square. Counted in looks at a test
//! (`linerate_model::work`), not in time.

use linerate_diagnose::explain::explain;
use linerate_diagnose::rules::embedded;
use linerate_model::output::{Direction, Flow, Host, Interface, LossBurst, Protocol, Role, Test};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::sample::{Phase, Sample};
use linerate_model::work::looks;

/// Tests of all kinds: both protocols, both directions, two sizes, streams, both ways at once, lossy and lossless.
fn test(at: usize) -> Test {
    let udp = at % 4 != 3;
    let lost = [0, 100 + at as u64 % 7, 30_000][at % 3];
    let flow = |id| Flow {
        id,
        delivered_bits_per_second: Some(2e8),
        ..Flow::default()
    };
    let burst = |packets| LossBurst {
        packets,
        ..LossBurst::default()
    };
    Test {
        id: format!("t{at}"),
        name: format!("test {} {} flows", at % 50, 1 + at % 3),
        group: format!("g{}", at / 2),
        protocol: [Protocol::Tcp, Protocol::Udp][usize::from(udp)],
        direction: [Direction::Up, Direction::Down][at % 2],
        streams: 1 + at as u32 % 3,
        payload_bytes: [64, 1448][at % 5 / 4],
        duration_s: 1.0,
        requested_bits_per_second: Some(5e8 + 1e5 * at as f64),
        offered_bits_per_second: Some(4.8e8 + 1e5 * at as f64),
        delivered_bits_per_second: Some(4e8),
        sent_packets: udp.then_some(100_000),
        received_packets: udp.then_some(100_000 - lost),
        lost_packets: udp.then_some(lost),
        loss_ratio: udp.then_some(lost as f64 / 1e5),
        local_interface: Some("eth0".to_owned()),
        remote_interface: Some("eth0".to_owned()),
        flows: (0..1 + at as u32 % 3).map(flow).collect(),
        loss_bursts: (0..lost.min(30)).map(burst).collect(),
        valid: true,
        ..Test::default()
    }
}

fn record(tests: usize) -> Record {
    let host = |role| Host {
        role,
        interfaces: vec![Interface {
            name: "eth0".to_owned(),
            mtu: Some(1500),
            link_bits_per_second: Some(1_000_000_000),
            ..Interface::default()
        }],
        agent: true,
        ..Host::default()
    };
    let run = Run {
        kind: "sweep".to_owned(),
        hosts: vec![host(Role::Local), host(Role::Remote)],
        tests: (0..tests).map(test).collect(),
        ..Run::default()
    };
    let sample = |host, at: usize| Sample {
        host,
        t_ns: at as u64 * 1_000_000_000,
        source: "/proc/net/snmp".to_owned(),
        group: Some(format!("g{}", at / 4)),
        phase: Some(Phase::Load),
        counters: [
            ("UdpInCsumErrors", at as u64),
            ("UdpRcvbufErrors", 90 * at as u64),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        ..Sample::default()
    };
    let samples =
        (0..2 * tests).flat_map(|at| [Role::Local, Role::Remote].map(|host| sample(host, at)));
    Record::of_run(run, samples.collect())
}

#[test]
fn a_diagnosis_looks_at_each_test_a_fixed_number_of_times() {
    let rules = embedded();
    let looks_at = |tests: usize| {
        let record = record(tests);
        let before = looks();
        let explained = explain(&record, rules);
        assert!(!explained.facts.is_empty());
        (looks() - before) as f64 / tests as f64
    };
    let [few, many] = [400, 1200].map(looks_at);
    println!("looks at each test: {few} of 400, {many} of 1200");
    assert!(many <= few * 1.2, "{few}, then {many} for each test");
    assert!(many < 300.0, "{many}");
}
