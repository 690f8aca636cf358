// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `cost` concludes against control groups and perf-stat(1), in the same run.

use super::*;
use crate::perf_stat::{Attached, have_perf};

/// The time of the whole machine per packet, saturated and paced, and paced next to a program that takes a part of it. Two
/// referees: what the kernel's timers say that no processor idled, in nanoseconds; and the control groups, which add up the time
/// of every task. An interrupt that finds a processor idle is of no task: a paced load wakes processors, and only the first
/// referee has that.
#[test]
fn the_cost_of_the_machine_is_what_the_kernel_s_accounts_say() {
    if cgroups_s().is_none() || not_idle_s().is_none() {
        return println!("skipped: no account of the root control group, or of idle processors");
    }
    let _turn = Turn::alone();
    for (rate, time, is_busy) in [("0", 3, false), ("40kpps", 8, false), ("40kpps", 8, true)] {
        let _other = is_busy.then(Part::start);
        let logs = [cgroups_s, not_idle_s].map(Log::of);
        let flags =
            format!("cost --lab -4 --protocol udp --sizes 1400 -t {time} --rounds 1 -b {rate}");
        let (document, samples) = run(&format!("referee-{rate}-{is_busy}"), &flags);
        let logs = logs.map(Log::stop);
        let costs = document["costs"].as_array().unwrap().iter();
        let known = costs.filter(|cost| !cost["machine_ns_per_packet"].is_null());
        let known: Vec<_> = known.filter(|cost| cost["direction"] == "tx").collect();
        if known.is_empty() {
            println!("skipped: other programs use more than half of the machine");
        }
        for cost in known {
            let group = group_of(&document, cost);
            let machine_s = number(cost, "machine_ns_per_packet") * number(cost, "packets") / 1e9;
            let what = format!("{group} at {rate}, next to another: {is_busy}");
            assert_parts(&document, cost, machine_s);
            let interval = Interval::of(&samples, &group);
            let [tasks, not_idle] = logs.each_ref().map(|log| interval.net(log, &samples));
            let [stolen_s, before_s] = interval.stolen_s;
            if stolen_s + before_s > 0.01 * machine_s {
                println!(
                    "skipped in part: a hypervisor took {stolen_s} s, and {before_s} s before"
                );
                continue;
            }
            let not_idle = not_idle.less(stolen_s - before_s);
            let tasks_ratio = tasks.judge(machine_s, &format!("{what}, tasks"));
            within(not_idle.judge(machine_s, &format!("{what}, not idle")));
            // What tasks used is a part of it; of a saturated machine, all.
            if rate == "0" {
                within(tasks_ratio);
            }
            interval.judge_processes(&tasks, machine_s, &what);
        }
    }
}

/// At most 2 %, where it is known.
fn within(ratio: Option<f64>) {
    assert!(ratio.is_none_or(|ratio| ratio.abs() <= 0.02), "{ratio:?}");
}

/// The threads of both ends and what the ends share are the whole machine's time.
fn assert_parts(document: &Value, cost: &Value, machine_s: f64) {
    let costs = document["costs"].as_array().unwrap().iter();
    let both = costs.filter(|one| one["test_ids"] == cost["test_ids"]);
    let threads = both.map(|one| number(one, "stream_ns_per_packet") * number(one, "packets"));
    let threads_s = threads.sum::<f64>() / 1e9;
    let shared_s = number(cost, "shared_ns_per_packet") * number(cost, "packets") / 1e9;
    println!("threads {threads_s:.3} s, shared {shared_s:.3} s of {machine_s:.3} s");
    let sum = threads_s + shared_s;
    assert!((sum / machine_s - 1.0).abs() < 1e-9, "{sum} of {machine_s}");
}

/// The load and the idle interval of a test.
struct Interval<'s> {
    load: [&'s Value; 2],
    rest: [&'s Value; 2],
    /// How much longer the load is.
    share: f64,
    sampler_s: f64,
    /// What the hypervisor took in the load, and in the idle interval at the same length: neither idle nor used by a program,
    /// but in the time of the task that it stopped.
    stolen_s: [f64; 2],
    /// Both processes, without the sampler.
    processes_s: f64,
}

impl<'s> Interval<'s> {
    fn of(samples: &'s [Value], group: &str) -> Self {
        let load = ends_of(samples, ["local", "/proc/stat", "load"], Some(group));
        let rest = ends_of(samples, ["local", "/proc/stat", "idle"], None);
        let ((_, span_s), (_, rest_s)) = (busy_s(load), busy_s(rest));
        let share = span_s / rest_s;
        let [local, remote] = ["local", "remote"]
            .map(|host| ends_of(samples, [host, "getrusage", "load"], Some(group)));
        let process = |ends| grown(ends, "process.user_ns") + grown(ends, "process.system_ns");
        let sampler_s = grown(local, "sampler_ns") / 1e9;
        let stolen = |ends| grown(ends, "cpu.steal") / 100.0;
        Self {
            load,
            rest,
            share,
            sampler_s,
            stolen_s: [stolen(load), stolen(rest) * share],
            processes_s: (process(local) + process(remote)) / 1e9 - sampler_s,
        }
    }

    /// What an account comes to in the load, less the idle interval's share and the sampler.
    fn net(&self, log: &Logged, samples: &[Value]) -> Referee {
        let [load_least, load_most] = log.between(samples, self.load);
        let [rest_least, rest_most] = log.between(samples, self.rest);
        let least = load_least - rest_most * self.share - self.sampler_s;
        let most = load_most - rest_least * self.share - self.sampler_s;
        Referee {
            middle_s: f64::midpoint(least, most),
            resolution_s: (most - least) / 2.0 + TICK_S * (1.0 + self.share),
        }
    }

    /// The machine's time is that of both processes, where control groups show that nothing else used more or less than before.
    fn judge_processes(&self, tasks: &Referee, machine_s: f64, what: &str) {
        let processes = Referee {
            middle_s: self.processes_s,
            resolution_s: tasks.resolution_s,
        };
        let ratio = processes.judge(machine_s, &format!("{what}, both processes"));
        match (self.processes_s / tasks.middle_s - 1.0).abs() < 0.01 {
            // Interrupts of idle processors are of no process.
            true => assert!(ratio.is_none_or(|ratio| ratio >= -0.02), "{ratio:?}"),
            false => println!("skipped in part: other programs had more, or less, than before"),
        }
    }
}

/// An account of the same time.
struct Referee {
    middle_s: f64,
    /// By how much it may be wrong, and a tick of /proc/stat in the load and in the idle interval.
    resolution_s: f64,
}

impl Referee {
    fn less(self, stolen_s: f64) -> Self {
        Self {
            middle_s: self.middle_s - stolen_s,
            ..self
        }
    }

    /// By which share ours is above it, beyond what is not resolved; `None` if that is 1 % or more: other programs delayed its readings.
    fn judge(&self, ours_s: f64, what: &str) -> Option<f64> {
        let Self {
            middle_s,
            resolution_s,
        } = self;
        let (ratio, resolution) = (ours_s / middle_s - 1.0, resolution_s / middle_s);
        println!(
            "{what}: {ours_s:.3} s, {middle_s:.3} s: {:+.2} %, resolution {:.2} %",
            100.0 * ratio,
            100.0 * resolution
        );
        if resolution >= 0.01 {
            println!("skipped in part: the resolution is no better");
            return None;
        }
        Some(ratio.signum() * (ratio.abs() - resolution).max(0.0))
    }
}

/// A program that has a part of each processor.
struct Part {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Part {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = |_| {
            let its = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !its.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    while begun.elapsed() < Duration::from_millis(3) {}
                    std::thread::sleep(Duration::from_millis(9));
                }
            })
        };
        let count = std::thread::available_parallelism().map_or(1, Into::into);
        let threads = (0..count).map(thread).collect();
        Self { stop, threads }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

/// A tick of /proc/stat.
const TICK_S: f64 = 0.01;

/// A server's process, by perf-stat(1) and by what it reports of itself; the thread that receives is most of it.
/// A receiver that seldom sleeps: the kernel stops this event in each switch of tasks, about a microsecond (kernel/events/core.c,
/// `__perf_event_task_sched_out`), and counts that time for the thread. The event runs on while an interrupt or the hypervisor has
/// the processor, whose time is none of the process.
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
    let (perf, before_s) = (Attached::to(server.id()), taken_s());
    let flags = format!("udp 127.0.0.1 -p {port} -b 0 -l 1448 -t 3");
    let (document, samples) = run("task-clock", &flags);
    let (theirs, taken_s) = (perf.task_clock_s(), taken_s() - before_s);
    server.kill().unwrap();
    server.wait().unwrap();
    let granted = document["tests"][0]["receive_buffer_bytes"]["granted"].as_u64();
    if granted < Some(1 << 20) {
        return println!(
            "skipped: perf stat: a receive buffer of {granted:?} bytes, so a switch per datagram"
        );
    }
    let (thread, process) = (threads_s(&document, "rx"), process_s(&samples, "remote"));
    println!(
        "thread {thread:.3} s, process {process:.3} s, task-clock {theirs:.3} s, taken from all {taken_s:.3} s"
    );
    assert!(
        thread <= 1.02 * theirs + EDGES_S,
        "{thread} s of a thread, {theirs} s of all"
    );
    let least = theirs - taken_s;
    agree(process.max(thread), [least, theirs], AROUND_S, "task-clock");
}

/// What interrupts, softirqs and the hypervisor took of all processors since the start: fields 6 to 8 of /proc/stat.
fn taken_s() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let fields = text.lines().next().unwrap().split_whitespace();
    let ticks: f64 = fields
        .skip(6)
        .take(3)
        .map(|field| field.parse::<f64>().unwrap())
        .sum();
    ticks * TICK_S
}

/// The group of a row's only test.
pub(super) fn group_of(document: &Value, cost: &Value) -> String {
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

/// The first and the last reading of a host's source in a phase.
fn ends_of<'s>(
    samples: &'s [Value],
    [host, source, phase]: [&str; 3],
    group: Option<&str>,
) -> [&'s Value; 2] {
    let is_its = |sample: &&Value| {
        sample["host"] == host
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
