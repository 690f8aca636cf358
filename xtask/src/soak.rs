// SPDX-License-Identifier: MIT OR Apache-2.0
//! `soak [--rounds N] [--binary PATH] [LINE...]`: healthy labs, again and again, none of which may have a
//! finding. A finding that other work on this machine explains is distinguished by how much of it there was:
//! the time that the hypervisor took, and that processes used which are not ours. `soak --server`: see [`server`].

mod server;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::bench::{Options, binary};
use crate::process;

/// Runs every line so often, and tells each that was not healthy. Whether all were.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if let Some((&"--server", rest)) = words.split_first() {
        return of_a_server(rest);
    }
    let mut options = Options::parse(words)?;
    if !words.contains(&"--rounds") {
        options.rounds = ROUNDS;
    }
    let program = binary(&options)?;
    let mut healthy = true;
    for line in LINES.iter().filter(|line| options.wants(line)) {
        healthy &= soak(&program, line, options.rounds)?;
    }
    Ok(healthy)
}

/// `[--minutes N] [--binary PATH]`.
fn of_a_server(words: &[&str]) -> Outcome {
    let (minutes, rest) = match words {
        ["--minutes", number, rest @ ..] => (number.parse()?, rest),
        rest => (MINUTES, rest),
    };
    server::run(&binary(&Options::parse(rest)?)?, minutes)
}

fn soak(program: &PathBuf, line: &str, rounds: u32) -> Result<bool, String> {
    println!("{line} --lab, {rounds} times");
    let mut named = 0;
    let (mut others, mut stolen) = (0.0_f64, 0.0_f64);
    for round in 1..=rounds {
        let before = Ticks::now();
        let causes = causes(program, line)?;
        let load = Ticks::now().since(&before);
        others += load.others;
        stolen += load.stolen;
        if !causes.is_empty() {
            named += 1;
            println!("  {round}: {} ({load})", causes.join(", "));
        }
    }
    let mean = Shares {
        others: others / f64::from(rounds),
        stolen: stolen / f64::from(rounds),
    };
    println!("  {named} of {rounds} with a finding above informational; on average {mean}");
    Ok(named == 0)
}

/// What one run named, each with the finding's rule.
fn causes(program: &PathBuf, line: &str) -> Result<Vec<String>, String> {
    let state = std::env::temp_dir().join(format!("linerate-soak-{}", std::process::id()));
    let mut command = Command::new(program);
    command
        .args(line.split_whitespace())
        .args(["--lab", "--json", "-q"])
        .env("XDG_STATE_HOME", &state);
    let said = process::run(&mut command, LIMIT)?;
    let _gone = fs::remove_dir_all(&state);
    let document: Value = serde_json::from_str(&said.stdout)
        .map_err(|why| format!("{line}: {why}: {}", process::last_line(&said.stderr)))?;
    let findings = document["findings"].as_array().cloned().unwrap_or_default();
    let above = findings.iter().filter(|one| one["informational"] != true);
    let name = |one: &Value| {
        let text = |key: &str| one[key].as_str().unwrap_or("?").to_owned();
        format!("{} {}", text("rule"), text("cause"))
    };
    Ok(above.map(name).collect())
}

/// Shares of all processors.
struct Shares {
    others: f64,
    stolen: f64,
}

impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [others, stolen] = [self.others, self.stolen].map(|share| share * 100.0);
        write!(f, "other processes {others:.0} %, stolen {stolen:.0} %")
    }
}

/// `/proc/stat`, and what our own children that ended have used, all in ticks.
#[derive(Default)]
struct Ticks {
    all: f64,
    in_processes: f64,
    stolen: f64,
    ours: f64,
}

impl Ticks {
    fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let numbers = |line: &str| -> Vec<f64> {
            let words = line.split_whitespace();
            words.filter_map(|word| word.parse().ok()).collect()
        };
        let stat = read("/proc/stat");
        let cpu = numbers(stat.lines().next().unwrap_or_default());
        let at = |list: &[f64], index: usize| list.get(index).copied().unwrap_or(0.0);
        // Behind the name, which may hold anything: cutime and cstime are 14th and 15th from there.
        let own = read("/proc/self/stat");
        let own = own.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = own.split_whitespace().collect();
        let field = |index: usize| fields.get(index).and_then(|word| word.parse().ok());
        Self {
            all: cpu.iter().take(8).sum(),
            in_processes: at(&cpu, 0) + at(&cpu, 1) + at(&cpu, 2),
            stolen: at(&cpu, 7),
            ours: field(13).unwrap_or(0.0) + field(14).unwrap_or(0.0),
        }
    }

    fn since(&self, before: &Self) -> Shares {
        let all = (self.all - before.all).max(1.0);
        let ours = self.ours - before.ours;
        let others = self.in_processes - before.in_processes - ours;
        Shares {
            others: (others / all).max(0.0),
            stolen: (self.stolen - before.stolen) / all,
        }
    }
}

/// What a healthy lab is asked.
const LINES: [&str; 3] = ["check --quick", "udp -b 100M -t 2", "tcp -t 2"];
const ROUNDS: u32 = 20;
const MINUTES: u64 = 30;
/// Much longer than the longest takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(180);
