// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cost` against other accounts of the same time: control groups, getrusage(2) of whole processes, iperf3's own.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::accounting::Busy;
use crate::ports::{free_port, states};
use crate::turns::Turn;

mod perf_record;
mod referees;

/// The whole machine, by our account (what it did not idle) and by the kernel's control groups, which add up the time of every
/// task. Both of the same interval, whatever else the machine does. The load leaves no processor idle for long: an interrupt
/// that finds it idle takes time of no task, which only we count.
#[test]
fn the_machine_s_busy_time_is_that_of_all_control_groups() {
    let Some(_) = cgroups_s() else {
        return println!("skipped: no account of the root control group");
    };
    let _turn = Turn::alone();
    for busy in [0, 2] {
        let _busy = Busy::start(busy);
        let log = Log::start();
        let samples = lab("machine", "udp --lab -b 0 -l 1400 -t 3");
        let log = log.stop();
        for host in ["local", "remote"] {
            let ends = ends(&samples, host, "/proc/stat");
            let (ours, _) = busy_s(ends);
            let theirs = log.between(&samples, ends);
            agree(ours, theirs, TICKS_S, &format!("{host}, {busy} busy loops"));
        }
    }
}

/// CPU time of all tasks, in seconds: cgroup v1, or v2.
fn cgroups_s() -> Option<f64> {
    let read = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let first = || Some(read("cpuacct/cpuacct.usage")?.trim().parse::<f64>().ok()? / 1e9);
    let second = || {
        let text = read("cpu.stat")?;
        let usage = text
            .lines()
            .find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(usage.parse::<f64>().ok()? / 1e6)
    };
    first().or_else(second)
}

/// What all processors did not idle, in seconds: as in /proc/stat, but in nanoseconds instead of ticks
/// (kernel/time/timer_list.c). A processor that entered idle after it last left it is idle now.
fn not_idle_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/timer_list").ok()?;
    let (_, rest) = text.split_once("now at ")?;
    let now: f64 = rest.split_whitespace().next()?.parse().ok()?;
    let mut not_idle_ns = 0.0;
    for cpu in rest.split("\ncpu: ").skip(1) {
        let of = |name: &str| -> Option<f64> {
            let (_, value) = cpu.split_once(name)?.1.split_once(':')?;
            value.split_whitespace().next()?.parse().ok()
        };
        let [entry, exit] = [of(".idle_entrytime")?, of(".idle_exittime")?];
        let idle = of(".idle_sleeptime")? + of(".iowait_sleeptime")?;
        let present = if entry > exit { now - entry } else { 0.0 };
        not_idle_ns += now - idle - present.max(0.0);
    }
    Some(not_idle_ns / 1e9)
}

/// Readings of an account, every few milliseconds: wall clock in nanoseconds, CPU time in seconds.
struct Log {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<(f64, f64)>>,
}

struct Logged(Vec<(f64, f64)>);

impl Log {
    fn start() -> Self {
        Self::of(cgroups_s)
    }

    fn of(read: fn() -> Option<f64>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut all = Vec::new();
            while !its.load(Ordering::Relaxed) {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                all.push((now.unwrap().as_nanos() as f64, read().unwrap()));
                std::thread::sleep(Duration::from_millis(5));
            }
            all
        });
        Self { stop, thread }
    }

    fn stop(self) -> Logged {
        self.stop.store(true, Ordering::Relaxed);
        Logged(self.thread.join().unwrap())
    }
}

impl Logged {
    /// The least and the most that was used between two samples. Each was read after its own time and before that of the
    /// host's next sample, and the log was read now and then: a busy machine delays both.
    fn between(&self, samples: &[Value], ends: [&Value; 2]) -> [f64; 2] {
        let [first, last] = ends.map(|sample| self.around(sample, after(samples, sample)));
        [last[0] - first[1], last[1] - first[0]]
    }

    /// The readings before a sample and after the next.
    fn around(&self, sample: &Value, next: &Value) -> [f64; 2] {
        let position = |sample: &Value| {
            let wall_ns = sample["wall_ns"].as_f64().unwrap();
            self.0.partition_point(|(at, _)| *at < wall_ns)
        };
        [self.0[position(sample) - 1].1, self.0[position(next)].1]
    }
}

/// The next sample of the same host.
fn after<'s>(samples: &'s [Value], sample: &Value) -> &'s Value {
    let mut rest = samples.iter().skip_while(|one| *one != sample).skip(1);
    let next = rest.find(|one| one["host"] == sample["host"]);
    next.unwrap_or_else(|| panic!("nothing after {sample}"))
}

/// A stock sender: its JSON has `cpu_utilization_percent.host_total`, the shell its process's time, and our account what it
/// reported.
#[test]
fn a_stock_sender_s_time_is_what_it_says() {
    if Command::new("iperf3").arg("--version").output().is_err() {
        return println!("skipped: no iperf3 in PATH");
    }
    let _turn = Turn::alone();
    for busy in [0, 2] {
        let _busy = Busy::start(busy);
        let port = free_port();
        let timed = format!("{TIME} iperf3 -s -1 -J -p {port}");
        let mut server = Command::new("bash")
            .args(["-c", &timed])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until_open(port);
        let flags = format!("tcp 127.0.0.1 -p {port} -R -t 3 --json");
        let document = linerate(&flags);
        let (mut out, mut err) = (String::new(), String::new());
        server
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        server
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        server.wait().unwrap();
        let own: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        let percent = &own["end"]["cpu_utilization_percent"]["host_total"];
        let test = &document["tests"][0];
        let duration_s = test["duration_s"].as_f64().unwrap();
        let ours = threads_s(&document, "tx");
        let theirs = percent.as_f64().unwrap() / 100.0 * duration_s;
        agree(
            ours,
            [theirs; 2],
            EDGES_S,
            &format!("host_total, {busy} busy loops"),
        );
        agree(
            ours,
            [shell_s(&err); 2],
            EDGES_S,
            &format!("its process, {busy} busy loops"),
        );
    }
}

/// Two hosts that are one machine: what it did not idle is at least what both processes used, and no more where the control
/// groups show that nothing else ran.
#[test]
fn a_quiet_machine_is_busy_with_both_processes_alone() {
    let _turn = Turn::alone();
    for _ in 0..ATTEMPTS {
        let log = cgroups_s().map(|_| Log::start());
        let samples = lab("processes", "udp --lab -b 0 -l 1400 -t 3");
        let ends = ends(&samples, "local", "/proc/stat");
        let (machine, _) = busy_s(ends);
        let processes = process_s(&samples, "local") + process_s(&samples, "remote");
        println!("not idle {machine:.3} s, both processes {processes:.3} s");
        assert!(
            processes <= 1.02 * machine + TICKS_S,
            "both processes: {processes} s of {machine} s"
        );
        let all = log.map(|log| log.stop().between(&samples, ends));
        if all.is_some_and(|[_, most]| most <= 1.01 * processes) {
            return agree(machine, [processes; 2], TICKS_S, "both processes");
        }
    }
    println!("skipped in part: other programs run");
}

const ATTEMPTS: usize = 3;
/// /proc/stat has ticks of 10 ms, at both ends of an interval.
const TICKS_S: f64 = 0.03;
/// What iperf3 uses before and after the time that it measures.
const EDGES_S: f64 = 0.01;

/// Two accounts of one time differ by 2 % at most, and by `slack_s`; theirs is known to lie in an interval.
fn agree(ours_s: f64, theirs_s: [f64; 2], slack_s: f64, what: &str) {
    println!("{what}: {ours_s:.3} s, {theirs_s:.3?} s");
    let [least, most] = theirs_s;
    assert!(
        ours_s >= 0.98 * least - slack_s && ours_s <= 1.02 * most + slack_s,
        "{what}: {ours_s} s, not {theirs_s:?} s"
    );
}

/// The samples of a lab.
fn lab(name: &str, flags: &str) -> Vec<Value> {
    run(name, flags).1
}

/// The document and the samples of a run.
fn run(name: &str, flags: &str) -> (Value, Vec<Value>) {
    let directory = format!("{}/cost-{name}", env!("CARGO_TARGET_TMPDIR"));
    let _absent = std::fs::remove_dir_all(&directory);
    let document = linerate(&format!("{flags} --json -o {directory}"));
    let text = std::fs::read_to_string(format!("{directory}/samples.jsonl")).unwrap();
    let line = |line: &str| serde_json::from_str(line).unwrap();
    (document, text.lines().map(line).collect())
}

/// CPU time of the threads of one end, from the only test.
fn threads_s(document: &Value, end: &str) -> f64 {
    let time = &document["tests"][0]["stream_cpu"][end];
    let ns = |part: &str| time[part].as_f64().unwrap_or_else(|| panic!("{document}"));
    (ns("user_ns") + ns("system_ns")) / 1e9
}

/// Of bash(1): CPU time of the process, in seconds.
const TIME: &str = "TIMEFORMAT='cpu %3U %3S'; time";

fn shell_s(said: &str) -> f64 {
    let times = said.lines().find_map(|line| line.strip_prefix("cpu "));
    let times = times.unwrap_or_else(|| panic!("{said}"));
    let seconds = times.split(' ').map(|word| word.parse::<f64>().unwrap());
    seconds.sum()
}

fn linerate(flags: &str) -> Value {
    let output = program().args(flags.split(' ')).output().unwrap();
    document(&output.stdout)
}

fn document(stdout: &[u8]) -> Value {
    let document: Value = serde_json::from_slice(stdout).unwrap();
    assert_eq!(document["error"], Value::Null, "{document}");
    document
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

fn until_open(port: u16) {
    let deadline = Instant::now() + Duration::from_secs(40);
    let listens = |table| states(table, port).iter().any(|state| state == "0A");
    while !["tcp", "tcp6"].into_iter().any(listens) {
        assert!(Instant::now() < deadline, "port {port} does not open");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The first and the last reading of a source during the load.
fn ends<'s>(samples: &'s [Value], host: &str, source: &str) -> [&'s Value; 2] {
    let is_its = |sample: &&Value| {
        sample["host"] == host && sample["source"] == source && sample["phase"] == "load"
    };
    let mut its = samples.iter().filter(is_its);
    let first = its.next().unwrap();
    [first, its.next_back().unwrap()]
}

fn grown(ends: [&Value; 2], name: &str) -> f64 {
    let [first, last] = ends.map(|sample| sample["counters"][name].as_f64().unwrap());
    last - first
}

/// CPU time of a host's process, from its own readings.
fn process_s(samples: &[Value], host: &str) -> f64 {
    let ends = ends(samples, host, "getrusage");
    (grown(ends, "process.user_ns") + grown(ends, "process.system_ns")) / 1e9
}

/// What this machine did not idle between two readings, and the time between them.
fn busy_s([first, last]: [&Value; 2]) -> (f64, f64) {
    let span_s = (last["t_ns"].as_f64().unwrap() - first["t_ns"].as_f64().unwrap()) / 1e9;
    let names = first["counters"].as_object().unwrap().keys();
    let cpus = names.filter(|name| name.ends_with(".idle")).count() - 1;
    let idle = ["cpu.idle", "cpu.iowait", "cpu.steal"];
    let of = |name: &&str| grown([first, last], name) / 100.0;
    let idle_s: f64 = idle.iter().map(of).sum();
    (span_s * cpus as f64 - idle_s, span_s)
}
