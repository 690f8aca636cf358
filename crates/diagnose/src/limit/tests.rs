// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits over records and ledger entries made by hand.

mod verdicts;

use super::*;
use linerate_model::output::{
    Cpu, CpuPair, Evidence, Host, Interface, LinkKind, ReceiveBuffer, Role, Stage, Value,
};
use linerate_model::run::Run;
use linerate_model::setting::Setting;

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

fn wire(speed: u64) -> Record {
    let hosts = vec![
        host(Role::Local, "one", LinkKind::Wire, 10_000_000_000),
        host(Role::Remote, "two", LinkKind::Wire, speed),
    ];
    let run = Run {
        hosts,
        ..Run::default()
    };
    Record::of_run(run, Vec::new())
}

fn one_host(speed: u64) -> Record {
    let mut record = wire(speed);
    record.run.hosts[1].boot_id = Some("one".to_owned());
    record
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
fn lossy(receiver: f64) -> Test {
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
        valid: true,
        cpu: cpus(0.3, receiver),
        ..Test::default()
    }
}

/// The ledger of the lossy test: each stage with at least and at most.
fn ledger(lost: u64, stages: &[(&str, u64, u64)]) -> LedgerEntry {
    let stage = |&(stage, lo, hi): &(&str, u64, u64)| Stage {
        stage: stage.to_owned(),
        lo,
        hi,
        kind: "shared".to_owned(),
        evidence: vec![Evidence {
            fact: format!("{stage}_drops"),
            value: Value::Number(lo as f64),
            ..Evidence::default()
        }],
        ..Stage::default()
    };
    LedgerEntry {
        test_id: "udp-up".to_owned(),
        lost_packets: lost,
        stages: stages.iter().map(stage).collect(),
        ..LedgerEntry::default()
    }
}

/// The knee of one trial.
fn knee(record: &mut Record, trial: Test, limited_by: &str) -> Knee {
    let lost = trial.lost_packets > Some(0);
    let knee = Knee {
        test_ids: vec![trial.id.clone()],
        payload_bytes: 1448,
        lossless_bits_per_second: trial.offered_bits_per_second.filter(|_| !lost),
        lossy_bits_per_second: trial.offered_bits_per_second.filter(|_| lost),
        limited_by: limited_by.to_owned(),
        ..Knee::default()
    };
    record.run.tests.push(trial);
    knee
}

fn of_trial(mut record: Record, trial: Test, stages: &[(&str, u64, u64)]) -> Cause {
    let ledger = [ledger(trial.lost_packets.unwrap_or(0), stages)];
    let knee = knee(&mut record, trial, "loss");
    Limits::of(&record, &ledger).of_knee(&knee)
}

fn of_best(record: &Record, best: &Test, knee: Option<&Knee>) -> Cause {
    Limits::of(record, &[]).of_best(best, knee)
}

fn of_knee(record: &Record, knee: &Knee) -> Cause {
    Limits::of(record, &[]).of_knee(knee)
}

const NO_DROPS: (&str, u64, u64) = ("rx-socket", 0, 0);

#[test]
fn the_stage_that_dropped_most_is_the_limit() {
    let with = |stage, lo, hi| {
        let stages = [NO_DROPS, (stage, lo, hi)];
        of_trial(wire(10_000_000_000), lossy(0.5), &stages).limit
    };
    for (stage, lo, hi, limit) in [
        ("rx-mac", 60, 60, Limit::ReceiverInterface),
        ("rx-ring", 50, 50, Limit::ReceiverInterface),
        ("rx-softnet", 60, 60, Limit::ReceiverCpu),
        ("tx-qdisc", 100, 100, Limit::Sender),
        ("tx-socket", 100, 100, Limit::Sender),
        ("rx-ip", 100, 100, Limit::Unknown),
        ("wire", 70, 100, Limit::Path),
        ("rx-mac", 40, 40, Limit::Path),
        // A counter that wrapped: at least 40, up to all.
        ("rx-mac", 40, 100, Limit::ReceiverInterface),
    ] {
        assert_eq!(with(stage, lo, hi), limit, "{stage} {lo} to {hi}");
    }
}

#[test]
fn stages_of_one_limit_add_up() {
    let stages = [NO_DROPS, ("rx-mac", 30, 30), ("rx-ring", 30, 30)];
    let cause = of_trial(wire(10_000_000_000), lossy(0.5), &stages);
    assert_eq!(cause.limit, Limit::ReceiverInterface);
    assert_eq!(
        cause.why,
        "60 of 100 lost were dropped by the receiver's interface (rx-mac_drops, rx-ring_drops)"
    );
}

#[test]
fn the_difference_of_two_counters_accuses_only_when_it_is_certain() {
    let limit = |lo, hi| {
        let mut entry = ledger(100, &[NO_DROPS, ("rx-softnet", lo, hi)]);
        entry.stages[1].kind = "balance".to_owned();
        let mut record = wire(10_000_000_000);
        let knee = knee(&mut record, lossy(0.5), "loss");
        Limits::of(&record, &[entry]).of_knee(&knee).limit
    };
    assert_eq!(limit(10, 100), Limit::Path);
    assert_eq!(limit(60, 100), Limit::ReceiverCpu);
}

#[test]
fn the_receivers_socket_and_its_processor() {
    for (stages, busiest, limit) in [
        (&[("rx-socket", 90, 90)][..], 0.5, Limit::ReceiverSocket),
        (&[("rx-socket", 90, 90)], 0.99, Limit::ReceiverCpu),
        (&[NO_DROPS], 0.99, Limit::ReceiverCpu),
        (&[NO_DROPS], 0.5, Limit::Path),
        (&[], 0.5, Limit::Unknown),
    ] {
        let cause = of_trial(wire(10_000_000_000), lossy(busiest), stages);
        assert_eq!(cause.limit, limit, "{stages:?} {busiest}");
    }
    let stages = [("rx-socket", 90, 90)];
    let cause = of_trial(wire(10_000_000_000), lossy(0.5), &stages);
    assert_eq!(
        cause.why,
        "90 of 100 lost were dropped by the receiving socket's full buffer (rx-socket_drops)"
    );
    let stages = [("wire", 100, 100), NO_DROPS];
    let cause = of_trial(wire(10_000_000_000), lossy(0.99), &stages);
    assert_eq!(
        cause.limit,
        Limit::Path,
        "died before it reached the processor"
    );
}

/// A larger limit is advised only where the limit cut the buffer.
#[test]
fn the_advice_for_a_full_socket_fits_its_buffer() {
    for (asked, granted, limit, raise) in [
        (4 << 20, 212_992, None, true),
        (4 << 20, 212_992, Some(212_992), true),
        (4 << 20, 16_384, Some(4 << 20), false),
        (4 << 20, 4 << 20, Some(4 << 20), false),
        (4 << 20, 4 << 20, None, false),
    ] {
        let mut record = wire(10_000_000_000);
        record.run.settings.extend(limit.map(|limit: u64| Setting {
            host: Role::Remote,
            source: "sysctl".to_owned(),
            values: [("net.core.rmem_max".to_owned(), limit.to_string())].into(),
            ..Setting::default()
        }));
        let mut trial = lossy(0.5);
        trial.receive_buffer_bytes = Some(ReceiveBuffer {
            asked: Some(asked),
            granted: Some(granted),
        });
        let cause = of_trial(record, trial, &[("rx-socket", 90, 90)]);
        assert_eq!(cause.limit, Limit::ReceiverSocket);
        let raises = cause.try_.contains("larger net.core.rmem_max");
        assert_eq!(
            raises, raise,
            "{granted} of {asked}, {limit:?}: {}",
            cause.try_
        );
    }
}

/// A processor that a rule may call full is not excluded as the limit.
#[test]
fn a_processor_is_excluded_only_where_no_rule_calls_it_full() {
    for (busy, excluded) in [(0.5, true), (0.79, true), (0.9, false), (0.94, false)] {
        let cause = of_trial(wire(10_000_000_000), lossy(busy), &[NO_DROPS]);
        assert_eq!(
            cause.why.contains("processors of either end"),
            excluded,
            "{busy}: {}",
            cause.why
        );
    }
}

/// Up to 128 joined datagrams are one drop.
#[test]
fn joined_drops_are_a_lower_bound() {
    let joined = |(lo, hi), fifo| {
        let mut trial = lossy(0.5);
        trial.lost_packets = Some(1000);
        let stages = [("rx-socket", lo, hi), ("rx-mac", fifo, fifo)];
        of_trial(wire(10_000_000_000), trial, &stages)
    };
    for (socket, fifo, limit) in [
        ((0, 0), 0, Limit::Path),
        ((3, 384), 0, Limit::Path),
        ((4, 512), 0, Limit::ReceiverSocket),
        ((4, 501), 499, Limit::ReceiverSocket),
        ((4, 500), 500, Limit::ReceiverInterface),
    ] {
        let cause = joined(socket, fifo);
        assert_eq!(cause.limit, limit, "{socket:?} {fifo}");
    }
    assert_eq!(
        joined((4, 1000), 0).why,
        "at least 4 of 1000 lost were dropped by the receiving socket's full buffer (rx-socket_drops)"
    );
    let path = joined((3, 384), 0).why;
    assert!(path.contains("buffer (3 to 384 drops)"), "{path}");
}

#[test]
fn the_path_is_what_remains() {
    let cause = of_trial(wire(10_000_000_000), lossy(0.61), &[NO_DROPS]);
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (
            Limit::Path,
            "100 of 51000 lost; not the processors of either end (busiest 61 %), the receiving socket's \
             buffer (0 drops), a queue or interface of either end (0 drops) or the line rate (6 % of \
             it): that leaves the path or the stack of a peer"
        )
    );
}

#[test]
fn on_one_machine_a_full_processor_accuses_neither_end() {
    let cause = of_trial(one_host(10_000_000_000), lossy(0.99), &[NO_DROPS]);
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
    let mut trial = lossy(0.2);
    trial.lost_packets = Some(0);
    trial.loss_ratio = Some(0.0);
    trial.offered_bits_per_second = Some(323e6);
    trial.unsent_packets = Some(84_592);
    trial.sender_behind_ns_max = Some(137_000_000);
    trial.cpu = cpus(1.0, 0.2);
    let mut record = wire(10_000_000_000);
    let knee = knee(&mut record, trial, "sender");
    let cause = of_knee(&record, &knee);
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (
            Limit::Sender,
            "offered 323.0 Mbit/s of 600.0 Mbit/s requested, up to 137.0 ms behind schedule; \
             busiest processor is at 100 %"
        )
    );
    assert_eq!(cause.try_, advice(Limit::Sender));
    let mut alone = one_host(10_000_000_000);
    alone.run.tests = record.run.tests.clone();
    let cause = of_knee(&alone, &knee);
    assert_eq!(
        (cause.limit, cause.try_),
        (Limit::Sender, advice(Limit::SharedCpu))
    );
    assert!(cause.why.ends_with("100 %, which both ends share"));
    let best = of_best(&record, &tcp(330e6), Some(&knee));
    assert_eq!(best.limit, Limit::Sender);
    let far_beyond = of_best(&record, &tcp(3e9), Some(&knee));
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
        ..lossy(0.2)
    };
    let mut record = wire(10_000_000_000);
    record.run.tests = vec![
        trial("flood", None, 390e6),
        trial("kept", Some(200e6), 200e6),
        trial("short", Some(400e6), 310e6),
        trial("shorter", Some(400e6), 300e6),
    ];
    let knee = Knee {
        test_ids: record
            .run
            .tests
            .iter()
            .map(|test| test.id.clone())
            .collect(),
        lossless_bits_per_second: Some(310e6),
        limited_by: "sender".to_owned(),
        ..Knee::default()
    };
    let cause = of_knee(&record, &knee);
    let why = "offered 310.0 Mbit/s of 400.0 Mbit/s requested";
    assert!(cause.why.starts_with(why), "{}", cause.why);
    record.run.tests.truncate(2);
    let cause = of_knee(&record, &knee);
    let why = "offered 390.0 Mbit/s at unlimited rate";
    assert!(cause.why.starts_with(why), "{}", cause.why);
}

#[test]
fn line_rate_limits() {
    let record = wire(1_000_000_000);
    let best = tcp(941.4e6);
    // 1448 of 1538 bytes.
    assert!((line_rate(&record.run.hosts, &best).unwrap() - 941.48e6).abs() < 0.1e6);
    assert_eq!(of_best(&record, &best, None).limit, Limit::Link);
    let mut flood = lossy(0.2);
    flood.offered_bits_per_second = Some(950e6);
    assert_eq!(of_trial(record, flood, &[]).limit, Limit::Link);
}

#[test]
fn a_virtual_link_has_no_line_rate() {
    let mut record = wire(1_000_000_000);
    record.run.hosts[1] = host(Role::Remote, "two", LinkKind::Veth, 10_000_000_000);
    let best = tcp(941e6);
    assert_eq!(line_rate(&record.run.hosts, &best), None);
    assert_eq!(of_best(&record, &best, None).limit, Limit::Unknown);
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
fn many_retransmits_accuse_the_path_a_few_do_not() {
    let record = wire(10_000_000_000);
    let mut best = tcp(115.84e6);
    best.retransmits = Some(50);
    let cause = of_best(&record, &best, None);
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (Limit::Path, "50 segments retransmitted, 0.5000 % of all")
    );
    best.retransmits = Some(2);
    assert_eq!(of_best(&record, &best, None).limit, Limit::Unknown);
}

/// A search showed that each rate loses a share: few retransmitted segments do not rule out that TCP waits for them.
#[test]
fn a_loss_at_any_rate_is_not_ruled_out() {
    let mut best = tcp(1.13e9);
    best.retransmits = Some(2);
    let why = |record: &Record| of_best(record, &best, None).why;
    let mut record = wire(10_000_000_000);
    assert!(why(&record).contains("or loss (2 segments retransmitted)"));
    record.run.knees = vec![Knee {
        direction: best.direction,
        constant_loss: Some(linerate_model::output::ConstantLoss {
            loss_ratio: 0.0005,
            ..Default::default()
        }),
        ..Knee::default()
    }];
    let why = why(&record);
    assert!(
        why.contains("that leaves the loss of 0.0500 % of the packets at any rate, a window"),
        "{why}"
    );
    assert!(!why.contains("or loss"), "{why}");
}

#[test]
fn the_unknown_says_what_was_looked_at() {
    let cause = of_best(&wire(10_000_000_000), &tcp(1.13e9), None);
    assert_eq!(
        cause.why,
        "not the processors of either end (busiest 61 %), the line rate (12 % of it) or loss (0 \
         segments retransmitted): that leaves a window, the path's delay or the stack of a peer"
    );
    assert!(!cause.try_.is_empty());
    let mut stock = lossy(0.5);
    stock.cpu.remote = None;
    let cause = of_trial(wire(10_000_000_000), stock, &[]);
    assert_eq!(
        cause.why,
        "not the sender's processors (busiest 30 %) or the line rate (6 % of it): that leaves \
         the path, or the receiver, which reports no counters"
    );
    assert!(cause.try_.contains("linerate serve"));
    let mut stock = lossy(0.5);
    stock.cpu.local = None;
    let why = of_trial(wire(10_000_000_000), stock, &[NO_DROPS]).why;
    assert!(
        why.contains("a queue or interface of the receiver (0 drops)"),
        "{why}"
    );
    let blind = of_best(&Record::default(), &Test::default(), None);
    assert!(
        blind
            .why
            .starts_with("no counter of either end could be read")
    );
}
