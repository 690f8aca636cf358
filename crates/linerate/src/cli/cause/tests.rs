// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use linerate_model::output::{
    Cpu, CpuPair, Direction, Host, Interface, LinkKind, MovedCounter, Protocol, Role,
};

fn host(role: Role, boot_id: &str, kind: LinkKind, speed: u64) -> Host {
    Host {
        role,
        boot_id: Some(boot_id.to_owned()),
        interfaces: vec![Interface {
            name: "eth0".to_owned(),
            link_bits_per_second: Some(speed),
            mtu: Some(1500),
            link_kind: Some(kind),
            ..Interface::default()
        }],
        ..Host::default()
    }
}

fn wire(speed: u64) -> Output {
    Output {
        hosts: vec![
            host(Role::Local, "one", LinkKind::Wire, 10_000_000_000),
            host(Role::Remote, "two", LinkKind::Wire, speed),
        ],
        ..Output::default()
    }
}

fn one_host(speed: u64) -> Output {
    let mut output = wire(speed);
    output.hosts[1].boot_id = Some("one".to_owned());
    output
}

fn cpus(sender: f64, receiver: f64) -> CpuPair {
    let cpu = |busiest_cpu| Cpu {
        busiest_cpu,
        ..Cpu::default()
    };
    CpuPair {
        local: Some(cpu(sender)),
        remote: Some(cpu(receiver)),
    }
}

fn tcp(rate: f64) -> Test {
    Test {
        id: "tcp-up".to_owned(),
        offered_bits_per_second: Some(rate),
        delivered_bits_per_second: Some(rate),
        duration_s: 1.0,
        mss_bytes: Some(1448),
        retransmits: Some(0),
        cpu: cpus(0.3, 0.61),
        af: 4,
        valid: true,
        ..Test::default()
    }
}

/// 600 Mbit/s up, of which 100 datagrams were lost.
fn lossy(drops: Option<u64>, receiver: f64) -> Test {
    Test {
        id: "udp-up".to_owned(),
        protocol: Protocol::Udp,
        payload_bytes: 1448,
        duration_s: 0.5,
        requested_bits_per_second: Some(600e6),
        offered_bits_per_second: Some(600e6),
        delivered_bits_per_second: Some(590e6),
        sent_packets: Some(51_000),
        lost_packets: Some(100),
        loss_ratio: Some(0.01),
        socket_drops: drops,
        valid: true,
        cpu: cpus(0.3, receiver),
        ..Test::default()
    }
}

fn moved(host: Role, name: &str, delta: u64) -> MovedCounter {
    let (name, source) = match name {
        "a driver's dropped" => ("dropped", "ethtool -S"),
        "dropped" => (name, "/proc/net/softnet_stat"),
        _ => (name, ""),
    };
    MovedCounter {
        host,
        name: name.to_owned(),
        source: source.to_owned(),
        delta,
        ..MovedCounter::default()
    }
}

/// The knee of one trial.
fn knee(output: &mut Output, trial: Test, limited_by: &str) -> Knee {
    let lost = trial.lost_packets > Some(0);
    let knee = Knee {
        test_ids: vec![trial.id.clone()],
        payload_bytes: 1448,
        lossless_bits_per_second: trial.offered_bits_per_second.filter(|_| !lost),
        lossy_bits_per_second: trial.offered_bits_per_second.filter(|_| lost),
        limited_by: limited_by.to_owned(),
        ..Knee::default()
    };
    output.tests.push(trial);
    knee
}

fn of_trial(mut output: Output, trial: Test) -> Cause {
    let knee = knee(&mut output, trial, "loss");
    of_knee(&output, &knee)
}

#[test]
fn where_most_were_dropped_is_the_cause() {
    let with = |host, name: &str, drops| {
        let mut trial = lossy(Some(0), 0.5);
        trial.direction = Direction::Up;
        trial.counters = vec![moved(host, name, drops)];
        of_trial(wire(10_000_000_000), trial).limit
    };
    assert_eq!(
        with(Role::Remote, "rx_fifo_errors", 60),
        Limit::ReceiverInterface
    );
    assert_eq!(with(Role::Remote, "dropped", 60), Limit::ReceiverCpu);
    assert_eq!(
        with(Role::Remote, "a driver's dropped", 60),
        Limit::Path,
        "only the kernel's backlog is the processor's"
    );
    assert_eq!(with(Role::Local, "IpOutDiscards", 100), Limit::Sender);
    assert_eq!(
        with(Role::Remote, "rx_fifo_errors", 40),
        Limit::Path,
        "the lesser part"
    );
    assert_eq!(
        with(Role::Local, "rx_fifo_errors", 60),
        Limit::Path,
        "of the wrong end"
    );
}

#[test]
fn another_interface_is_not_the_carrier() {
    let mut trial = lossy(Some(0), 0.5);
    trial.remote_interface = Some("eth0".to_owned());
    let mut counter = moved(Role::Remote, "rx_dropped", 100);
    counter.interface = Some("wlan0".to_owned());
    trial.counters = vec![counter];
    assert_eq!(of_trial(wire(10_000_000_000), trial).limit, Limit::Path);
}

#[test]
fn the_receivers_socket_and_its_processor() {
    for (drops, busiest, limit) in [
        (Some(90), 0.5, Limit::ReceiverSocket),
        (Some(90), 0.99, Limit::ReceiverCpu),
        (Some(0), 0.99, Limit::ReceiverCpu),
        (Some(0), 0.5, Limit::Path),
        (None, 0.5, Limit::Unknown),
    ] {
        let cause = of_trial(wire(10_000_000_000), lossy(drops, busiest));
        assert_eq!(cause.limit, limit, "{drops:?} {busiest}");
    }
    let cause = of_trial(wire(10_000_000_000), lossy(Some(90), 0.5));
    assert_eq!(
        cause.why,
        "90 of 100 lost were dropped by the receiving socket's full buffer (SO_RXQ_OVFL)"
    );
}

/// 128 joined datagrams at most are one drop.
#[test]
fn joined_drops_are_at_least_so_many() {
    let joined = |drops, name, delta| {
        let mut trial = lossy(Some(drops), 0.5);
        trial.lost_packets = Some(1000);
        trial.socket_drops_at_least = true;
        trial.counters = vec![moved(Role::Remote, name, delta)];
        of_trial(wire(10_000_000_000), trial)
    };
    for (drops, fifo, limit) in [
        (0, 0, Limit::Path),
        (3, 0, Limit::Path),
        (4, 0, Limit::ReceiverSocket),
        (4, 499, Limit::ReceiverSocket),
        (4, 500, Limit::ReceiverInterface),
    ] {
        let cause = joined(drops, "rx_fifo_errors", fifo);
        assert_eq!(cause.limit, limit, "{drops} {fifo}");
    }
    assert_eq!(
        joined(4, "rx_fifo_errors", 0).why,
        "at least 4 of 1000 lost were dropped by the receiving socket's full buffer (SO_RXQ_OVFL, \
         which counts joined datagrams as one)"
    );
    let path = joined(3, "rx_fifo_errors", 0).why;
    assert!(path.contains("buffer (at least 3 drops)"), "{path}");
}

#[test]
fn damaged_datagrams_are_not_the_buffers() {
    let mut trial = lossy(Some(90), 0.5);
    trial.counters = vec![moved(Role::Remote, "UdpInCsumErrors", 90)];
    assert_eq!(of_trial(wire(10_000_000_000), trial).limit, Limit::Path);
}

#[test]
fn the_path_is_what_is_left() {
    let cause = of_trial(wire(10_000_000_000), lossy(Some(0), 0.61));
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (
            Limit::Path,
            "100 of 51000 lost; not the processors of either end (busiest 61 %), the receiving socket's \
             buffer (0 drops), a queue or interface of either end (0 drops) or the line rate (6 % of \
             it): what is left is the path or the stack of a peer"
        )
    );
}

#[test]
fn on_one_machine_a_full_processor_is_nobodys_fault() {
    let cause = of_trial(one_host(10_000_000_000), lossy(Some(0), 0.99));
    assert_eq!(cause.limit, Limit::Path);
    assert!(
        cause
            .why
            .ends_with("busiest processor is at 99 %, which both ends share")
    );
    let mut best = tcp(3e9);
    best.cpu = cpus(0.99, 0.99);
    let cause = of_best(&one_host(10_000_000_000), &best, None);
    assert_eq!(cause.limit, Limit::SharedCpu);
}

#[test]
fn a_sender_that_cannot_do_more_says_what_it_did() {
    let mut trial = lossy(Some(0), 0.2);
    trial.lost_packets = Some(0);
    trial.loss_ratio = Some(0.0);
    trial.offered_bits_per_second = Some(323e6);
    trial.unsent_packets = Some(84_592);
    trial.sender_behind_ns_max = Some(137_000_000);
    trial.cpu = cpus(1.0, 0.2);
    let mut output = wire(10_000_000_000);
    let knee = knee(&mut output, trial, "sender");
    let cause = of_knee(&output, &knee);
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (
            Limit::Sender,
            "asked for 600.0 Mbit/s it offered 323.0 Mbit/s, up to 137.0 ms behind its schedule; \
             busiest processor is at 100 %"
        )
    );
    assert_eq!(cause.try_, advice(Limit::Sender));
    let mut alone = one_host(10_000_000_000);
    alone.tests = output.tests.clone();
    let cause = of_knee(&alone, &knee);
    assert_eq!(
        (cause.limit, cause.try_),
        (Limit::Sender, advice(Limit::SharedCpu))
    );
    assert!(cause.why.ends_with("100 %, which both ends share"));
    let best = of_best(&output, &tcp(330e6), Some(&knee));
    assert_eq!(best.limit, Limit::Sender);
    let far_beyond = of_best(&output, &tcp(3e9), Some(&knee));
    assert_eq!(
        far_beyond.limit,
        Limit::Unknown,
        "TCP sends by larger pieces"
    );
}

#[test]
fn the_trial_that_fell_short_speaks_for_the_sender() {
    let trial = |id: &str, asked, offered| Test {
        id: id.to_owned(),
        requested_bits_per_second: asked,
        offered_bits_per_second: Some(offered),
        duration_s: 0.5,
        lost_packets: Some(0),
        loss_ratio: Some(0.0),
        ..lossy(Some(0), 0.2)
    };
    let mut output = wire(10_000_000_000);
    output.tests = vec![
        trial("flood", None, 390e6),
        trial("kept", Some(200e6), 200e6),
        trial("short", Some(400e6), 310e6),
        trial("shorter", Some(400e6), 300e6),
    ];
    let knee = Knee {
        test_ids: output.tests.iter().map(|test| test.id.clone()).collect(),
        lossless_bits_per_second: Some(310e6),
        limited_by: "sender".to_owned(),
        ..Knee::default()
    };
    let cause = of_knee(&output, &knee);
    let told = "asked for 400.0 Mbit/s it offered 310.0 Mbit/s";
    assert!(cause.why.starts_with(told), "{}", cause.why);
    output.tests.truncate(2);
    let cause = of_knee(&output, &knee);
    let told = "as fast as it could it offered 390.0 Mbit/s";
    assert!(cause.why.starts_with(told), "{}", cause.why);
}

#[test]
fn line_rate_is_the_links_own() {
    let output = wire(1_000_000_000);
    let best = tcp(941.4e6);
    // 1448 of 1538 bytes.
    assert!((line_rate(&output, &best).unwrap() - 941.48e6).abs() < 0.1e6);
    assert_eq!(of_best(&output, &best, None).limit, Limit::Link);
    let mut flood = lossy(Some(0), 0.2);
    flood.offered_bits_per_second = Some(950e6);
    assert_eq!(of_trial(output, flood).limit, Limit::Link);
}

#[test]
fn a_virtual_link_has_no_line_rate() {
    let mut output = wire(1_000_000_000);
    output.hosts[1] = host(Role::Remote, "two", LinkKind::Veth, 10_000_000_000);
    let best = tcp(941e6);
    assert_eq!(line_rate(&output, &best), None);
    assert_eq!(of_best(&output, &best, None).limit, Limit::Unknown);
}

#[test]
fn a_full_processor_limits_the_best_test() {
    let mut best = tcp(3e9);
    for (cpu, limit) in [
        (cpus(0.99, 0.2), Limit::Sender),
        (cpus(0.2, 0.99), Limit::ReceiverCpu),
        (cpus(0.99, 0.99), Limit::ReceiverCpu),
    ] {
        best.cpu = cpu;
        assert_eq!(of_best(&wire(10_000_000_000), &best, None).limit, limit);
    }
}

#[test]
fn much_sent_again_accuses_the_path_a_little_does_not() {
    let output = wire(10_000_000_000);
    let mut best = tcp(115.84e6);
    best.retransmits = Some(50);
    let cause = of_best(&output, &best, None);
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (Limit::Path, "50 segments were sent again, 0.5000 % of all")
    );
    best.retransmits = Some(2);
    assert_eq!(of_best(&output, &best, None).limit, Limit::Unknown);
}

#[test]
fn the_unknown_says_what_was_looked_at() {
    let cause = of_best(&wire(10_000_000_000), &tcp(1.13e9), None);
    assert_eq!(
        cause.why,
        "not the processors of either end (busiest 61 %), the line rate (12 % of it) or loss (0 \
         segments sent again): what is left is a window, the path's delay or the stack of a peer"
    );
    assert!(!cause.try_.is_empty());
    let mut stock = lossy(None, 0.5);
    stock.cpu.remote = None;
    let cause = of_trial(wire(10_000_000_000), stock);
    assert_eq!(
        cause.why,
        "not the sender's processors (busiest 30 %) or the line rate (6 % of it): what is left is \
         the path, or the receiver, which tells nothing of itself"
    );
    assert!(cause.try_.contains("linerate serve"));
    let mut stock = lossy(Some(0), 0.5);
    stock.cpu.local = None;
    let why = of_trial(wire(10_000_000_000), stock).why;
    assert!(
        why.contains("a queue or interface of the receiver (0 drops)"),
        "{why}"
    );
    let blind = of_best(&Output::default(), &Test::default(), None);
    assert!(
        blind
            .why
            .starts_with("no counter of either end could be read")
    );
}
