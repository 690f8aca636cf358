// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `cost` concludes against control groups and perf-stat(1), in the same run.

use super::*;
use crate::perf_stat::{Attached, have_perf};

/// The time of the whole machine per packet, at a saturated and at a mostly idle machine: control groups add up the time of
/// every task in the load and in the idle interval. Interrupts that find a processor idle are of no task; /proc/stat has
/// them in its ticks of hard interrupts and softirqs, which bound what control groups lack.
#[test]
fn the_cost_of_the_machine_is_that_of_all_control_groups() {
    if cgroups_s().is_none() {
        return println!("skipped: no account of the root control group");
    }
    let _turn = Turn::alone();
    for rate in ["0", "20kpps"] {
        let log = Log::start();
        let flags = format!("cost --lab -4 --protocol udp --sizes 1400 -t 3 --rounds 1 -b {rate}");
        let (document, samples) = run(&format!("referee-{rate}"), &flags);
        let log = log.stop();
        let costs = document["costs"].as_array().unwrap().iter();
        let known = costs.filter(|cost| !cost["machine_ns_per_packet"].is_null());
        let known: Vec<_> = known.filter(|cost| cost["direction"] == "tx").collect();
        if known.is_empty() {
            println!("skipped: other programs use more than half of the machine");
        }
        for cost in known {
            let group = group_of(&document, cost);
            let ours = number(cost, "machine_ns_per_packet") * number(cost, "packets") / 1e9;
            let (theirs, slack) = without_background(&log, &samples, &group);
            agree(ours, theirs, slack, &format!("{group} at {rate}"));
        }
    }
}

/// What control groups and interrupts come to in a test, less the idle interval's share and the sampler; and what ticks
/// may differ by.
fn without_background(log: &Logged, samples: &[Value], group: &str) -> ([f64; 2], f64) {
    let load = ends_of(samples, "/proc/stat", "load", Some(group));
    let rest = ends_of(samples, "/proc/stat", "idle", None);
    let ((_, span_s), (_, rest_s)) = (busy_s(load), busy_s(rest));
    let share = span_s / rest_s;
    let sampler = ends_of(samples, "getrusage", "load", Some(group));
    let sampler_s = grown(sampler, "sampler_ns") / 1e9;
    let interrupts = |ends| (grown(ends, "cpu.irq") + grown(ends, "cpu.softirq")) / 100.0;
    let [load_least, load_most] = log.between(samples, load);
    let [rest_least, rest_most] = log.between(samples, rest);
    let least = load_least - (rest_most + interrupts(rest)) * share - sampler_s;
    let most = load_most + interrupts(load) - rest_least * share - sampler_s;
    ([least, most], TICKS_S * (1.0 + share))
}

/// A server's process, by perf-stat(1) and by what it reports of itself; the thread that receives is most of it.
/// A receiver that seldom sleeps: the kernel stops this event in each switch of tasks, about a microsecond (kernel/events/core.c,
/// `__perf_event_task_sched_out`), and counts that time for the thread.
#[test]
fn a_server_s_time_is_its_task_clock() {
    if let Err(why) = have_perf() {
        return println!("skipped: perf stat: {why}");
    }
    let _turn = Turn::alone();
    let port = free_port();
    let mut server = program()
        .args(["serve", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until_open(port);
    let perf = Attached::to(server.id());
    let flags = format!("udp 127.0.0.1 -p {port} -b 0 -l 1448 -t 3");
    let (document, samples) = run("task-clock", &flags);
    let theirs = perf.task_clock_s();
    server.kill().unwrap();
    server.wait().unwrap();
    let granted = document["tests"][0]["receive_buffer_bytes"]["granted"].as_u64();
    if granted < Some(1 << 20) {
        return println!(
            "skipped: perf stat: a receive buffer of {granted:?} bytes, so a switch per datagram"
        );
    }
    let (thread, process) = (threads_s(&document, "rx"), process_s(&samples, "remote"));
    println!("thread {thread:.3} s, process {process:.3} s, task-clock {theirs:.3} s");
    assert!(
        thread <= 1.02 * theirs + EDGES_S,
        "{thread} s of a thread, {theirs} s of all"
    );
    agree(process.max(thread), [theirs; 2], AROUND_S, "task-clock");
}

/// The group of a row's only test.
fn group_of(document: &Value, cost: &Value) -> String {
    let id = &cost["test_ids"][0];
    let mut tests = document["tests"].as_array().unwrap().iter();
    let test = tests.find(|test| test["id"] == *id).unwrap();
    test["group"].as_str().unwrap().to_owned()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name}: {value}"))
}

/// The first and the last reading of the local host in a phase.
fn ends_of<'s>(
    samples: &'s [Value],
    source: &str,
    phase: &str,
    group: Option<&str>,
) -> [&'s Value; 2] {
    let is_its = |sample: &&Value| {
        sample["host"] == "local"
            && sample["source"] == source
            && sample["phase"] == phase
            && group.is_none_or(|group| sample["group"] == group)
    };
    let mut its = samples.iter().filter(is_its);
    let first = its.next().unwrap();
    [first, its.next_back().unwrap()]
}

/// What a server uses for a test before its first and after its last reading of itself.
const AROUND_S: f64 = 0.1;
