// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands that fail, hang, talk nonsense or leave something behind: a clear word, and nothing measured is lost.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::record::{reported, runs};
use super::{ab, ended, log, place, terminate};
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

/// Nothing can restore a configuration in a process that is killed: the journal has how, for whoever comes next.
#[test]
fn what_a_killed_comparison_left_is_restored_from_the_journal() {
    let (place, server) = (place("journal"), Server::ours("--quiet"));
    let mut child = ab(&place, "printf B >> log", &["--aa", "0"], server.port)
        .spawn()
        .unwrap();
    until("B is set up", || log(&place).contains('B'));
    assert_eq!(
        tune(&place, &["restore"]),
        (0, vec!["under-way".to_owned()])
    );
    assert!(!log(&place).contains('R'), "its process still runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tune(&place, &["status"]), (1, vec!["open".to_owned()]));
    assert!(!log(&place).contains('R'), "status changes nothing");
    assert_eq!(tune(&place, &["restore"]), (0, vec!["restored".to_owned()]));
    assert!(log(&place).ends_with('R'));
    assert_eq!(tune(&place, &["status"]), (0, Vec::new()));
}

/// The command of `--restore` is relative, and its directory has a name that a shell would take apart.
#[test]
fn a_relative_command_is_restored_where_it_was_given() {
    let (outside, server) = (place("journal-relative"), Server::ours("--quiet"));
    let inside = outside.join("a b'c\"$(touch oops);\nd");
    fs::create_dir_all(&inside).unwrap();
    fs::write(inside.join("back"), "printf R >> log\n").unwrap();
    let command = ab(&outside, "printf B >> log", &["--aa", "0"], server.port);
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let relative = |word: &std::ffi::OsString| match word.to_str() {
        Some("printf R >> log") => "sh ./back".into(),
        _ => word.clone(),
    };
    let mut child = Command::new(command.get_program())
        .args(words.iter().map(relative))
        .current_dir(&inside)
        .env("XDG_STATE_HOME", &outside)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("B is set up", || log(&inside).contains('B'));
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = undo_of(&outside);
    assert!(
        shown.starts_with("cd '") && shown.ends_with("sh -c 'sh ./back'"),
        "{shown}"
    );
    let by_hand = Command::new("sh")
        .args(["-c", &shown])
        .current_dir("/")
        .status();
    assert!(by_hand.unwrap().success() && log(&inside).ends_with('R'));
    assert_eq!(
        tune(&outside, &["restore"]),
        (0, vec!["restored".to_owned()])
    );
    assert!(log(&inside).ends_with("RR") && !log(&outside).contains('R'));
    for place in [&outside, &inside] {
        assert!(!place.join("oops").exists(), "{}", place.display());
    }
    assert_eq!(tune(&outside, &["status"]), (0, Vec::new()));
}

/// A directory that is gone is named, and the change stays in the journal.
#[test]
fn a_directory_that_is_gone_is_named() {
    let (outside, server) = (place("journal-gone"), Server::ours("--quiet"));
    let inside = outside.join("inside");
    fs::create_dir_all(&inside).unwrap();
    let mut command = ab(&outside, "printf B >> log", &["--aa", "0"], server.port);
    let mut child = command.current_dir(&inside).spawn().unwrap();
    until("B is set up", || log(&inside).contains('B'));
    child.kill().unwrap();
    child.wait().unwrap();
    fs::rename(&inside, outside.join("moved")).unwrap();
    let ended = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .env("XDG_STATE_HOME", &outside)
        .args(["tune", "restore"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let said = [ended.stdout, ended.stderr].concat();
    let said: String = String::from_utf8_lossy(&said).split_whitespace().collect();
    assert!(said.contains(inside.to_str().unwrap()), "{said}");
    fs::rename(outside.join("moved"), &inside).unwrap();
    assert_eq!(
        tune(&outside, &["restore"]),
        (0, vec!["restored".to_owned()])
    );
    assert!(log(&inside).ends_with('R'));
}

/// In a lab the namespaces end with the process; what its commands did to files is restored from the journal, in a new lab: the
/// settings of this host stay as they are.
#[test]
fn what_a_killed_comparison_in_a_lab_did_outside_of_it_is_restored() {
    let place = place("journal-lab");
    let set = |ttl: u32, letter: char| {
        format!("printf {letter} >> log; echo {ttl} > /proc/sys/net/ipv4/ip_default_ttl")
    };
    let before = fs::read_to_string(TTL).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["ab", "--lab", "--a", &set(60, 'A'), "--b", &set(61, 'B')]);
    command.args([
        "--restore",
        &set(62, 'R'),
        "--settle",
        "0",
        "--aa",
        "0",
        "--seed",
        "7",
    ]);
    command.args(["--", "tcp", "-n", "64K"]);
    command.current_dir(&place).env("XDG_STATE_HOME", &place);
    let said = fs::File::create(place.join("said")).unwrap();
    let mut child = command.stdout(Stdio::null()).stderr(said).spawn().unwrap();
    until("B is set up", || log(&place).contains('B'));
    assert_eq!(
        tune(&place, &["restore"]),
        (0, vec!["under-way".to_owned()])
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let said = fs::read_to_string(place.join("said")).unwrap();
    if said.contains("loopback instead of a lab") {
        println!("skipped: no namespaces here");
        return;
    }
    assert_eq!(tune(&place, &["status"]), (1, vec!["open".to_owned()]));
    assert_eq!(tune(&place, &["restore"]), (0, vec!["restored".to_owned()]));
    assert!(log(&place).ends_with('R'));
    assert_eq!(fs::read_to_string(TTL).unwrap(), before);
    assert_eq!(tune(&place, &["status"]), (0, Vec::new()));
}

/// Each network namespace has its own.
const TTL: &str = "/proc/sys/net/ipv4/ip_default_ttl";

/// What `tune status` shows to undo the one change.
fn undo_of(place: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["tune", "status", "--json"]);
    let ended = command.env("XDG_STATE_HOME", place).output().unwrap();
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    document["changes"][0]["undo"][0]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Each would measure what the other changes.
#[test]
fn a_second_comparison_that_changes_settings_is_refused() {
    let (place, server) = (place("journal-second"), Server::ours("--quiet"));
    let mut first = ab(&place, "printf B >> log", &["--aa", "0"], server.port)
        .spawn()
        .unwrap();
    until("B is set up", || log(&place).contains('B'));
    let second = commands(&place, "touch second", "true", &[])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&second.stderr);
    let named = format!(
        "linerate ab (process {}) is changing settings of this host",
        first.id()
    );
    assert!(stderr.contains(&named), "{stderr}");
    assert_eq!(second.status.code(), Some(3));
    assert!(!place.join("second").exists(), "before its first command");
    terminate(&first);
    ended(&mut first, &place);
}

/// It restores the configuration at its end all the same, and says what to do if it cannot.
#[test]
fn a_comparison_goes_on_without_a_journal_and_says_what_that_means() {
    let place = place("journal-none");
    fs::write(place.join("file"), "").unwrap();
    let mut command = commands(&place, "false", "true", &["--restore", "touch restored"]);
    let output = command
        .env("XDG_STATE_HOME", place.join("file"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("is not in the journal: cannot lock"),
        "{stderr}"
    );
    let advice = "ab continues, and restores it at the end; if this process is killed, run `touch restored` yourself";
    assert!(stderr.contains(advice), "{stderr}");
    assert!(place.join("restored").exists());
}

/// A comparison that ends by itself, and one in a lab, leave nothing.
#[test]
fn a_comparison_that_restored_its_configuration_leaves_nothing() {
    let (place, server) = (place("journal-closed"), Server::ours("--quiet"));
    let mut child = ab(&place, "printf B >> log", &["--aa", "0"], server.port)
        .spawn()
        .unwrap();
    until("B is set up", || log(&place).contains('B'));
    terminate(&child);
    ended(&mut child, &place);
    assert!(log(&place).ends_with('R'));
    assert_eq!(tune(&place, &["status"]), (0, Vec::new()));
}

/// What `restore` did not manage stays in the journal, with the reason.
#[test]
fn what_cannot_be_restored_stays_in_the_journal() {
    let place = place("journal-fails");
    let restore = "echo no way back >&2; exit 9";
    let more = ["--restore", restore];
    let ended = commands(&place, "false", "true", &more).output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    for _ in 0..2 {
        assert_eq!(tune(&place, &["restore"]), (1, vec!["failed".to_owned()]));
    }
}

/// The exit code of a `tune` command, and the states of the changes that it shows.
fn tune(place: &Path, words: &[&str]) -> (i32, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("tune").args(words).arg("--json");
    command.current_dir(place).env("XDG_STATE_HOME", place);
    let ended = command.output().unwrap();
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let code = ended.status.code().unwrap();
    assert_eq!(document["exit_code"], code);
    let changes = document["changes"].as_array().unwrap().iter();
    let states = changes.map(|change| change["state"].as_str().unwrap().to_owned());
    (code, states.collect())
}

/// Those in the record so far.
fn stored_runs(run: &Path) -> usize {
    let text = fs::read(run.join("run.json")).unwrap_or_default();
    let stored: Value = serde_json::from_slice(&text).unwrap_or_default();
    stored["experiment"]["runs"].as_array().map_or(0, Vec::len)
}

/// A process that nobody reaped yet is gone, too.
fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.contains(") ") || stat.contains(") Z")
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
