// SPDX-License-Identifier: MIT OR Apache-2.0
//! A board with one processor, whose link says 100 Mbit/s.

use linerate_model::output::{Cpu, Direction, Protocol, Role, Test};
use linerate_model::record::Record;
use linerate_model::sample::{Phase, Sample};

use crate::fixtures::{Fixture, run, tcp, udp};

const STAT: &str = "/proc/stat";

/// The peer has one processor, idle for this share of the test and nearly idle before it.
fn board(test: Test, idle: f64) -> Record {
    board_after(0.1, test, idle)
}

/// The same, busy for this share of the time before.
fn board_after(before: f64, test: Test, idle: f64) -> Record {
    let id = test.id.clone();
    let busy = Some(Cpu {
        user: 1.0 - idle,
        busiest_cpu: 1.0 - idle,
        ..Cpu::default()
    });
    let mut test = test;
    test.cpu.remote = busy;
    let mut record = run(vec![test]).idle_busy("idle", Role::Remote, before);
    record.run.hosts[1].cpus = Some(1);
    let ticks = |share: f64| (share * 1000.0) as u64;
    let counted = [("cpu0.idle", ticks(idle)), ("cpu0.user", ticks(1.0 - idle))];
    record.counted(&id, Role::Remote, STAT, &counted)
}

fn lossy() -> Test {
    udp("u1", 80_000, 9000)
}

#[test]
fn a_full_processor_comes_first() {
    let slow = board(tcp("t1", 2e8), 0.01);
    assert_eq!(slow.findings().first().map(String::as_str), Some("M14"));
    assert!(
        !board(tcp("t1", 2e8), 0.3)
            .findings()
            .contains(&"M14".to_owned())
    );
    let others_were_busy = board_after(1.0, tcp("t1", 2e8), 0.01);
    assert!(!others_were_busy.findings().contains(&"M14".to_owned()));
}

/// Where the program may not wait for the processor: a window of a few segments makes it busy with each of them.
#[test]
fn a_window_of_a_few_segments_comes_before_the_processor_that_it_fills() {
    let first = |rmem, limited_us| {
        let mut test = tcp("t1", 6e7);
        (test.busy_time_us, test.rwnd_limited_us) = (Some(10_000_000), Some(limited_us));
        let board = board(test, 0.01).set(Role::Remote, "sysctl", &[("net.ipv4.tcp_rmem", rmem)]);
        board.findings().first().cloned()
    };
    assert_eq!(first("4096 8192 8192", 7_900_000).as_deref(), Some("S05b"));
    let small_but_open = first("4096 8192 8192", 900_000);
    assert_eq!(small_but_open.as_deref(), Some("M14"));
    let large_and_not_read = first("4096 131072 6291456", 7_900_000);
    assert_eq!(large_and_not_read.as_deref(), Some("M14"));
}

/// What is missing at the wire is not the path's where an end had no time.
#[test]
fn nothing_is_inferred_of_the_path_where_an_end_is_full() {
    let asked = |idle| {
        let record = board(lossy(), idle);
        let (fired, _) = record.judged_at("wire");
        let all = fired.into_iter().chain(record.undecided_at("wire"));
        let of_the_path =
            |rule: &String| ["L09", "L13", "L14", "L15", "L20"].contains(&rule.as_str());
        all.filter(of_the_path).count()
    };
    assert_eq!((asked(0.01), asked(0.5) > 0), (0, true));
}

/// The readings are ten seconds apart and the processor idle for half of that: the test may have had all of the rest.
#[test]
fn nor_where_the_readings_do_not_show_that_it_had_time() {
    let asked = |duration_s| {
        let mut test = lossy();
        test.duration_s = duration_s;
        let mut record = board(test, 0.5);
        record.run.tests[0].cpu.remote = None;
        let (fired, _) = record.judged_at("wire");
        let mut all = fired.into_iter().chain(record.undecided_at("wire"));
        all.any(|rule| ["L09", "L13", "L14", "L15", "L20"].contains(&rule.as_str()))
    };
    assert_eq!([1.5, 6.0, 10.0].map(asked), [false, true, true]);
}

/// An idle time that is known: of ten seconds six in a test of eight, or none for certain in one of four.
#[test]
fn idle_time_outside_the_test_is_not_counted() {
    let least = |duration_s| {
        let mut test = lossy();
        test.duration_s = duration_s;
        let facts = board(test, 0.6).explained().facts;
        let mut all = facts.into_iter();
        all.find_map(|fact| (fact.name == "cpu_idle_least").then(|| fact.value.number())?)
    };
    assert_eq!(least(4.0), Some(0.0));
    assert_eq!(least(8.0), Some(0.5));
}

/// Reading settings and counters takes a slow board as long as the interval is.
#[test]
fn what_this_program_used_itself_was_not_used_by_others() {
    let before = |own: u64| {
        let mut record = run(vec![udp("u1", 80_000, 0)]).idle_busy("u1", Role::Local, 0.9);
        for (t_ns, ticks) in [(0, 7), (10_000_000_000, 7 + own)] {
            record.samples.push(Sample {
                group: Some("u1".to_owned()),
                phase: Some(Phase::Idle),
                source: "/proc/self/stat".to_owned(),
                t_ns,
                counters: [("utime".to_owned(), 5), ("stime".to_owned(), ticks)].into(),
                ..Sample::default()
            });
        }
        record.samples[1].t_ns = 10_000_000_000;
        let facts = record.explained().facts;
        let mut all = facts.into_iter();
        all.find_map(|fact| (fact.name == "idle_busiest_cpu").then(|| fact.value.number())?)
    };
    assert!(before(0).is_some_and(|share| (share - 0.9).abs() < 0.01));
    assert!(before(700).is_some_and(|share| (share - 0.2).abs() < 0.01));
    assert_eq!(before(950), Some(0.0));
}

/// The two ends of the lab are one set of processors.
#[test]
fn processors_of_one_machine_are_one_finding() {
    let said = |one_machine: bool| {
        let starved = |id: &str, direction| Test {
            direction,
            requested_bits_per_second: Some(1e9),
            ..udp(id, 80_000, 0)
        };
        let tests = vec![starved("u1", Direction::Up), starved("u2", Direction::Down)];
        let mut record =
            run(tests)
                .idle_busy("u1", Role::Local, 1.0)
                .idle_busy("u2", Role::Remote, 1.0);
        if one_machine {
            record.run.hosts[1].boot_id = record.run.hosts[0].boot_id.clone();
        }
        let findings = record.explained().findings.into_iter();
        let starved = findings.filter(|finding| finding.rule == "M11");
        starved.map(|finding| finding.test_ids.len()).collect()
    };
    let (two, one): (Vec<usize>, Vec<usize>) = (said(false), said(true));
    assert_eq!((two, one), (vec![1, 1], vec![2]));
}

#[test]
fn more_than_the_link_says_is_said_and_is_not_its_limit() {
    let record = |rate| {
        let mut record = board(tcp("t1", rate), 0.01);
        record.run.kind = "check".to_owned();
        for host in &mut record.run.hosts {
            host.interfaces[0].link_bits_per_second = Some(100_000_000);
        }
        record
    };
    let said = |record: &Record| record.findings().contains(&"(M15)".to_owned());
    let (beyond, within) = (record(1.87e8), record(9.4e7));
    assert!(said(&beyond) && !said(&within));
    assert!(
        beyond.findings().contains(&"M14".to_owned()),
        "the processor is"
    );
    assert!(
        !within.findings().contains(&"M14".to_owned()),
        "the link is"
    );
    let limit = |record: &Record| record.explained().verdicts[0].limit;
    assert_eq!(limit(&beyond), linerate_model::output::Limit::ReceiverCpu);
    assert_eq!(limit(&within), linerate_model::output::Limit::Link);
}

/// An emulator that gets a third of the time: what it did not run, no program of its used.
#[test]
fn time_that_a_virtual_machine_did_not_get_was_not_used_by_its_programs() {
    let mut record = run(vec![udp("u1", 80_000, 0)]).idle_busy("u1", Role::Local, 1.0);
    for sample in &mut record.samples {
        sample.t_ns *= 30;
    }
    let facts = record.explained().facts;
    let before = facts
        .iter()
        .find(|fact| fact.name == "idle_busiest_cpu")
        .unwrap();
    let share = before.value.number().unwrap();
    assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
}

#[test]
fn one_machine_is_no_full_end() {
    let mut record = board(lossy(), 0.01);
    record.run.hosts[1].boot_id = record.run.hosts[0].boot_id.clone();
    assert_eq!(record.run.tests[0].protocol, Protocol::Udp);
    let facts = record.explained().facts;
    let mut full = facts.iter().filter(|fact| fact.name == "an_end_is_full");
    assert!(full.all(|fact| fact.value.to_string() == "no"));
}
