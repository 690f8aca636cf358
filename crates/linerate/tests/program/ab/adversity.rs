// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands that fail, hang, talk nonsense or leave something behind: a clear word, and nothing measured is lost.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::record::{reported, runs};
use super::{ab, commands, ended, log, place, terminate};
use crate::support::{Server, free_port, until};

#[test]
fn what_a_command_leaves_running_is_not_waited_for() {
    let place = place("background");
    let a = "sleep 900 & echo $! > pid; exit 3";
    let output = commands(&place, a, "true", &[]).output().unwrap();
    let lingering = fs::read_to_string(place.join("pid")).unwrap();
    let killed = Command::new("kill").arg(lingering.trim()).status();
    assert!(killed.unwrap().success(), "it was left alone");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_command_that_hangs_is_ended_with_what_it_started() {
    let place = place("hangs");
    let a = "sleep 901 & echo $! > pid; printf A >> log; wait";
    let mut child = commands(&place, a, "true", &[]).spawn().unwrap();
    until("A hangs", || log(&place).contains('A'));
    terminate(&child);
    assert_eq!(ended(&mut child, &place).code(), Some(130));
    let started = fs::read_to_string(place.join("pid")).unwrap();
    until("what it started is gone", || is_gone(started.trim()));
}

#[test]
fn nonsense_is_shown_in_one_clean_line() {
    let place = place("nonsense");
    let a = r"printf '\033[31mred\a\001 line\nmore\n' >&2; head -c 300000 /dev/zero; exit 5";
    let output = commands(&place, a, "true", &[]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr.contains("exit status: 5: [31mred line"), "{stderr}");
    assert!(
        !stderr.contains(['\u{1b}', '\u{7}', '\u{1}', '\0']),
        "{stderr:?}"
    );
}

#[test]
fn both_are_said_when_restoring_fails_too() {
    let place = place("restore-fails");
    let restore = "echo no way back >&2; exit 9";
    let more = ["--restore", restore, "-o", "run"];
    let output = commands(&place, "false", "true", &more).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    for said in ["cannot set up A", "cannot restore", "no way back"] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
    let restored = &reported(&place.join("run"))["experiment"]["restored"];
    assert_eq!(restored["command"], restore);
    assert_eq!(restored["error"], "exit status: 9: no way back");
}

#[test]
fn restoring_that_hangs_is_given_up_by_who_insists_and_all_else_is_kept() {
    let place = place("restore-hangs");
    let restore = "printf R >> log; sleep 600";
    let more = ["--restore", restore, "-o", "run"];
    let mut child = commands(&place, "false", "true", &more).spawn().unwrap();
    until("it restores", || log(&place).contains('R'));
    // Signals of one kind that arrive together are one.
    until("it gives up", || {
        terminate(&child);
        is_gone(&format!("{}", child.id()))
    });
    assert_eq!(ended(&mut child, &place).code(), Some(3));
    let restored = &reported(&place.join("run"))["experiment"]["restored"];
    assert_eq!(restored["command"], restore);
    let why = restored["error"].as_str().unwrap();
    assert!(why.contains("signal: "), "{why}");
}

#[test]
fn restoring_goes_on_after_one_signal() {
    let place = place("restore-goes-on");
    let restore = "printf r >> log; until [ -e go ]; do sleep 0.1; done; printf R >> log";
    let more = ["--restore", restore, "-o", "run"];
    let mut child = commands(&place, "false", "true", &more).spawn().unwrap();
    until("it restores", || log(&place).contains('r'));
    terminate(&child);
    fs::write(place.join("go"), "").unwrap();
    assert_eq!(ended(&mut child, &place).code(), Some(3));
    assert!(log(&place).ends_with('R'), "{}", log(&place));
}

#[test]
fn a_measurement_that_never_succeeds_is_given_up_and_kept() {
    let place = place("no-server");
    let output = ab(&place, "true", &["--aa", "0"], free_port())
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &json["exit_code"]),
        (Some(3), &3.into())
    );
    let why = json["error"]["why"].as_str().unwrap();
    assert!(why.contains("0 of") && why.contains("are valid"), "{why}");
    let record = &json["experiment"];
    assert!(runs(record).count() >= 4);
    assert!(runs(record).all(|run| run["invalid_reason"].is_string() && run["counts"] == false));
    assert_eq!(record["stopped"], "failed");
}

#[test]
fn what_was_measured_before_it_was_killed_is_judged_and_what_is_left_behind_is_said() {
    let (place, server) = (place("killed"), Server::ours("--quiet"));
    let run = place.join("run");
    let mut child = ab(&place, "printf B >> log", &["--aa", "0"], server.port)
        .spawn()
        .unwrap();
    until("a run is stored", || stored_runs(&run) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let document = reported(&run);
    let record = &document["experiment"];
    assert_eq!(
        (&document["partial"], &record["stopped"]),
        (&true.into(), &"interrupted".into())
    );
    assert_eq!(record["restored"]["command"], "printf R >> log");
    let why = record["restored"]["error"].as_str().unwrap();
    assert!(why.contains("run it now"), "{why}");
    assert!(!log(&place).contains('R'));
}

/// Those in the record so far.
fn stored_runs(run: &Path) -> usize {
    let text = fs::read(run.join("run.json")).unwrap_or_default();
    let stored: Value = serde_json::from_slice(&text).unwrap_or_default();
    stored["experiment"]["runs"].as_array().map_or(0, Vec::len)
}

/// A process that nobody reaped yet is gone, too.
pub(super) fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.contains(") ") || stat.contains(") Z")
}
