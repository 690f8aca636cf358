// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proof that the binaries run: each against the native one over the loopback, in both roles
//! and both directions, with TCP and UDP; each explains pasted text and recorded runs as the native one does; and the
//! native one as on an old kernel.

mod explained;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{Build, Target};
use crate::ports;
use crate::process::{self, Finished, Server};
use crate::tally::Tally;

/// Runs all of it; `root` is the workspace.
pub(crate) fn run(builds: &[Build], root: &Path, tally: &mut Tally) {
    let Some(native) = builds.iter().find(|build| build.target.is_native()) else {
        tally.skip("runs", "there is no binary for this machine to run against");
        return;
    };
    for foreign in builds {
        meet(native, foreign, root, tally);
    }
    old_kernel(native, tally);
}

/// `foreign` as client and as server of the native one.
pub(super) fn meet(native: &Build, foreign: &Build, root: &Path, tally: &mut Tally) {
    let triple = foreign.target.triple;
    let runner = match Runner::of(foreign.target) {
        Ok(runner) => runner,
        Err(why) => return tally.skip(&format!("runs of {triple}"), why),
    };
    let here = || Runner::Native.command(&native.path);
    let there = || runner.command(&foreign.path);
    let runs = foreign.path.with_file_name("runs");
    let _old = fs::remove_dir_all(&runs);
    for (load, reverse) in [(&UDP, false), (&UDP, true), (&TCP, false), (&TCP, true)] {
        let word = load.command;
        let letter = if reverse { " -R" } else { "" };
        let run = |client: &str| runs.join(format!("{client} {word}{letter}"));
        tally.check(
            &format!("{triple} serve, native {word}{letter}"),
            exchange(there(), here(), load, reverse, &run("native")),
        );
        if !foreign.target.is_native() {
            tally.check(
                &format!("{triple} {word}, native serve{letter}"),
                exchange(here(), there(), load, reverse, &run(triple)),
            );
        }
    }
    if !foreign.target.is_native() {
        explained::check(triple, [&here, &there], root, &runs, tally);
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
        target.emulator().map(Self::Emulator)
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

/// One test of an amount, not of a time: a machine that is busy with something else takes longer, and proves the same.
#[derive(Debug)]
struct Load {
    command: &'static str,
    options: &'static [&'static str],
    /// What must agree in its document.
    account: fn(&Value) -> Result<String, String>,
}

const UDP: Load = Load {
    command: "udp",
    options: &["-b", "20M", "-l", "1000", "-k", "5000"],
    account: packets,
};

const TCP: Load = Load {
    command: "tcp",
    options: &["-n", "4M"],
    account: bytes,
};

/// One test over the loopback, recorded in `run`; its account, or what is wrong with it.
fn exchange(
    mut server: Command,
    mut client: Command,
    load: &Load,
    reverse: bool,
    run: &Path,
) -> Result<String, String> {
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
    client.args([load.command, "127.0.0.1", "-p", &port.to_string()]);
    client.args(load.options).arg("--json");
    client.arg("-o").arg(run);
    client.args(reverse.then_some("-R"));
    let client = process::run(&mut client, LIMIT)?;
    let account = account(&client, load)?;
    match process::end_of(&mut server, Duration::from_secs(10)) {
        Some(status) if status.success() => Ok(account),
        Some(status) => Err(format!("the server ended with {status} ({account})")),
        None => Err(format!("serve -1 has not ended ({account})")),
    }
}

/// The account of a client that must have ended well.
fn account(client: &Finished, load: &Load) -> Result<String, String> {
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
    let text = (load.account)(test)?;
    if test["valid"] != true {
        return Err(format!(
            "invalid: {} ({text})",
            word(&test["invalid_reason"])
        ));
    }
    Ok(text)
}

/// Each datagram is received or lost.
fn packets(test: &Value) -> Result<String, String> {
    let [sent, received, lost] = [
        count(test, "sent_packets")?,
        count(test, "received_packets")?,
        count(test, "lost_packets")?,
    ];
    let text = format!(
        "{sent} sent = {received} received + {lost} lost, tx {} rx {}",
        word(&test["mode"]["tx"]),
        word(&test["mode"]["rx"])
    );
    match sent == received + lost && received > 0 {
        true => Ok(text),
        false => Err(format!("the account is wrong: {text}")),
    }
}

/// Each byte is received.
fn bytes(test: &Value) -> Result<String, String> {
    let [sent, received] = [count(test, "sent_bytes")?, count(test, "received_bytes")?];
    let text = format!("{sent} bytes sent, {received} received");
    match sent == received && received >= 4_000_000 {
        true => Ok(text),
        false => Err(format!("the account is wrong: {text}")),
    }
}

fn count(test: &Value, name: &str) -> Result<u64, String> {
    let count = test[name].as_u64();
    count.ok_or_else(|| format!("no {name} in --json"))
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
    let account = account(lab, &UDP)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_that_do_not_add_up_are_refused() {
        let test = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let counts = |sent, received, lost| {
            test(&format!(
                r#"{{"sent_packets": {sent}, "received_packets": {received}, "lost_packets": {lost}}}"#
            ))
        };
        assert!(packets(&counts(5, 4, 1)).is_ok());
        assert!(packets(&counts(5, 4, 0)).is_err());
        assert!(packets(&counts(5, 0, 5)).is_err());
        assert!(packets(&test("{}")).is_err());
        let sent = |sent, received| {
            test(&format!(
                r#"{{"sent_bytes": {sent}, "received_bytes": {received}}}"#
            ))
        };
        assert!(bytes(&sent(4_194_304, 4_194_304)).is_ok());
        assert!(bytes(&sent(4_194_304, 4_194_303)).is_err());
        assert!(bytes(&sent(0, 0)).is_err());
    }
}
