// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a client against a server and accounts for the processors' time of each.
//!
//! A process's time is what the kernel adds to this one's `cutime` and `cstime` when it is
//! reaped (proc(5)), so it covers all its threads. On a veth the receive path up to the socket
//! runs in the sender's context: the machine's busy time is read as well, from `/proc/stat`.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::testbed::{Side, Testbed};
use crate::ports;
use crate::process::{self, Finished, Server};

/// What a client printed, and what it cost.
#[derive(Debug)]
pub(crate) struct Metered {
    /// Of the client.
    pub(crate) finished: Finished,
    /// What the server printed.
    pub(crate) server_output: String,
    /// Processor seconds of the client.
    pub(crate) client_cpu_s: f64,
    /// Processor seconds of the server.
    pub(crate) server_cpu_s: f64,
    /// Busy processor seconds of the whole machine.
    pub(crate) machine_cpu_s: f64,
    /// The server's largest resident set, bytes.
    pub(crate) server_resident_bytes: Option<u64>,
}

/// Command lines of one measurement: program and arguments.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Of the server.
    pub(crate) server: Vec<String>,
    /// Of the client.
    pub(crate) client: Vec<String>,
    /// Where the server listens.
    pub(crate) port: u16,
}

/// Runs the pair to the client's end.
///
/// # Errors
/// A program cannot be started, does not listen or does not end within `limit`.
pub(crate) fn run(testbed: &Testbed, pair: &Pair, limit: Duration) -> Result<Metered, String> {
    let mut server = start_server(testbed, pair)?;
    let before = children_cpu_s();
    let machine = machine_busy_s();
    let mut client = command(testbed, Side::Client, &pair.client)?;
    let finished = process::run(&mut client, limit)?;
    let machine_cpu_s = machine_busy_s() - machine;
    let between = children_cpu_s();
    let server_resident_bytes = resident_peak_bytes(&server);
    let output = process::drain(server.stdout.take());
    let _status = end(&mut server);
    drop(server);
    Ok(Metered {
        finished,
        server_output: output.join().unwrap_or_default(),
        client_cpu_s: between - before,
        server_cpu_s: children_cpu_s() - between,
        machine_cpu_s,
        server_resident_bytes,
    })
}

/// Starts the server of the pair and waits until it listens.
pub(crate) fn start_server(testbed: &Testbed, pair: &Pair) -> Result<Server, String> {
    let mut command = command(testbed, Side::Server, &pair.server)?;
    // Peers print a few lines a test: no pipe fills up before it is read at the end.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut server = Server(
        command
            .spawn()
            .map_err(|why| format!("start {}: {why}", pair.server[0]))?,
    );
    ports::wait_for_listener(&mut server, testbed.pid(Side::Server), pair.port)?;
    Ok(server)
}

/// A command of the testbed.
pub(crate) fn command(testbed: &Testbed, side: Side, words: &[String]) -> Result<Command, String> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = testbed.command(side, program);
    command.args(arguments);
    Ok(command)
}

/// Asks the server to end, as its user would; what does not is killed.
fn end(server: &mut Child) -> Option<std::process::ExitStatus> {
    let pid = server.id().to_string();
    // It may have ended by itself.
    let _gone = Command::new("kill")
        .args(["-INT", &pid])
        .stderr(Stdio::null())
        .status();
    process::end_of(server, Duration::from_secs(1))
}

/// Processor time of the children that were reaped so far.
fn children_cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name stands in parentheses and may hold spaces; then follow state (3), … 16, 17.
    let fields = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split_whitespace();
    ticks(fields.skip(13).take(2))
}

/// user, nice, system, irq, softirq and steal of all processors.
fn machine_busy_s() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let busy = [1, 2, 3, 6, 7, 8];
    ticks(busy.iter().filter_map(|&field| fields.get(field).copied()))
}

/// `USER_HZ` is 100 on every architecture that is built for.
fn ticks<'a>(fields: impl Iterator<Item = &'a str>) -> f64 {
    fields
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn resident_peak_bytes(process: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}
