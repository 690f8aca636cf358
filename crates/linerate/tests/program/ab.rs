// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate ab`: which configuration is set up when, what is kept, and what is put back however it ends.
//! What is measured does not matter here; `method::experiment` has the statistics.

mod adversity;
mod families;
mod journal;
mod page;
mod record;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Instant;

use crate::support::{PATIENCE, Server, until};
use serde_json::Value;

/// A directory of one test, empty.
fn place(name: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("ab")
        .join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// `ab` whose commands write their letter into a file.
fn ab(place: &Path, b: &str, more: &[&str], port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let run = place.join("run").display().to_string();
    command.args([
        "ab",
        "--a",
        "printf A >> log",
        "--b",
        b,
        "--settle",
        "0",
        "-o",
        &run,
    ]);
    command.args(["--restore", "printf R >> log", "--seed", "7", "--json"]);
    command.args(more);
    command.args([
        "--",
        "tcp",
        "127.0.0.1",
        "-n",
        "64K",
        "-p",
        &port.to_string(),
    ]);
    command.current_dir(place).env("XDG_STATE_HOME", place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// `ab` that never comes to measure.
fn commands(place: &Path, a: &str, b: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["ab", "--a", a, "--b", b, "--settle", "0", "--seed", "7"]);
    command.args(more).args(["--", "tcp", "127.0.0.1"]);
    command.current_dir(place).env("XDG_STATE_HOME", place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn log(place: &Path) -> String {
    fs::read_to_string(place.join("log")).unwrap_or_default()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn blocks_are_run_as_drawn_and_kept_and_what_was_there_is_put_back() {
    let (place, server) = (place("whole"), Server::ours("--quiet"));
    let more = ["--aa", "0", "--blocks", "6", "--margin", "100%"];
    let output = ab(&place, "printf B >> log", &more, server.port)
        .output()
        .unwrap();
    let json = document(&output);
    assert_eq!(output.status.code(), Some(0), "{}", json["error"]);
    let one = &json["comparison"][0];
    assert_eq!(
        (&one["metric"], &one["order_seed"]),
        (&"throughput".into(), &7.into())
    );
    assert_eq!(
        (&one["blocks"], &one["blocks_planned"]),
        (&6.into(), &6.into())
    );
    assert!(one["p"].as_f64().is_some() && one["sentence"].as_str().is_some());
    for (side, label) in [("before", "printf A >> log"), ("after", "printf B >> log")] {
        assert_eq!(one[side]["label"], label);
        let runs = one[side]["runs"].as_array().unwrap();
        assert_eq!(
            (runs.len(), one[side]["values"].as_array().unwrap().len()),
            (12, 12)
        );
        for run in runs {
            assert!(
                Path::new(run.as_str().unwrap()).join("run.json").exists(),
                "{run}"
            );
        }
    }
    record::says_the_same(&place.join("run"), &json);
    // A run that could not be used begins its block anew.
    let log = log(&place);
    let spoilt = one["excluded"].as_array().unwrap().len();
    if spoilt > 0 {
        return println!("skipped: the order of the runs, as {spoilt} were spoilt: {log}");
    }
    assert_eq!((log.len(), log.ends_with('R')), (24 + 1, true), "{log}");
    for block in log.as_bytes()[..24].chunks(4) {
        assert!(block == b"ABBA" || block == b"BAAB", "{log}");
    }
}

#[test]
fn a_command_that_fails_ends_it_and_what_was_there_is_put_back() {
    let (place, server) = (place("fails"), Server::ours("--quiet"));
    let fails = "echo no such device >&2; exit 7";
    let output = ab(&place, fails, &["--aa", "0"], server.port)
        .output()
        .unwrap();
    let json = document(&output);
    assert_eq!(
        (output.status.code(), &json["exit_code"]),
        (Some(3), &3.into())
    );
    let why = json["error"]["why"].as_str().unwrap();
    assert!(why.contains("no such device"), "{why}");
    assert!(log(&place).ends_with('R'), "{}", log(&place));
}

/// The same as that of `compare`; a stated one wins.
#[test]
fn the_margin_is_that_of_the_deciding_figure() {
    let server = Server::ours("--quiet");
    for (stated, margin) in [(None, 0.1), (Some("3%"), 0.03)] {
        let place = place(stated.unwrap_or("default"));
        let mut more = vec!["--aa", "1", "--metric", "rtt-p99"];
        more.extend(stated.iter().flat_map(|stated| ["--margin", stated]));
        let json = document(&ab(&place, "exit 7", &more, server.port).output().unwrap());
        assert_eq!(json["experiment"]["margin"], margin, "{json}");
        assert_eq!(json["comparison"][0]["margin"], margin, "{json}");
    }
}

#[test]
fn an_interruption_puts_back_what_was_there() {
    let (place, server) = (place("interrupted"), Server::ours("--quiet"));
    let mut child = ab(&place, "printf B >> log", &["--aa", "0"], server.port)
        .spawn()
        .unwrap();
    until("B was set up", || log(&place).contains('B'));
    terminate(&child);
    assert_eq!(ended(&mut child, &place).code(), Some(130));
    assert!(log(&place).ends_with('R'), "{}", log(&place));
    record::is_partial(&place.join("run"));
}

/// Awaits it.
fn ended(child: &mut Child, place: &Path) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < deadline, "it goes on: {}", log(place));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn terminate(child: &Child) {
    let id = child.id().to_string();
    let reported = Command::new("kill").args(["-TERM", &id]).status();
    assert!(reported.unwrap().success());
}

#[test]
fn what_does_not_measure_is_refused_before_anything_is_changed() {
    let place = place("refused");
    for (measurement, said) in [
        (&["inspect"][..], "it is not a measuring command"),
        (&["udp", "h", "--json"], "set for each run"),
        (&["udp", "h", "-l", "15"], "expected 16 to 65507 bytes"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.args(["ab", "--a", "touch changed", "--b", "touch changed", "--"]);
        let output = command
            .args(measurement)
            .current_dir(&place)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{measurement:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(said), "{stderr}");
    }
    assert!(!place.join("changed").exists());
}
