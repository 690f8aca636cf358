// SPDX-License-Identifier: MIT OR Apache-2.0
//! What it costs to read the kernel's counters once a second, at both ends of a test: the processor time of the
//! thread that reads, CPU accounts included, and of the whole process, which also writes the samples down or sends
//! them, converses, probes the latency and moves the datagrams.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::contender::Program;
use super::meter::{self, Pair};
use super::options::Options;
use super::table::print_aligned;
use super::testbed::{SERVER_ADDRESS, Testbed};
use crate::process::Server;

/// A row: its name, and the load while both ends are sampled.
struct Sampled {
    row: &'static str,
    bits_per_second: &'static str,
}

/// Next to nothing, and the 18,000 datagrams a second of a paced test such as `cost` runs.
const ROWS: [Sampled; 2] = [
    Sampled {
        row: "sampling",
        bits_per_second: "1K",
    },
    Sampled {
        row: "accounting",
        bits_per_second: "9216K",
    },
];

/// Their names.
pub(crate) const NAMES: [&str; 2] = [ROWS[0].row, ROWS[1].row];

/// Those that are wanted.
pub(crate) fn run(testbed: &Testbed, ours: &Program, options: &Options) -> Vec<Value> {
    let seconds = options.seconds.unwrap_or(20);
    let wanted = ROWS.iter().filter(|sampled| options.wants(sampled.row));
    wanted
        .map(|sampled| sampled.report(testbed, ours, seconds))
        .collect()
}

impl Sampled {
    /// Measures and prints it.
    fn report(&self, testbed: &Testbed, ours: &Program, seconds: u32) -> Value {
        let Self {
            row,
            bits_per_second,
        } = self;
        println!(
            "\n{row}: percent of one CPU while both ends are sampled once a second for {seconds} s, at {bits_per_second}bit/s"
        );
        match measure(testbed, ours, bits_per_second, seconds) {
            Ok(ends) => {
                print_aligned(&table(&ends, seconds));
                let ends = ends.map(|(name, cost)| {
                    json!({"end": name, "seconds": seconds, "sampler_ns": cost.sampler_ns, "process_ns": cost.process_ns})
                });
                json!({"row": row, "ends": ends})
            }
            Err(why) => {
                println!("  failed: {why}");
                json!({"row": row, "error": why})
            }
        }
    }
}

fn table(ends: &[(&str, Cost)], seconds: u32) -> Vec<Vec<String>> {
    let percent = |ns: u64| format!("{:.3}", 100.0 * ns as f64 / 1e9 / f64::from(seconds));
    let mut lines = vec![["", "sampler", "process"].map(str::to_owned).to_vec()];
    lines.extend(ends.iter().map(|(name, cost)| {
        let [sampler, process] = [cost.sampler_ns, cost.process_ns].map(percent);
        vec![(*name).to_owned(), sampler, process]
    }));
    lines
}

fn measure(
    testbed: &Testbed,
    ours: &Program,
    bits_per_second: &str,
    seconds: u32,
) -> Result<[(&'static str, Cost); 2], String> {
    let program = ours.word();
    let length = (seconds + LEAD_S + 2).to_string();
    let client = [
        &program,
        "udp",
        SERVER_ADDRESS,
        "-b",
        bits_per_second,
        "-l",
        "64",
        "-t",
        &length,
        "--json",
    ];
    let pair = Pair {
        server: vec![program.clone(), "serve".to_owned()],
        client: client.map(str::to_owned).to_vec(),
        port: 5201,
    };
    let server = meter::start_server(testbed, &pair)?;
    let mut command = meter::command(testbed, super::testbed::Side::Client, &pair.client)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let client = Server(
        command
            .spawn()
            .map_err(|why| format!("start {program}: {why}"))?,
    );
    std::thread::sleep(Duration::from_secs(LEAD_S.into()));
    let read = || {
        [
            ("client", Cost::of(client.id())),
            ("server", Cost::of(server.id())),
        ]
    };
    let before = read();
    std::thread::sleep(Duration::from_secs(seconds.into()));
    let after = read();
    let spent = |index: usize| {
        let (name, Some(before), Some(after)) =
            (before[index].0, &before[index].1, &after[index].1)
        else {
            return Err(
                "a process has no thread called sampler, or this kernel no /proc/PID/schedstat"
                    .to_owned(),
            );
        };
        Ok((name, after.since(before)))
    };
    Ok([spent(0)?, spent(1)?])
}

/// Processor time until now.
#[derive(Debug, Clone, Copy)]
struct Cost {
    sampler_ns: u64,
    process_ns: u64,
}

impl Cost {
    fn of(pid: u32) -> Option<Self> {
        let (mut sampler_ns, mut process_ns) = (None, 0);
        for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
            let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
            let spent_ns: u64 = read("schedstat").split_whitespace().next()?.parse().ok()?;
            process_ns += spent_ns;
            if read("comm").trim() == "sampler" {
                sampler_ns = Some(sampler_ns.unwrap_or(0) + spent_ns);
            }
        }
        Some(Self {
            sampler_ns: sampler_ns?,
            process_ns,
        })
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            sampler_ns: self.sampler_ns.saturating_sub(before.sampler_ns),
            process_ns: self.process_ns.saturating_sub(before.process_ns),
        }
    }
}

/// Until the test runs and the set-up has been read.
const LEAD_S: u32 = 3;
