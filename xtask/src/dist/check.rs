// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proof that the binaries run: each against the native one over the loopback, in both roles
//! and both directions, and the native one as on an old kernel.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{Build, Target};
use crate::process::{self, Finished, Server};
use crate::tally::Tally;
use crate::{build, ports};

/// Runs all of it.
pub(crate) fn run(builds: &[Build], tally: &mut Tally) {
    let Some(native) = builds.iter().find(|build| build.target.is_native()) else {
        tally.skip("runs", "there is no binary for this machine to run against");
        return;
    };
    for foreign in builds {
        meet(native, foreign, tally);
    }
    old_kernel(native, tally);
}

/// `foreign` as client and as server of the native one.
fn meet(native: &Build, foreign: &Build, tally: &mut Tally) {
    let runner = match Runner::of(foreign.target) {
        Ok(runner) => runner,
        Err(why) => return tally.skip(&format!("runs of {}", foreign.target.triple), why),
    };
    let here = || Runner::Native.command(&native.path);
    let there = || runner.command(&foreign.path);
    for reverse in [false, true] {
        let letter = if reverse { " -R" } else { "" };
        let name = |role: &str| format!("{} {role}{letter}", foreign.target.triple);
        tally.check(
            &name("serve, native udp"),
            exchange(there(), here(), reverse),
        );
        if !foreign.target.is_native() {
            tally.check(
                &name("udp, native serve"),
                exchange(here(), there(), reverse),
            );
        }
    }
}

/// How a binary is run.
#[derive(Debug, Clone, Copy)]
enum Runner {
    Native,
    Emulator(&'static str),
}

impl Runner {
    fn of(target: &Target) -> Result<Self, String> {
        if target.is_native() {
            return Ok(Self::Native);
        }
        let emulator = target
            .emulators
            .iter()
            .find(|program| build::has_program(program));
        let missing = || format!("{} is not installed", target.emulators.join(" or "));
        emulator
            .map(|program| Self::Emulator(program))
            .ok_or_else(missing)
    }

    fn command(self, binary: &Path) -> Command {
        match self {
            Self::Native => Command::new(binary),
            Self::Emulator(program) => {
                let mut command = Command::new(program);
                command.arg(binary);
                command
            }
        }
    }
}

/// One UDP test over the loopback; its account, or what is wrong with it. It sends an amount, not
/// for a time: a machine that is busy with something else takes longer, and proves the same.
fn exchange(mut server: Command, mut client: Command, reverse: bool) -> Result<String, String> {
    let port = ports::free().map_err(|why| format!("no free port: {why}"))?;
    server.args(["serve", "-1", "-B", "127.0.0.1", "-p", &port.to_string()]);
    server
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = Server(
        server
            .spawn()
            .map_err(|why| format!("start the server: {why}"))?,
    );
    let pid = std::process::id();
    ports::wait_for_listener(&mut server, pid, port)?;
    client.env("XDG_STATE_HOME", "/dev/null"); // keeps no run
    client.args(["udp", "127.0.0.1", "-p", &port.to_string()]);
    client.args(["-b", "20M", "-l", "1000", "-k", "5000", "--json"]);
    client.args(reverse.then_some("-R"));
    let client = process::run(&mut client, LIMIT)?;
    let account = account(&client)?;
    match process::end_of(&mut server, Duration::from_secs(10)) {
        Some(status) if status.success() => Ok(account),
        Some(status) => Err(format!("the server ended with {status} ({account})")),
        None => Err(format!("serve -1 has not ended ({account})")),
    }
}

/// The account of a client that must have ended well.
fn account(client: &Finished) -> Result<String, String> {
    let said = || process::last_line(&client.stderr).to_owned();
    let document: Value = serde_json::from_str(&client.stdout).unwrap_or_default();
    let test = &document["tests"][0];
    if !client.status.success() {
        let reason = test["invalid_reason"].as_str();
        return Err(format!(
            "the client ended with {}: {}",
            client.status,
            reason.map_or_else(said, str::to_owned)
        ));
    }
    let count = |name: &str| test[name].as_u64().ok_or(format!("no {name} in --json"));
    let [sent, received, lost] = [
        count("sent_packets")?,
        count("received_packets")?,
        count("lost_packets")?,
    ];
    let text = format!(
        "{sent} sent = {received} received + {lost} lost, tx {} rx {}",
        word(&test["mode"]["tx"]),
        word(&test["mode"]["rx"])
    );
    if test["valid"] != true {
        return Err(format!(
            "invalid: {} ({text})",
            word(&test["invalid_reason"])
        ));
    }
    if sent != received + lost || received == 0 {
        return Err(format!("the account is wrong: {text}"));
    }
    Ok(text)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}

/// What newer kernels have is asked for, and must be missed visibly.
fn old_kernel(native: &Build, tally: &mut Tally) {
    for direction in [None, Some("-R")] {
        let mut lab = Command::new(&native.path);
        lab.args([
            "lab",
            "--old-kernel",
            "--",
            "linerate",
            "udp",
            "{peer}",
            "--mode",
            "gso/gro",
        ]);
        lab.args(["-b", "50M", "-l", "1000", "-k", "12500", "--json"])
            .args(direction);
        lab.env("XDG_STATE_HOME", "/dev/null");
        let result = process::run(&mut lab, LIMIT).and_then(|lab| fallen_back(&lab));
        tally.check(
            &format!("as on Linux 4.4{}", direction.map_or("", |_| " -R")),
            result,
        );
    }
}

fn fallen_back(lab: &Finished) -> Result<String, String> {
    let account = account(lab)?;
    let document: Value =
        serde_json::from_str(&lab.stdout).map_err(|why| format!("--json: {why}"))?;
    let test = &document["tests"][0];
    let used = [&test["mode"]["tx"], &test["mode"]["rx"]].map(word);
    if used
        .iter()
        .any(|mode| ["gso", "gro", "unknown"].contains(mode))
    {
        return Err(format!("gso/gro was asked of an old kernel: {account}"));
    }
    let warnings = test["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    let ids: Vec<&str> = warnings
        .iter()
        .map(|warning| word(&warning["id"]))
        .collect();
    if ids.is_empty() {
        return Err(format!("it fell back in silence: {account}"));
    }
    Ok(format!("{account}, warnings {}", ids.join(", ")))
}

/// An emulator on a loaded machine may take its time.
const LIMIT: Duration = Duration::from_secs(180);
