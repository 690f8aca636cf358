// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a small board would notice: size, memory, time to start.

use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::contender::{Contender, Program, Tool};
use super::load::{Kind, Load};
use super::series::{Series, short};
use super::table::print_aligned;
use super::testbed::Testbed;

/// Measures and prints all of it.
pub(crate) fn run(testbed: &Testbed, ours: &Program, peers: &[Program], seconds: u32) -> Value {
    println!("\nfootprint: static binary, server's memory during a test, start-up");
    let mut lines = vec![
        ["", "size_bytes", "resident_peak_bytes", "start_ms"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut entries = Vec::new();
    for program in std::iter::once(ours).chain(peers) {
        let size = size_bytes(program);
        let resident = resident_bytes(testbed, program, seconds);
        let start = start_ms(program);
        entries.push(json!({"program": program.name(), "size_bytes": size,
            "resident_peak_bytes": resident, "start_ms": start}));
        let whole = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
        let start = start.map_or("-".to_owned(), short);
        lines.push(vec![
            program.name().to_owned(),
            whole(size),
            whole(resident),
            start,
        ]);
    }
    print_aligned(&lines);
    json!({"row": "footprint", "contenders": entries})
}

/// Of ours only: the peers are linked dynamically.
fn size_bytes(program: &Program) -> Option<u64> {
    let ours = program.tool == Tool::Linerate;
    let file = ours.then(|| std::fs::metadata(&program.path))?;
    Some(file.ok()?.len())
}

/// The most that the server needed: while it received 8 streams of TCP, then of paced UDP.
fn resident_bytes(testbed: &Testbed, program: &Program, seconds: u32) -> Option<u64> {
    let udp = Kind::Udp {
        payload_bytes: 1448,
        bits_per_second: Some(20_000_000),
    };
    let udp_streams: &[&str] = match program.tool {
        Tool::Nuttcp => &[],
        _ => &["-P", "8"],
    };
    let peak = |options: &[&str], kind| {
        let words = options.iter().map(|&word| word.to_owned()).collect();
        let contender = Contender {
            program: program.clone(),
            options: words,
        };
        contender
            .measure(testbed, &Load { kind, seconds })
            .ok()?
            .metered
            .server_resident_bytes
    };
    let tcp = peak(&[], Kind::Tcp { streams: 8 });
    tcp.max(peak(udp_streams, udp))
}

/// Median time from the start of `PROGRAM --version` to its end.
fn start_ms(program: &Program) -> Option<f64> {
    let once = |_run| {
        let start = Instant::now();
        let mut command = Command::new(&program.path);
        command
            .arg(program.tool.version_option())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().ok()?;
        Some(start.elapsed().as_secs_f64() * 1e3)
    };
    Some(Series((0..START_RUNS).map(once).collect()).spread()?.median)
}

const START_RUNS: u32 = 50;
