// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cost` against other accounts of the same time: getrusage(2) of whole processes, iperf3's own, the whole machine's.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::accounting::Busy;
use crate::load::Load;
use crate::ports::{free_port, states};
use crate::turns::Turn;

/// The client of a flood, by our account and by the shell's (`time`: getrusage of the process). What it used before and after
/// the flood is that of the same command with almost no load.
#[test]
fn a_sender_s_threads_are_all_but_the_start_and_end_of_its_process() {
    let _turn = Turn::alone();
    for busy in [0, 2] {
        let _busy = Busy::start(busy);
        for flags in ["udp -b 0 -l 1400", "udp -b 0 -l 64 --mode plain", "tcp"] {
            let (idle, idle_s) = timed(&format!("{} -t 2", quiet(flags)));
            let (flood, flood_s) = timed(&format!("{flags} -t 2"));
            let ours = threads_s(&flood, "tx") - threads_s(&idle, "tx");
            let theirs = flood_s - idle_s;
            agree(ours, theirs, &format!("{flags}, {busy} busy loops"));
        }
    }
}

/// At a rate that takes no time.
fn quiet(flags: &str) -> String {
    match flags.split_once(' ') {
        Some((protocol, _)) => format!("{protocol} -b 100K -l 1400"),
        None => format!("{flags} -b 100K -l 1400"),
    }
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
        agree(ours, theirs, &format!("host_total, {busy} busy loops"));
        agree(
            ours,
            shell_s(&err),
            &format!("its process, {busy} busy loops"),
        );
    }
}

/// Two hosts that are one machine: what it did not idle is what both processes used, unless other programs run.
#[test]
fn a_quiet_machine_is_busy_with_both_processes_alone() {
    let _turn = Turn::alone();
    for _ in 0..ATTEMPTS {
        let before = Load::measure();
        let directory = format!("{}/cost-machine", env!("CARGO_TARGET_TMPDIR"));
        let _absent = std::fs::remove_dir_all(&directory);
        let document = linerate(&format!(
            "udp --lab -b 0 -l 1400 -t 3 --json -o {directory}"
        ));
        let after = Load::measure();
        if !before.is_idle() || !after.is_idle() {
            println!("the machine is busy ({before}, then {after})");
            continue;
        }
        let samples = std::fs::read_to_string(format!("{directory}/samples.jsonl")).unwrap();
        let samples: Vec<Value> = samples
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let processes: f64 = ["local", "remote"]
            .iter()
            .map(|host| process_s(&samples, host))
            .sum();
        return agree(machine_s(&samples), processes, &format!("{document}"));
    }
    println!("skipped: the machine is busy");
}

const ATTEMPTS: usize = 3;

fn agree(ours_s: f64, theirs_s: f64, what: &str) {
    let ratio = ours_s / theirs_s;
    println!("{what}: {ours_s:.3} s, {theirs_s:.3} s: {ratio:.4}");
    assert!(
        (0.98..=1.02).contains(&ratio),
        "{what}: {ours_s} s, not {theirs_s} s"
    );
}

/// CPU time of the threads of one end, from the only test.
fn threads_s(document: &Value, end: &str) -> f64 {
    let time = &document["tests"][0]["stream_cpu"][end];
    let ns = |part: &str| time[part].as_f64().unwrap_or_else(|| panic!("{document}"));
    (ns("user_ns") + ns("system_ns")) / 1e9
}

/// A client of our own server: its document, and its process's CPU time.
fn timed(flags: &str) -> (Value, f64) {
    let port = free_port();
    let port_text = port.to_string();
    let server = ["serve", "--quiet", "-p", &port_text];
    let _server = Server(program().args(server).spawn().unwrap());
    until_open(port);
    let (command, flags) = flags.split_once(' ').unwrap();
    let client = env!("CARGO_BIN_EXE_linerate");
    let timed = format!("{TIME} {client} {command} 127.0.0.1 -p {port} {flags} --json");
    let output = Command::new("bash")
        .args(["-c", &timed])
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    (document(&output.stdout), shell_s(&said))
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

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
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

/// What this machine did not idle meanwhile, without what it did not idle before.
fn machine_s(samples: &[Value]) -> f64 {
    let busy = |[first, last]: [&Value; 2]| {
        let span_s = (last["t_ns"].as_f64().unwrap() - first["t_ns"].as_f64().unwrap()) / 1e9;
        let cpus = first["counters"].as_object().unwrap().keys();
        let cpus = cpus.filter(|name| name.ends_with(".idle")).count() - 1;
        let idle = ["cpu.idle", "cpu.iowait", "cpu.steal"];
        let idle_s: f64 = idle
            .iter()
            .map(|name| grown([first, last], name) / 100.0)
            .sum();
        (span_s * cpus as f64 - idle_s, span_s)
    };
    let at_rest = |sample: &&Value| {
        sample["host"] == "local" && sample["source"] == "/proc/stat" && sample["phase"] == "idle"
    };
    let rest: Vec<&Value> = samples.iter().filter(at_rest).collect();
    let (rest_s, rest_span_s) = busy([rest[0], rest[1]]);
    let (load_s, load_span_s) = busy(ends(samples, "local", "/proc/stat"));
    load_s - rest_s * load_span_s / rest_span_s
}
