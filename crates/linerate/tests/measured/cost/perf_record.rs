// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where `cost` says the time goes, against perf-record(1) of the same interval: samples of another program, named by
//! another reader of the kernel's symbols.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use linerate_knowledge::functions;
use linerate_method::bound::loss_interval95;

use super::*;

/// Each family has the share that perf finds. Intervals are of 99.9 % for each of both, because a dozen families are compared.
#[test]
fn the_families_have_the_shares_that_perf_record_finds() {
    if let Err(why) = can_record() {
        return println!("skipped: perf record: {why}");
    }
    let _turn = Turn::alone();
    let directory = place("perf-record");
    let data = place("perf-record.data");
    let flags = "cost --lab -4 --protocol udp --sizes 1400 -t 3 --rounds 1 -b 0 --json -o";
    let tasks = Tasks::watch();
    let output = record(&data)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_linerate"))
        .args(flags.split(' '))
        .arg(&directory)
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let tasks = tasks.known();
    let document = document(&output.stdout);
    let profile = &document["cost_profiles"][0];
    if !profile["missing"].is_null() {
        return println!("skipped: processors cannot be sampled: {profile}");
    }
    let group = referees::group_of(&document, profile);
    let window_ns = window_ns(&directory, &group);
    let theirs = Seen::of(&data, window_ns, &tasks, profile);
    theirs.agree_with(profile);
}

fn place(name: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cost-{name}"));
    let _absent = std::fs::remove_dir_all(&place);
    place
}

/// All processors, at our rate, by our clock.
fn record(data: &Path) -> Command {
    let mut perf = Command::new("perf");
    perf.args(["record", "-a", "-e", "cpu-clock", "-F", "997", "-g"]);
    perf.args(["--kernel-callchains", "-k", "CLOCK_MONOTONIC", "-o"]);
    perf.arg(data);
    perf
}

fn can_record() -> Result<(), String> {
    let output = record(Path::new("/dev/null")).args(["--", "true"]).output();
    let output = output.map_err(|error| format!("no perf in PATH: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// When the sampled test was under load.
fn window_ns(directory: &Path, group: &str) -> [f64; 2] {
    let text = std::fs::read_to_string(directory.join("samples.jsonl")).unwrap();
    let all = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let all: Vec<Value> = all.collect();
    let is_its = |sample: &&Value| {
        let is_load = sample["host"] == "local" && sample["phase"] == "load";
        is_load && sample["group"] == group && sample["source"] == "/proc/stat"
    };
    let its = all.iter().filter(is_its);
    let times: Vec<f64> = its.map(|one| one["t_ns"].as_f64().unwrap()).collect();
    let [first, .., last] = times[..] else {
        panic!("no samples of {group}: {text}");
    };
    [first, last]
}

/// Which processes are our program, and which are the kernel's threads, while it is watched.
struct Tasks {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<BTreeSet<u32>>,
}

impl Tasks {
    fn watch() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut all = BTreeSet::new();
            while !its.load(Ordering::Relaxed) {
                let each = std::fs::read_dir("/proc").unwrap().flatten();
                let numbers = each.filter_map(|one| one.file_name().to_str()?.parse().ok());
                all.extend(numbers.filter(|pid| has_part(*pid)));
                std::thread::sleep(Duration::from_millis(50));
            }
            all
        });
        Self { stop, thread }
    }

    fn known(self) -> BTreeSet<u32> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Of our program, or a thread of the kernel, whose parent is kthreadd.
fn has_part(pid: u32) -> bool {
    let directory = format!("/proc/{pid}");
    match std::fs::read_link(format!("{directory}/exe")) {
        Ok(path) => path == Path::new(env!("CARGO_BIN_EXE_linerate")),
        Err(_) => {
            let stat = std::fs::read_to_string(format!("{directory}/stat")).unwrap_or_default();
            let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            after.split_whitespace().nth(1) == Some("2")
        }
    }
}

/// Samples of perf by family.
#[derive(Default)]
struct Seen {
    families: BTreeMap<String, u64>,
    samples: u64,
}

impl Seen {
    fn of(data: &Path, window_ns: [f64; 2], tasks: &BTreeSet<u32>, profile: &Value) -> Self {
        let mut script = Command::new("perf");
        script.args(["script", "-F", "pid,tid,cpu,time,ip,sym,dso", "-i"]);
        let output = script.arg(data).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let cpus: Vec<u64> = serde_json::from_value(profile["processors"].clone()).unwrap();
        let mut seen = Self::default();
        for sample in text.split("\n\n").filter_map(Sampled::read) {
            let is_its = (window_ns[0]..window_ns[1]).contains(&sample.t_ns);
            let family = sample.family(tasks);
            if let Some(family) = family.filter(|_| is_its && cpus.contains(&sample.cpu)) {
                *seen.families.entry(family).or_default() += 1;
                seen.samples += 1;
            }
        }
        seen
    }

    fn agree_with(&self, profile: &Value) {
        let ours: BTreeMap<&str, u64> = profile["families"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                (
                    one["name"].as_str().unwrap(),
                    one["samples"].as_u64().unwrap(),
                )
            })
            .collect();
        let all = profile["samples"].as_u64().unwrap();
        println!("{all} samples, {} of perf", self.samples);
        assert!(all > 1000 && self.samples > 1000, "{all}, {}", self.samples);
        let names = ours
            .keys()
            .copied()
            .chain(self.families.keys().map(String::as_str));
        let names: BTreeSet<&str> = names.collect();
        let mut wrong = Vec::new();
        for name in names {
            let own = Share::of(ours.get(name), all);
            let theirs = Share::of(self.families.get(name), self.samples);
            let line = format!("{name}: {:.4}, {:.4}", own.ratio, theirs.ratio);
            println!("{line}");
            if (own.ratio - theirs.ratio).abs() > WIDER * (own.half + theirs.half) {
                wrong.push(line);
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

struct Share {
    ratio: f64,
    /// Half of the interval of 95 %.
    half: f64,
}

impl Share {
    fn of(count: Option<&u64>, all: u64) -> Self {
        let count = count.copied().unwrap_or(0);
        let (least, most) = loss_interval95(count, all).unwrap();
        Self {
            ratio: count as f64 / all as f64,
            half: (most - least) / 2.0,
        }
    }
}

/// A sample of perf-script(1).
struct Sampled {
    pid: u32,
    cpu: u64,
    t_ns: f64,
    /// Functions and what has them: where it was, and what called it. Empty in user mode.
    chain: Vec<(String, String)>,
}

impl Sampled {
    /// ` 2041/2150  [000]  1493.808002: `, then a line for each function: ` ffffffff822018b1 udp_sendmsg ([kernel.kallsyms])`.
    fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut words = lines.next()?.split_whitespace();
        let (pid, _) = words.next()?.split_once('/')?;
        let cpu = words.next()?.trim_matches(['[', ']']).parse().ok()?;
        let seconds: f64 = words.next()?.trim_end_matches(':').parse().ok()?;
        let function = |line: &str| {
            let mut words = line.split_whitespace().skip(1);
            let name = words.next()?.to_owned();
            Some((name, words.last()?.trim_matches(['(', ')']).to_owned()))
        };
        Some(Self {
            pid: pid.parse().ok()?,
            cpu,
            t_ns: seconds * 1e9,
            chain: lines.filter_map(function).collect(),
        })
    }

    /// `None`: idle, or of another program.
    fn family(&self, tasks: &BTreeSet<u32>) -> Option<String> {
        let names = self.chain.iter().map(|(name, _)| name.as_str());
        // The end of an interrupt is of the program that it returns to.
        let mut own = names.take_while(|name| !name.contains("irqentry_exit"));
        let is_interrupt = own.any(|name| functions().context(name).is_some());
        if !is_interrupt && !tasks.contains(&self.pid) {
            return None;
        }
        let known = match self.chain.first() {
            None => Some("user"),
            Some((_, file)) if file == "[veth]" => Some("driver"),
            Some((name, _)) => functions().family(name).map(|family| &*family.id),
        };
        Some(known.unwrap_or("other").to_owned())
    }
}

/// From an interval of 95 % to one of 99.9 %, of the normal distribution: 3.29 / 1.96.
const WIDER: f64 = 1.68;
