// SPDX-License-Identifier: MIT OR Apache-2.0
//! A board without a battery: the whole program where the wall clock stands at 1970.
//!
//! No namespace sets the wall clock back, and the program asks the kernel for it without a
//! library in between. So a kernel of its own runs the program: User Mode Linux (Debian's package
//! `user-mode-linux`), an ordinary process with this machine's files to read and no network.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::process::{PROGRAM, Running, start};
use super::verdict::accounted;

/// What the guest runs as its first process. The clock is set twice, as by a reboot of the board.
const GUEST: &str = r#"#!/bin/sh
mount -t proc proc /proc && mount -t hostfs none "$SCRATCH" -o "$SCRATCH" || exit
ip link set lo up
date -s @120
export XDG_STATE_HOME="$SCRATCH/state"
cd "$SCRATCH"
echo guest: up
"$LINERATE" doctor --json >doctor.json
"$LINERATE" serve 2>serve.log &
until grep -q 'listens on port' serve.log; do sleep 0.1; done
"$LINERATE" udp 127.0.0.1 -b 1M -t 1 -i 200ms --json >udp.json
echo guest: udp $?
date -s @120
"$LINERATE" udp 127.0.0.1 -R -b 1M -t 1 -i 200ms --json >again.json
echo guest: again $?
"$LINERATE" check 127.0.0.1 --quick --json >check.json
echo guest: check $?
echo guest: down; echo o >/proc/sysrq-trigger
sleep 60
"#;

#[test]
fn a_clock_at_1970_dates_and_measures_sanely() {
    if Command::new(UML).arg("--version").output().is_err() {
        return eprintln!("skipped: no {UML} (Debian: user-mode-linux)");
    }
    let scratch = Scratch::new();
    let mut guest = boot(&scratch.0);
    if !guest.says("guest: up", 1) {
        return eprintln!("skipped: {UML} does not boot here: {}", guest.stderr());
    }
    for word in ["udp 0", "again 0", "check 0", "down"] {
        guest.wait_for(&format!("guest: {word}"), 1);
    }
    guest.end();
    let read = |name: &str| scratch.read(name);
    assert_eq!(json(&read("doctor.json"))["clock_trusted"], false);
    let documents = ["udp.json", "again.json", "check.json"].map(|name| json(&read(name)));
    documents.iter().for_each(sane);
    assert_ne!(documents[0]["run_dir"], documents[1]["run_dir"]);
    let log = read("serve.log");
    let done: Vec<&str> = log.lines().filter(|line| line.contains("done: ")).collect();
    assert!(done.len() > 4, "{log}");
    assert!(done.iter().all(|line| line.starts_with(DATE)), "{log}");
}

fn boot(scratch: &Path) -> Running {
    let init = scratch.join("init");
    fs::write(&init, GUEST).unwrap();
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(UML);
    command
        .args([
            "mem=256M",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            "quiet",
        ])
        .args(["con=null", "con0=null,fd:2", "ssl=null"])
        .arg(format!("uml_dir={}", scratch.display()))
        .arg(format!("init={}", init.display()))
        .arg(format!("SCRATCH={}", scratch.display()))
        .arg(format!("LINERATE={PROGRAM}"));
    start(command)
}

/// Dated 1970 wherever a date is, and no length of time as if 1970 were long ago.
fn sane(document: &Value) {
    assert_eq!(document["exit_code"], 0, "{document:#}");
    let directory = document["run_dir"].as_str().expect("stored");
    let name = Path::new(directory).file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("19700101T000"), "{name}");
    let stored = json(&fs::read_to_string(Path::new(directory).join("run.json")).unwrap());
    for record in [document, &stored] {
        let started = record["started"].as_str().unwrap();
        assert!(started.starts_with(DATE), "{started}");
        assert_eq!(record["clock_trusted"], false);
        assert_eq!(record["started"], document["started"], "stored as printed");
    }
    assert_eq!(stored["tests"], document["tests"], "stored as printed");
    // On its one processor a short test of `check` may not come to send at all, and says so.
    let tests = document["tests"].as_array().unwrap();
    let valid = || tests.iter().filter(|test| test["valid"] == true);
    assert!(valid().count() > 0, "{document:#}");
    valid()
        .filter(|test| test["protocol"] == "udp")
        .for_each(accounted);
    for sample in fs::read_to_string(Path::new(directory).join("samples.jsonl"))
        .unwrap()
        .lines()
    {
        let wall_ns = json(sample)["wall_ns"].as_f64().unwrap();
        assert!(wall_ns < HOUR_NS, "{sample}");
    }
    brief(document, "");
}

/// Every number of seconds or nanoseconds is less than an hour.
fn brief(value: &Value, name: &str) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| brief(item, name)),
        Value::Object(members) => members.iter().for_each(|(member, value)| {
            let timed = member.ends_with("_s") || member.ends_with("_ns");
            brief(value, if timed { member } else { name });
        }),
        Value::Number(number) if name.ends_with("_s") => {
            assert!(
                number.as_f64().unwrap().abs() * 1e9 < HOUR_NS,
                "{name}: {number}"
            );
        }
        Value::Number(number) if name.ends_with("_ns") => {
            assert!(number.as_f64().unwrap().abs() < HOUR_NS, "{name}: {number}");
        }
        _ => {}
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Where the guest may write; it goes with its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let name = format!("wall-clock-{}", std::process::id());
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of it is in the build directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const UML: &str = "linux.uml";
/// How far the guest's clock may come from its two minutes past midnight.
const DATE: &str = "1970-01-01T00:0";
const HOUR_NS: f64 = 3.6e12;
