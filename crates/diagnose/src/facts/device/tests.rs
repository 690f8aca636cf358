// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::evidence::Evidence;
use linerate_model::output::{DeviceQueue, ForwardResult, Trial};

use crate::explain::explain;
use crate::facts::Facts;
use crate::fixtures::device::{counter, device, record, trial};
use crate::ledger;
use crate::rules;
use crate::viewpoint::Viewpoint;
use linerate_model::record::Record;

fn facts(record: &Record) -> Facts {
    let evidence = Evidence::of(record);
    Facts::of(&evidence, &ledger::of(&evidence))
}

fn of_run(record: &Record, name: &str) -> Option<String> {
    let facts = facts(record);
    facts
        .get(name, &Viewpoint::default())
        .map(|fact| fact.value.to_string())
}

/// Of the trial with number 2.
fn of_trial(record: &Record, name: &str) -> Option<String> {
    let viewpoint = Viewpoint {
        test_id: Some("trial-2".to_owned()),
        host: Some(linerate_model::output::Role::Device),
        ..Viewpoint::default()
    };
    facts(record)
        .get(name, &viewpoint)
        .map(|fact| fact.value.to_string())
}

fn rates(points: &[(u16, f64)]) -> Record {
    let result = |(frame_bytes, fps): &(u16, f64)| ForwardResult {
        frame_bytes: *frame_bytes,
        goal: "ndr".to_owned(),
        direction: "a-b".to_owned(),
        throughput_fps: Some(*fps),
        lower_fps: Some(*fps),
        upper_fps: Some(fps * 1.01),
        ..ForwardResult::default()
    };
    let mut record = record(Vec::new());
    record.run.results = points.iter().map(result).collect();
    record
}

#[test]
fn the_same_frames_at_every_size_are_packets_not_bits() {
    let record = rates(&[(64, 1.36e6), (128, 1.35e6), (512, 1.33e6), (1518, 1.30e6)]);
    assert_eq!(of_run(&record, "forward_pps_flat").as_deref(), Some("yes"));
    assert_eq!(of_run(&record, "forward_bits_flat").as_deref(), Some("no"));
    assert_eq!(of_run(&record, "forward_sizes").as_deref(), Some("4"));
}

#[test]
fn the_same_bits_at_every_size_name_their_layer() {
    let at = |beside: f64| {
        let sizes = [64_u16, 256, 1518];
        rates(&sizes.map(|bytes| (bytes, 1e8 / 8.0 / (f64::from(bytes) + beside))))
    };
    for (beside, layer) in [
        (20.0, "the wire (L1)"),
        (0.0, "frames with FCS (L2)"),
        (-4.0, "frames without FCS"),
        (-18.0, "IP packets"),
    ] {
        let record = at(beside);
        assert_eq!(of_run(&record, "forward_bits_flat").as_deref(), Some("yes"));
        assert_eq!(
            of_run(&record, "forward_bits_layer").as_deref(),
            Some(layer)
        );
        assert_eq!(of_run(&record, "forward_pps_flat").as_deref(), Some("no"));
    }
}

/// Wide bounds fit many curves: they are no proof of one bit rate.
#[test]
fn one_bit_rate_is_in_the_bounds_of_every_size_only_where_they_are_narrow() {
    let flat = |width: f64| {
        let at = |bytes: f64, slower: f64| 1e8 / 8.0 / bytes / slower;
        let mut record = rates(&[
            (64, at(64.0, 1.08)),
            (256, at(256.0, 1.04)),
            (1518, at(1518.0, 1.0)),
        ]);
        for one in &mut record.run.results {
            one.upper_fps = one.lower_fps.map(|fps| fps * width);
        }
        of_run(&record, "forward_bits_flat")
    };
    assert_eq!(flat(1.005).as_deref(), Some("no"));
    assert_eq!(flat(1.14).as_deref(), Some("no"));
}

#[test]
fn what_the_tester_or_the_line_ended_is_no_rate_of_the_device() {
    let mut record = rates(&[(64, 1e6), (128, 1e6), (1518, 81_274.0)]);
    record.run.results[1].tester_limited = true;
    record.run.results[2].line_rate_ratio = Some(1.0);
    assert_eq!(of_run(&record, "forward_sizes").as_deref(), Some("1"));
    assert_eq!(of_run(&record, "forward_pps_flat"), None);
}

#[test]
fn a_price_for_each_byte_below_the_line_rate_is_a_bus() {
    // 0.5 µs a frame, and 4 Gbit/s behind a line of 10 Gbit/s.
    let fps = |bytes: f64| 1e6 / (0.5 + bytes * 8.0 / 4000.0);
    let sizes = [64_u16, 256, 512, 1024, 1518].map(|bytes| (bytes, fps(f64::from(bytes))));
    let mut record = rates(&sizes);
    let last = record.run.results.last_mut().unwrap();
    last.l1_bits_per_second = Some(3.5e9);
    last.line_rate_ratio = Some(0.35);
    let number = |name| of_run(&record, name).unwrap().parse::<f64>().unwrap();
    assert!((number("forward_byte_rate_of_line") - 0.4).abs() < 0.01);
    assert!((number("forward_fixed_us") - 0.5).abs() < 0.01);
}

#[test]
fn a_full_processor_and_a_full_queue_are_named_by_their_numbers() {
    let mut lossy = trial(2, 2000.0, 1000, 10);
    let mut counted = device([0.2, 0.98]);
    counted.processors[1].packets = 999;
    counted.processors[0].packets = 1;
    counted.processors[0].squeezed = 40;
    counted.counters = vec![
        counter("rtnl_link_stats64", Some("eth0"), "rx_packets", 1000),
        counter("ethtool -S", Some("eth0"), "rx_pause_frames", 6),
        counter("ethtool -I -a", Some("eth0"), "rx_pause_frames", 5),
    ];
    let queue = |interface: &str, number, packets| DeviceQueue {
        interface: interface.to_owned(),
        number,
        packets,
    };
    counted.queues = vec![
        queue("eth0", 0, 990),
        queue("eth0", 1, 10),
        queue("eth1", 0, 7),
    ];
    lossy.device = Some(counted);
    let record = record(vec![trial(1, 1000.0, 1000, 0), lossy]);
    for (name, value) in [
        ("device_is_this_machine", "no"),
        ("device_flows", "4"),
        ("device_busiest_cpu", "0.98"),
        ("device_busiest_cpu_number", "1"),
        ("device_softirq_cpu", "0.98"),
        ("device_other_cpus_busy", "0.2"),
        ("device_packets_top_cpu_share", "0.999"),
        ("device_queues", "2"),
        ("device_queue_top", "rx-0"),
        ("device_queue_top_share", "0.99"),
        ("device_squeezes_per_second", "40"),
        ("device_pause_frames", "6"),
        ("lost_packets", "10"),
        ("lost_at_fwd_qdisc", "0"),
    ] {
        assert_eq!(of_trial(&record, name).as_deref(), Some(value), "{name}");
    }
}

fn at_loads(lost: impl Fn(f64) -> u64) -> Record {
    let loads = [1000.0, 2000.0, 4000.0, 8000.0];
    let trials: Vec<Trial> = (1..)
        .zip(loads)
        .map(|(id, load)| trial(id, load, load as u64 * 10, lost(load)))
        .collect();
    record(trials)
}

#[test]
fn losses_that_depend_on_the_load_are_distinguished_from_those_that_do_not() {
    let judged = |record: &Record| {
        ["forward_constant_frames", "forward_constant_ratio"].map(|name| of_run(record, name))
    };
    let words = |frames: &str, ratio: &str| [Some(frames.to_owned()), Some(ratio.to_owned())];
    assert_eq!(
        judged(&at_loads(|_| 3)),
        words("yes", "no"),
        "a few, always"
    );
    let share = at_loads(|load| load as u64 / 100);
    assert_eq!(judged(&share), words("no", "yes"), "one in a thousand");
    let overload = at_loads(|load| (load as u64).saturating_sub(900) * 10);
    assert_eq!(judged(&overload), words("no", "no"));
    let one_bad = at_loads(|load| u64::from(load > 5000.0));
    assert_eq!(judged(&one_bad), [None, None], "one load tells nothing");
}

/// The rules that fire on a record, those that are only worth knowing in brackets.
fn fired(record: &Record) -> Vec<String> {
    let explained = explain(record, rules::embedded());
    let findings = explained.findings.iter();
    findings
        .map(|one| match one.informational {
            true => format!("[{}]", one.rule),
            false => one.rule.clone(),
        })
        .collect()
}

/// Its bound, with a device so busy.
fn bound(busy: [f64; 2], lost: u64) -> Record {
    let mut lossy = trial(2, 2000.0, 1000, lost);
    lossy.device = Some(device(busy));
    record(vec![trial(1, 1000.0, 1000, 0), lossy])
}

#[test]
fn each_cause_is_named_and_no_other() {
    assert_eq!(fired(&bound([0.2, 0.3], 10)), [""; 0], "nobody knows why");
    assert_eq!(fired(&bound([1.0, 0.1], 10)), ["D01"]);
    assert_eq!(fired(&bound([1.0, 0.98], 10)), ["D03"]);
    let mut one_flow = bound([1.0, 0.1], 10);
    one_flow.run.forward.as_mut().unwrap().flows = 1;
    assert_eq!(fired(&one_flow), ["D02"]);
    let mut testers = bound([1.0, 0.1], 10);
    testers.run.results[0].tester_limited = true;
    assert_eq!(fired(&testers), [""; 0], "not the device's rate");
    let mut lab = bound([1.0, 0.1], 10);
    lab.run.hosts[1].boot_id = lab.run.hosts[0].boot_id.clone();
    assert_eq!(fired(&lab), ["[D04]"]);
    assert_eq!(fired(&at_loads(|_| 3)), ["D19"]);
    assert_eq!(fired(&at_loads(|load| load as u64 / 100)), ["D20"]);
}

/// The device counted what it sent: whether the rest never arrived or arrived damaged, only the tester knows.
#[test]
fn frames_that_came_back_damaged_did_not_disappear() {
    let mut record = bound([0.2, 0.3], 40);
    let lossy = record.trials.last_mut().unwrap();
    let device = lossy.device.as_mut().unwrap();
    device.counters = [("eth0", "rx_packets"), ("eth1", "tx_packets")]
        .map(|(port, name)| counter("rtnl_link_stats64", Some(port), name, 1000))
        .into();
    assert_eq!(fired(&record), ["D14", "X22"]);
    let lossy = record.trials.last_mut().unwrap();
    lossy.directions[0].corrupt_frames = 40;
    assert_eq!(fired(&record), ["D21"]);
}

#[test]
fn where_the_device_was_not_asked_that_is_what_to_do_next() {
    let mut record = bound([1.0, 0.1], 10);
    let next = |record: &Record| explain(record, rules::embedded()).next_commands;
    assert_eq!(next(&record), [""; 0]);
    for trial in &mut record.trials {
        trial.device = None;
    }
    assert!(next(&record).concat().contains("--device ssh:"));
}
