// SPDX-License-Identifier: MIT OR Apache-2.0
//! The journal: what a process that is killed left is restored by another, once, and only where nobody else decides what is run.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::adversity::is_gone;
use super::{ab, commands, ended, log, place, terminate};
use crate::support::{Server, until};

/// Nothing can restore a configuration in a process that is killed: the journal has how, for whoever comes next.
#[test]
fn what_a_killed_comparison_left_is_restored_from_the_journal() {
    let (place, server) = (place("journal"), Server::ours("--quiet"));
    let mut child = set_up(&mut one_ab(&place, &server), &place);
    assert_eq!(tune(&place, &["restore"]), "0 under-way");
    assert!(tune(&place, &["restore", "--forget", "1"]).starts_with('2'));
    assert!(!log(&place).contains('R'), "its process still runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tune(&place, &["status"]), "1 open");
    assert!(!log(&place).contains('R'), "status changes nothing");
    assert_eq!(tune(&place, &["restore"]), "0 restored");
    assert!(log(&place).ends_with('R'));
    assert_eq!(tune(&place, &["status"]), "0");
}

/// The command of `--restore` is relative, and its directory has a name that a shell would take apart.
#[test]
fn a_relative_command_is_restored_where_it_was_given() {
    let (outside, server) = (place("journal-relative"), Server::ours("--quiet"));
    let inside = outside.join("a b'c\"$(touch oops);\nd");
    fs::create_dir_all(&inside).unwrap();
    fs::write(inside.join("back"), "printf R >> log\n").unwrap();
    let command = one_ab(&outside, &server);
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let relative = |word: &std::ffi::OsString| match word.to_str() {
        Some("printf R >> log") => "sh ./back".into(),
        _ => word.clone(),
    };
    let mut relative_ab = Command::new(command.get_program());
    relative_ab
        .args(words.iter().map(relative))
        .env("XDG_STATE_HOME", &outside)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    killed_in(&inside, &mut relative_ab);
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
    assert_eq!(tune(&outside, &["restore"]), "0 restored");
    assert!(log(&inside).ends_with("RR") && !log(&outside).contains('R'));
    for place in [&outside, &inside] {
        assert!(!place.join("oops").exists(), "{}", place.display());
    }
    assert_eq!(tune(&outside, &["status"]), "0");
}

/// A directory that is gone is named, and the change stays in the journal.
#[test]
fn a_directory_that_is_gone_is_named() {
    let (outside, server) = (place("journal-gone"), Server::ours("--quiet"));
    let inside = outside.join("inside");
    fs::create_dir_all(&inside).unwrap();
    killed_in(&inside, &mut one_ab(&outside, &server));
    fs::rename(&inside, outside.join("moved")).unwrap();
    let ended = ours()
        .env("XDG_STATE_HOME", &outside)
        .args(["tune", "restore"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let said = [ended.stdout, ended.stderr].concat();
    let said: String = String::from_utf8_lossy(&said).split_whitespace().collect();
    assert!(said.contains(inside.to_str().unwrap()), "{said}");
    fs::rename(outside.join("moved"), &inside).unwrap();
    assert_eq!(tune(&outside, &["restore"]), "0 restored");
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
    let sets = [set(60, 'A'), set(61, 'B'), set(62, 'R')];
    let mut child = set_up(
        &mut ab_in_lab(ours(), &place, sets.each_ref().map(String::as_str)),
        &place,
    );
    assert_eq!(tune(&place, &["restore"]), "0 under-way");
    child.kill().unwrap();
    child.wait().unwrap();
    if is_on_the_loopback(&place) {
        return;
    }
    assert_eq!(tune(&place, &["status"]), "1 open");
    assert_eq!(tune(&place, &["restore"]), "0 restored");
    assert!(log(&place).ends_with('R'));
    assert_eq!(fs::read_to_string(TTL).unwrap(), before);
    assert_eq!(tune(&place, &["status"]), "0");
}

/// Who may write to the working directory decides what a relative command is.
#[test]
fn nothing_is_run_where_another_user_may_write() {
    let (place, server) = (place("journal-attacked"), Server::ours("--quiet"));
    let inside = place.join("inside");
    fs::create_dir_all(&inside).unwrap();
    killed_in(&inside, &mut one_ab(&place, &server));
    let chmod = |mode| fs::set_permissions(&inside, Permissions::from_mode(mode)).unwrap();
    for mode in [0o777, 0o1777] {
        chmod(mode);
        assert_eq!(tune(&place, &["restore"]), "1 failed");
    }
    let why = reason(&place);
    let expected = format!(
        "no command is run in {0}: {0}: other users may write to it; undo it by hand",
        inside.display()
    );
    assert!(why.starts_with(&expected), "{why}");
    assert!(!log(&inside).contains('R'));
    chmod(0o755);
    assert_eq!(tune(&place, &["restore"]), "0 restored");
    assert!(log(&inside).ends_with('R'));
}

/// Without namespaces the commands set this host: nothing says that a lab ended with what they set.
#[test]
fn a_lab_on_the_loopback_is_recorded_as_this_host() {
    let place = place("journal-loopback");
    let Ok(mut child) = ab_in_lab(without_namespaces("-Urn"), &place, LETTERS).spawn() else {
        println!("skipped: no unshare(1)");
        return;
    };
    killed_early(&mut child, &place);
    let said = said(&place);
    if log(&place).is_empty() {
        println!("skipped: {said}");
        return;
    }
    assert!(said.contains("loopback instead of a lab"), "{said}");
    until("its server has ended", || !works_in(&place));
    let undo = undo_of(&place);
    assert!(undo.ends_with("sh -c 'printf R >> log'"), "{undo}");
    // It was in the namespace that unshare(1) made.
    assert!(tune(&place, &["restore"]).ends_with(" elsewhere"));
}

/// What restores a lab is meant for the settings of a lab: on the loopback it would change those of this host.
#[test]
fn what_restores_a_lab_is_not_run_on_the_loopback() {
    let place = place("journal-lab-forbidden");
    killed_in(&place, &mut ab_in_lab(ours(), &place, LETTERS));
    if is_on_the_loopback(&place) {
        return;
    }
    let mut refused = without_namespaces("-Ur");
    refused.args(["tune", "restore", "--json"]);
    refused.current_dir(&place).env("XDG_STATE_HOME", &place);
    let Some(document) = refused
        .output()
        .ok()
        .filter(|ended| !ended.stdout.is_empty())
    else {
        println!("skipped: no user namespace, or no unshare(1)");
        return;
    };
    let document = super::document(&document);
    let one = &document["changes"][0];
    assert_eq!(
        (&one["state"], &document["exit_code"]),
        (&"failed".into(), &1.into())
    );
    let why = text(&one["reason"]);
    assert!(why.contains("cannot restore in a lab"), "{why}");
    assert!(!log(&place).contains('R'), "{}", log(&place));
    assert_eq!(tune(&place, &["restore"]), "0 restored");
    assert!(log(&place).ends_with('R'));
}

/// The program was replaced while it ran (an upgrade), and its commands have the same text in the new lab.
#[test]
fn a_new_lab_is_of_the_program_that_restores_and_fills_in_nothing() {
    let place = place("journal-replaced");
    let program = place.join("linerate");
    fs::copy(env!("CARGO_BIN_EXE_linerate"), &program).unwrap();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        r#"exec 9<linerate; rm linerate; exec /proc/self/fd/9 "$@""#,
        "sh",
    ]);
    let [a, b, _] = LETTERS;
    let mut command = ab_in_lab(command, &place, [a, b, "printf '{peer}' >> log"]);
    let mut child = command.spawn().unwrap();
    killed_early(&mut child, &place);
    if is_on_the_loopback(&place) {
        return;
    }
    let undo = undo_of(&place);
    assert!(!undo.contains("(deleted)"), "{undo}");
    assert_eq!(tune(&place, &["restore"]), "0 restored");
    assert!(log(&place).ends_with("{peer}"), "{}", log(&place));
}

/// Each would measure what the other changes.
#[test]
fn a_second_comparison_that_changes_settings_is_refused() {
    let (place, server) = (place("journal-second"), Server::ours("--quiet"));
    let mut first = set_up(&mut one_ab(&place, &server), &place);
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
    let mut child = set_up(&mut one_ab(&place, &server), &place);
    terminate(&child);
    ended(&mut child, &place);
    assert!(log(&place).ends_with('R'));
    assert_eq!(tune(&place, &["status"]), "0");
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
        assert_eq!(tune(&place, &["restore"]), "1 failed");
    }
    let why = reason(&place);
    let advice = "no way back; undo it by hand, then `linerate tune restore --forget 1`";
    assert!(why.ends_with(advice), "{why}");
    assert!(tune(&place, &["restore", "--forget", "7"]).starts_with('2'));
    assert_eq!(tune(&place, &["restore", "--forget", "1"]), "0 forgotten");
    assert_eq!(tune(&place, &["status"]), "0");
}

/// `ab` with one block.
fn one_ab(place: &Path, server: &Server) -> Command {
    ab(place, "printf B >> log", &["--aa", "0"], server.port)
}

/// The same in a lab, which `program` runs; what it says is in a file.
fn ab_in_lab(mut program: Command, place: &Path, [a, b, restore]: [&str; 3]) -> Command {
    program.args(["ab", "--lab", "--a", a, "--b", b, "--restore", restore]);
    program.args(["--settle", "0", "--aa", "0", "--seed", "7"]);
    program.args(["--", "tcp", "-n", "64K"]);
    program.current_dir(place).env("XDG_STATE_HOME", place);
    let said = fs::File::create(place.join("said")).unwrap();
    program.stdout(Stdio::null()).stderr(said);
    program
}

fn ours() -> Command {
    Command::new(env!("CARGO_BIN_EXE_linerate"))
}

/// Runs linerate in a user namespace that allows no network namespaces. `flags` of unshare(1): with `n` it has one.
fn without_namespaces(flags: &str) -> Command {
    let script =
        r#"ip link set lo up; echo 0 >/proc/sys/user/max_net_namespaces && exec "$0" "$@""#;
    let mut command = Command::new("unshare");
    command.args([flags, "sh", "-c", script, env!("CARGO_BIN_EXE_linerate")]);
    command
}

fn said(place: &Path) -> String {
    fs::read_to_string(place.join("said")).unwrap()
}

/// Whether it used the loopback: then the test is skipped.
fn is_on_the_loopback(place: &Path) -> bool {
    let is_so = said(place).contains("loopback instead of a lab");
    if is_so {
        println!("skipped: no namespaces here");
    }
    is_so
}

/// Waits until B is set up.
fn set_up(command: &mut Command, place: &Path) -> Child {
    let child = command.spawn().unwrap();
    until("B is set up", || log(place).contains('B'));
    child
}

/// The command runs in this directory, and is killed when B was set up.
fn killed_in(place: &Path, command: &mut Command) {
    let mut child = set_up(command.current_dir(place), place);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// It was killed when something was set up, or ended before.
fn killed_early(child: &mut Child, place: &Path) {
    let process = child.id().to_string();
    until("something is set up", || {
        !log(place).is_empty() || is_gone(&process)
    });
    // It may have ended.
    let _gone = child.kill();
    child.wait().unwrap();
}

/// Whether a process has this working directory.
fn works_in(place: &Path) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let its = |entry: fs::DirEntry| fs::read_link(entry.path().join("cwd")).ok();
    all.filter_map(its).any(|directory| directory == place)
}

/// Why the one change could not be restored.
fn reason(place: &Path) -> String {
    let document = document(&mut tune_command(place, &["restore"]));
    text(&document["changes"][0]["reason"])
}

/// What `tune status` shows to undo the one change.
fn undo_of(place: &Path) -> String {
    let document = document(&mut tune_command(place, &["status"]));
    text(&document["changes"][0]["undo"][0])
}

/// The exit code of a `tune` command, and the states of the changes that it shows.
fn tune(place: &Path, words: &[&str]) -> String {
    states(&mut tune_command(place, words))
}

fn tune_command(place: &Path, words: &[&str]) -> Command {
    let mut command = ours();
    command.arg("tune").args(words).arg("--json");
    command.current_dir(place).env("XDG_STATE_HOME", place);
    command
}

fn states(command: &mut Command) -> String {
    let document = document(command);
    let mut all = vec![document["exit_code"].to_string()];
    let changes = document["changes"].as_array().unwrap().iter();
    all.extend(changes.map(|change| text(&change["state"])));
    all.join(" ")
}

/// What the command prints: its exit code is in it.
fn document(command: &mut Command) -> Value {
    let ended = command.output().unwrap();
    let document = super::document(&ended);
    assert_eq!(document["exit_code"], ended.status.code().unwrap());
    document
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Each network namespace has its own.
const TTL: &str = "/proc/sys/net/ipv4/ip_default_ttl";
/// What sets up A and B, and restores.
const LETTERS: [&str; 3] = ["printf A >> log", "printf B >> log", "printf R >> log"];
