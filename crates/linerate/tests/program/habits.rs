// SPDX-License-Identifier: MIT OR Apache-2.0
//! iperf3's habits: its command lines, the background, logs and times; and what ends without a result.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Server, free_port, have_iperf3, until};

/// A directory of one test, empty.
fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("habits")
        .join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

fn linerate(place: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(line.split_whitespace()).current_dir(place);
    command.env("XDG_STATE_HOME", place).stdin(Stdio::null());
    command
}

fn run(place: &Path, line: &str) -> Output {
    linerate(place, line).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_bare_program_prints_its_help() {
    let place = place("bare");
    let output = run(&place, "");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let shown = text(&output.stdout);
    assert!(
        shown.contains("Usage:") && shown.contains("linerate -s"),
        "{shown}"
    );
    assert_eq!(run(&place, "chek").status.code(), Some(2));
}

/// The whole first session of a user of iperf3, in the background of this test.
#[test]
fn a_server_in_the_background_serves_a_client() {
    let (place, port) = (place("background"), free_port());
    let serve = format!("-s -1 -D -I pid --logfile log -p {port} --idle-timeout 60");
    let output = run(&place, &serve);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let id = fs::read_to_string(place.join("pid")).unwrap();
    assert!(Path::new("/proc").join(id.trim()).exists(), "{id}");
    let again = run(&place, &serve);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        text(&again.stderr).contains(id.trim()),
        "{}",
        text(&again.stderr)
    );

    let line = format!("-c 127.0.0.1:{port} -n64K -P2 --logfile client.log");
    let output = run(&place, &line);
    let log = fs::read_to_string(place.join("client.log")).unwrap();
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    assert!(log.contains("details  linerate report"), "{log}");

    until("the server has ended", || !place.join("pid").exists());
    let log = fs::read_to_string(place.join("log")).unwrap();
    assert!(log.contains("done: TCP, 2 streams"), "{log}");
}

/// An error before the port is open is that of the command.
#[test]
fn a_background_that_cannot_begin_says_so() {
    let taken = TcpListener::bind("[::]:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = run(&place("taken"), &format!("serve --daemon -I pid -p {port}"));
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("port {port}")), "{said}");
    assert!(!place("taken").join("pid").exists());
}

/// The reason reaches stderr, and the run is stored all the same.
#[test]
fn a_log_without_room_is_reported() {
    let server = Server::ours("-q");
    let place = place("full");
    let line = format!("-c 127.0.0.1:{} -n64K --logfile /dev/full", server.port);
    let output = run(&place, &line);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in [
        "warning: cannot write the log /dev/full: No space left on device",
        "cannot write the results to the log /dev/full",
    ] {
        assert_eq!(said.matches(part).count(), 1, "{part}: {said}");
    }
    let report = said
        .lines()
        .find_map(|line| line.split_once("try: linerate "));
    let (_, report) = report.unwrap_or_else(|| panic!("no hint: {said}"));
    let again = run(&place, report);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stdout).contains(" sender"));
}

#[test]
fn the_stock_client_uses_a_server_of_its_habits() {
    if !have_iperf3() {
        return;
    }
    let (place, port) = (place("stock"), free_port());
    let serve = format!("-s1Dp{port} -V -i 1 --forceflush --logfile log --idle-timeout 60");
    assert_eq!(run(&place, &serve).status.code(), Some(0));
    let mut client = Command::new("iperf3");
    let line = format!("-c 127.0.0.1 -p {port} -n 64K");
    let output = client.args(line.split(' ')).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = || fs::read_to_string(place.join("log")).unwrap_or_default();
    until("the test is logged", || log().contains("done: TCP"));
}

#[test]
fn lines_have_the_unit_and_the_time_that_were_requested() {
    let server = Server::ours("-q");
    let port = server.port;
    let line =
        format!("-uc 127.0.0.1 -p {port} -b 5M -t 0.6 -i 0.3 -f K -P 4 -V --timestamps=<%%>");
    let output = run(&place("lines"), &line);
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("] up ")).collect();
    assert!(lines.len() >= 2, "{said}");
    assert!(lines.iter().all(|line| line.contains(" KiB/s")), "{said}");
    let result = text(&output.stdout);
    let ends = |line: &&str| line.starts_with("<%>  [") && !line.contains("[ ID]");
    let ends: Vec<&str> = result.lines().filter(ends).collect();
    assert_eq!(ends.len(), 2 * (4 + 1), "each stream and the sum: {result}");
    assert!(ends.iter().all(|line| line.contains(" KiB/s")), "{result}");
    let all = said + &result;
    assert!(all.lines().all(|line| line.starts_with("<%>")), "{all}");
}

/// The kernel paces the sender, here and at a server that sends.
#[test]
fn a_rate_for_the_kernel_is_not_exceeded() {
    let server = Server::ours("-q");
    for way in ["", "-R"] {
        let line = format!(
            "-c 127.0.0.1 -p {} {way} --fq-rate 20M -t 1 -J",
            server.port
        );
        let output = run(&place("paced"), &line);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rate = document["tests"][0]["delivered_bits_per_second"]
            .as_f64()
            .unwrap();
        // Unpaced, the loopback carries far more than a hundred times this.
        assert!(rate > 0.0 && rate < 200e6, "{way}: {rate}");
    }
}

#[test]
fn an_expectation_that_is_not_met_has_its_number() {
    let server = Server::ours("-q");
    let line = format!("-uc 127.0.0.1 -p {} -k 20 --expect rate>=900G", server.port);
    let output = run(&place("expected"), &line);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let line = shown
        .lines()
        .find(|line| line.contains("NOT MET: rate>=900G: "));
    assert!(
        line.is_some_and(|line| line.ends_with("bit/s, udp up")),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_reached_or_written_is_refused() {
    let place = place("refused");
    for (line, code, why) in [
        ("report run -o run.pdf", 2, "no format has the suffix .pdf"),
        ("tcp fe80::1", 2, "its interface is not named"),
        ("-c 127.0.0.1:70000", 2, "not a port"),
        ("-c 127.0.0.1 --sctp", 2, "--sctp is not supported"),
    ] {
        let output = run(&place, line);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        assert!(
            said.contains(why) && said.contains("try: "),
            "{line}: {said}"
        );
        assert!(output.stdout.is_empty(), "{line}");
    }
}

/// What to collect is printed all the same.
#[test]
fn a_text_without_anything_to_judge_is_3() {
    let place = place("unjudged");
    fs::write(place.join("empty.txt"), " \n").unwrap();
    fs::write(place.join("noise"), [0, 159, 7, 255, 0, 3]).unwrap();
    fs::write(place.join("prose.txt"), "The weather is fine today.\n").unwrap();
    for (name, why) in [
        ("empty.txt", "it has no text"),
        ("noise", "it is neither text nor a run"),
        ("prose.txt", "no line of it"),
    ] {
        let output = run(&place, &format!("explain {name}"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
        let shown = text(&output.stdout);
        assert!(
            shown.contains("no known tool output in this text"),
            "{name}: {shown}"
        );
        let output = run(&place, &format!("explain {name} --json"));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["exit_code"], 3, "{name}");
        assert!(
            document["error"]["why"].as_str().unwrap().contains(why),
            "{name}"
        );
    }
}

/// The comparison has one lab: its commands and its runs are in the first host, its server in the second.
#[test]
fn a_comparison_has_a_lab() {
    let place = place("compared");
    let set_up = "ip -o link show eth0 >> links";
    let mut command = linerate(
        &place,
        "ab --lab --quick --aa 0 --blocks 6 --settle 0 --json -o run",
    );
    command.args([
        "--a", set_up, "--b", set_up, "--", "udp", "-k", "20", "-i", "0",
    ]);
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    if !said.contains("lab: private network namespaces") {
        return eprintln!("skipped: no private network namespaces");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = document["experiment"]["runs"].as_array().unwrap();
    assert!(runs.len() >= 24, "{}", runs.len());
    assert_eq!(document["hosts"].as_array().map(Vec::len), Some(2));
    let links = fs::read_to_string(place.join("links")).unwrap();
    assert!(links.lines().count() >= 24, "{links}");
}
