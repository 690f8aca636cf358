// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands on a terminal while a test runs, and the key that stops it.

use super::process::{PROGRAM, linerate, run, serve, shell, start};

/// util-linux's `script` gives a command a terminal of its own; both streams come out of its stdout.
fn on_a_terminal(line: &str) -> Option<std::process::Command> {
    let there = std::process::Command::new("script")
        .arg("--version")
        .output();
    if there.is_err() {
        println!("skipped: no `script` (util-linux) here to make a terminal");
        return None;
    }
    let command = format!("{line}; echo EXIT $?; stty -a");
    let mut script = shell(&format!("exec script -qfec '{command}' /dev/null >&2"));
    script.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    Some(script)
}

#[test]
fn a_terminal_shows_the_running_test_and_q_stops_it() {
    let (_server, port) = serve();
    let line = format!("{PROGRAM} udp 127.0.0.1 -p {port} -b 5M -t 60 -i 100ms --bidir");
    let Some(command) = on_a_terminal(&line) else {
        return;
    };
    let mut client = start(command);
    for word in ["(q stops)", "s left", "lost 0 of", "cpus  here", "far end"] {
        client.wait_for(word, 1);
    }
    client.type_in(b"q");
    let ended = client.end();
    let said = ended.stderr;
    assert!(said.contains("EXIT 130"), "{said}");
    assert!(said.contains("PARTIAL"), "{said}");
    let (_, after) = said.split_once("EXIT").unwrap();
    assert!(
        !after.contains("-icanon") && !after.contains("-echo "),
        "{after}"
    );
}

#[test]
fn without_a_terminal_every_interval_of_a_check_has_a_line() {
    let (_server, port) = serve();
    let ended = run(linerate(&format!(
        "sweep 127.0.0.1 -p {port} --from 5M --to 10M --step 5M -t 300ms -R"
    )));
    let lines = ended.stderr.lines();
    let lines = lines.filter(|line| line.starts_with("udp-5M") || line.starts_with("udp-10M"));
    let reported = lines.filter(|line| line.contains("down") && line.contains("lost"));
    assert!(reported.count() >= 2, "{}", ended.stderr);
    assert!(!ended.stderr.contains(['\x1b', '\r']));
}
