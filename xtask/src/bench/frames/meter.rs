// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one contender sends in some seconds, and the processor time that it takes: from the kernel's counters, the same for all.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::NEAR;
use super::contender::Contender;
use crate::bench::testbed::{Side, Testbed};
use crate::process::Server;

/// Thousands of frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    /// A second.
    pub(super) wall_kpps: f64,
    /// A second on a processor of the thread that was on one longest.
    pub(super) cpu_kpps: f64,
}

/// Starts it, waits until it sends, and measures.
///
/// # Errors
/// It cannot be started, or sends nothing.
pub(super) fn rate(testbed: &Testbed, contender: &Contender, seconds: u32) -> Result<Rate, String> {
    let (program, arguments) = contender.words.split_first().ok_or("no command")?;
    let mut command = testbed.command(Side::Client, program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let idle = frames(testbed)?;
    let mut server = Server(
        command
            .spawn()
            .map_err(|why| format!("start {program}: {why}"))?,
    );
    wait_until_it_sends(testbed, &mut server, idle)?;
    let before = Reading::now(testbed, server.id())?;
    std::thread::sleep(Duration::from_secs(seconds.into()));
    let after = Reading::now(testbed, server.id())?;
    end(server.id());
    after
        .since(&before)
        .ok_or_else(|| "it spent no processor time".to_owned())
}

fn wait_until_it_sends(testbed: &Testbed, server: &mut Server, idle: u64) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while frames(testbed)? < idle + 1000 {
        if let Ok(Some(status)) = server.try_wait() {
            return Err(format!("ended with {status}"));
        }
        if Instant::now() > deadline {
            return Err("sends nothing".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(200));
    Ok(())
}

struct Reading {
    at: Instant,
    frames: u64,
    /// By thread.
    cpu_ns: BTreeMap<String, u64>,
}

impl Reading {
    fn now(testbed: &Testbed, process: u32) -> Result<Self, String> {
        let (at, frames) = (Instant::now(), frames(testbed)?);
        let threads = family(process).into_iter().flat_map(threads);
        let spent = |thread: String| {
            let text = fs::read_to_string(format!("{thread}/schedstat")).ok()?;
            Some((thread, text.split_whitespace().next()?.parse().ok()?))
        };
        Ok(Self {
            at,
            frames,
            cpu_ns: threads.filter_map(spent).collect(),
        })
    }

    fn since(&self, before: &Self) -> Option<Rate> {
        let frames = (self.frames - before.frames) as f64;
        let spent =
            |(thread, ns): (&String, &u64)| ns - before.cpu_ns.get(thread).copied().unwrap_or(0);
        let busiest = self.cpu_ns.iter().map(spent).max().filter(|ns| *ns > 0)?;
        Some(Rate {
            wall_kpps: frames / (self.at - before.at).as_secs_f64() / 1e3,
            cpu_kpps: frames / (busiest as f64 / 1e9) / 1e3,
        })
    }
}

/// What the interface has sent so far.
fn frames(testbed: &Testbed) -> Result<u64, String> {
    let mut ip = testbed.command(Side::Client, "ip");
    let output = ip
        .args(["-s", "-j", "link", "show", NEAR])
        .output()
        .map_err(|why| format!("start ip: {why}"))?;
    let reported: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|why| format!("ip -j: {why}"))?;
    let packets = &reported[0]["stats64"]["tx"]["packets"];
    packets
        .as_u64()
        .ok_or_else(|| "ip tells no tx packets".to_owned())
}

/// A process and all that it started.
fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    for thread in threads(process) {
        let children = fs::read_to_string(format!("{thread}/children")).unwrap_or_default();
        all.extend(
            children
                .split_whitespace()
                .filter_map(|child| child.parse().ok())
                .flat_map(family),
        );
    }
    all
}

fn threads(process: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// Ends it and what it started; the caller reaps it.
fn end(process: u32) {
    for one in family(process).into_iter().rev() {
        // It may have ended by itself.
        let _gone = Command::new("kill")
            .args(["-KILL", &one.to_string()])
            .stderr(Stdio::null())
            .status();
    }
}
